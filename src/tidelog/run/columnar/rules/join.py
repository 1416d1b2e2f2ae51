"""Joining bindings with a relation: the inner loop of rule evaluation.

A `Probe` is a scan seen from bindings that are already there: its columns are *bound* (by a constant or a variable of
the bindings) or give a new variable. The relation is probed in an order whose first columns are the bound ones; the
bindings are sorted by their key, so that matching gallops through each batch. Few bindings are joined by one kernel
a batch (`join_few`): there the fixed costs decide, so how rows travel (`Key`, `Output`) is worked out only
when a layout has changed.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import partial

import numpy as np

from tidelog.base.expr import Const, Var
from tidelog.base.record import record
from tidelog.run.columnar.arrays.narrow import Directory
from tidelog.run.columnar.arrays.table import Mask, Places, Words
from tidelog.run.columnar.functions import Arrays
from tidelog.run.columnar.rules.bindings import Source, Table, empty, joined, split_sources
from tidelog.run.columnar.storage.batch import Batch
from tidelog.run.columnar.storage.dictionary import Codec
from tidelog.run.columnar.storage.layout import Layout, Range, moves, place
from tidelog.run.columnar.storage.order import Order
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.phases import View

Names = tuple[str, ...]
Ranges = Sequence[Range]


@record
class Key:
    """How bindings of one layout become keys of one order: the prefix compared, and the moves that make it."""

    full: int
    shift: int
    moves: Words
    constant: Words
    checks: tuple[tuple[str, Range], ...]
    """Variables that may have codes for which the relation has no room, and that room."""
    possible: bool
    """Whether the constants of the key can occur."""
    leading: bool
    """Whether the key stands first in the bindings, so that sorting them sorts the keys."""


@record
class Output:
    """How a match becomes a row of a layout: moves from the bindings, a constant part, moves from the relation."""

    layout: Layout
    left: Words
    constant: Words
    right: Words


@record
class Seen:
    """What a scan sees of a relation: batches of one order, each with the greatest mark that is seen.

    `ranked` says that the ranks of its tuples count: the relation is of the stratum at work.
    """

    relation: Relation
    order: Order
    batches: list[tuple[Batch, int]]
    ranked: bool

    @property
    def arrays(self) -> Arrays:
        """The array functions of the relation."""
        return self.relation.arrays


class Probe:
    """A scan by bindings: the sources of its bound columns, and the columns of its new variables.

    `equal` lists pairs of columns that must agree (a new variable that occurs twice).
    """

    __slots__ = ("_key", "_output", "bound", "columns", "equal", "new")

    def __init__(self, terms: Sequence[Var | Const | None], known: Collection[Hashable], codec: Codec) -> None:
        self.bound: dict[int, Source] = {}
        self.new: dict[str, int] = {}
        equal: list[tuple[int, int]] = []
        for column, term in enumerate(terms):
            if isinstance(term, Const):
                self.bound[column] = codec.code(term.value, term.type)
            elif term is None:
                continue
            elif term.name in known:
                self.bound[column] = term.name
            elif term.name in self.new:
                equal.append((self.new[term.name], column))
            else:
                self.new[term.name] = column
        self.equal = tuple(equal)
        self.columns = frozenset(self.bound)
        self._key: tuple[Layout, Layout, Key] | None = None
        self._output: tuple[Layout, Layout, Ranges, object, Output] | None = None

    def see(self, relation: Relation, view: View, *, ranked: bool = False) -> Seen:
        """Return what is seen of a relation, in the order to probe."""
        order = relation.order(self.columns)
        return Seen(relation, order, relation.batches(order, view), ranked)

    def key_variables(self, columns: tuple[int, ...]) -> list[str]:
        """Return the variables of the key in the order of the columns probed."""
        return [source for c in columns[: len(self.bound)] if isinstance(source := self.bound[c], str)]

    def key(self, layout: Layout, order: Order) -> Key:
        """Return how bindings of a layout become keys of an order."""
        last = self._key
        if last is not None and last[0] is layout and last[1] is order.layout:
            return last[2]
        made = self._make_key(layout, order)
        self._key = layout, order.layout, made
        return made

    def _make_key(self, layout: Layout, order: Order) -> Key:
        count = len(self.bound)
        fields = order.layout.key(count)
        full, shift = order.layout.prefix(count)
        constants, pairs = split_sources(layout, fields, self.bound)  # type: ignore[arg-type]
        rooms = {column: fields.fields[column].range for column in self.bound}
        possible = all(rooms[c].low <= s <= rooms[c].high for c, s in self.bound.items() if isinstance(s, int))
        checks = tuple(
            (source, rooms[column])
            for column, source in self.bound.items()
            if isinstance(source, str) and not rooms[column].covers(layout.fields[source].range)
        )
        wanted = self.key_variables(order.columns)
        leading = list(layout.fields)[: len(wanted)] == wanted
        constant = fields.constant(constants if possible else {})
        return Key(full, shift, moves(pairs), constant, checks, possible, leading)

    def range(self, name: str, layout: Layout, relation: Relation) -> Range:
        """Return a range that covers the codes of a variable after the join."""
        if name in self.new:
            return relation.observed[self.new[name]]
        found = layout.fields[name].range
        for column, source in self.bound.items():
            if source == name:
                found = found.meet(relation.observed[column])
        return found

    def to_table(self, layout: Layout, seen: Seen, names: Names) -> Output:
        """Return how matches become bindings of these variables."""
        last = self._known_output(layout, seen, names)
        if last is not None:
            return last
        target = place((name, self.range(name, layout, seen.relation)) for name in names)
        return self._keep_output(layout, seen, names, target, {name: name for name in names})

    def to_head(self, layout: Layout, seen: Seen, head: Layout, sources: Mapping[Hashable, Source]) -> Output:
        """Return how matches become rows of a head: in its layout, or in one of their own if that has no room."""
        last = self._known_output(layout, seen, head)
        if last is not None:
            return last
        ranges = self.head_ranges(layout, seen, sources)
        return self._keep_output(layout, seen, head, head_layout(head, ranges), sources)

    def head_ranges(self, layout: Layout, seen: Seen, sources: Mapping[Hashable, Source]) -> dict[Hashable, Range]:
        """Return ranges that cover the codes of the columns of a head."""
        return {
            c: self.range(s, layout, seen.relation) if isinstance(s, str) else Range(s, s) for c, s in sources.items()
        }

    def _known_output(self, layout: Layout, seen: Seen, aim: object) -> Output | None:
        last = self._output
        if last is None or last[0] is not layout or last[1] is not seen.order.layout or last[3] is not aim:
            return None
        return last[4] if last[2] is seen.relation.observed else None

    def _keep_output(
        self, layout: Layout, seen: Seen, aim: object, target: Layout, sources: Mapping[Hashable, Source]
    ) -> Output:
        made = make_output(self, layout, seen.order, target, sources)
        self._output = layout, seen.order.layout, seen.relation.observed, aim, made
        return made


def head_layout(head: Layout, ranges: Mapping[Hashable, Range]) -> Layout:
    """Return the layout of a head relation, or one of the ranges' own if the head has no room for these codes."""
    if all(head.fields[column].range.covers(codes) for column, codes in ranges.items()):
        return head
    return place((column, ranges[column]) for column in range(len(head.fields)))


def make_output(
    probe: Probe, layout: Layout, order: Order, target: Layout, sources: Mapping[Hashable, Source]
) -> Output:
    """Return how matches become rows of a layout whose fields come from variables and constants."""
    left = {name: origin for name, origin in sources.items() if origin not in probe.new}
    constants, pairs = split_sources(layout, target, left)
    right = moves(
        (order.layout.fields[probe.new[origin]], target.fields[name])
        for name, origin in sources.items()
        if isinstance(origin, str) and origin in probe.new
    )
    return Output(target, moves(pairs), target.constant(constants), right)


@record
class Matches:
    """The rows of each batch that match each row of the bindings."""

    table: Table
    seen: Seen
    batches: list[tuple[Batch, int]]
    low: list[Places]
    high: list[Places]
    total: int

    def counts(self) -> Places:
        """Return the number of matches of each row."""
        counts = np.zeros(self.table.count, np.int64)
        for low, high in zip(self.low, self.high, strict=True):
            counts += high - low
        return counts

    def part(self, start: int, end: int) -> Matches:
        """Return the matches of some of the rows."""
        low = [places[start:end] for places in self.low]
        high = [places[start:end] for places in self.high]
        total = sum(int((end - begin).sum()) for begin, end in zip(low, high, strict=True))
        return Matches(self.table.part(start, end), self.seen, self.batches, low, high, total)

    def chosen(self, keep: Mask) -> Matches:
        """Return the matches of the rows where the mask is true."""
        low = [places[keep] for places in self.low]
        high = [places[keep] for places in self.high]
        total = sum(int((end - begin).sum()) for begin, end in zip(low, high, strict=True))
        return Matches(self.table.filtered(keep), self.seen, self.batches, low, high, total)

    def together(self, output: Output) -> Matches:
        """Return the same matches, with bindings that make equal parts of a row side by side."""
        functions = self.seen.arrays(self.table.count)
        order = functions.order(functions.move(self.table.rows, output.left, output.constant))
        low, high = [places[order] for places in self.low], [places[order] for places in self.high]
        return Matches(self.table.taken(order), self.seen, self.batches, low, high, self.total)

    def emit(
        self, output: Output, *, few_times: bool = False, bits: Words | None = None, counted: bool = False
    ) -> Table:
        """Return one row for each match, or fewer of those that repeat, or only those whose bit was not set.

        It is set then, so that each is returned once, unless it is to be `counted` how often.
        """
        table = self.seen.arrays(max(self.total, self.table.count))
        rows = table.move(self.table.rows, output.left, output.constant)
        if self.table.rank is None and all(batch.mark is None for batch, _ in self.batches):
            emit = table.emit_few_times if few_times else table.emit
            if bits is not None:
                emit = partial(table.emit_unknown if counted else table.emit_fresh, bits=bits)
            outs = [
                emit(low, high, rows, batch.rows, output.right)
                for low, high, (batch, _) in zip(self.low, self.high, self.batches, strict=True)
            ]
            return Table(output.layout, np.concatenate(outs, axis=1) if len(outs) > 1 else outs[0])
        ranks = np.zeros(self.table.count, np.int32) if self.table.rank is None else self.table.rank
        ranked = self.seen.ranked
        pairs_made = [
            table.emit_ranked(
                low, high, rows, ranks, batch.rows, batch.ranks() if ranked else None, batch.mark, limit, output.right
            )
            for low, high, (batch, limit) in zip(self.low, self.high, self.batches, strict=True)
        ]
        made = np.concatenate([rows for rows, _ in pairs_made], axis=1)
        rank = None if self.table.rank is None else np.concatenate([r for _, r in pairs_made])
        return Table(output.layout, made, rank)

    def table_of(self, probe: Probe, names: Names) -> Table:
        """Return one row for each match with these variables, where columns that must be equal are."""
        if not probe.equal:
            return self.emit(probe.to_table(self.table.layout, self.seen, names))
        columns = dict.fromkeys(column for pair in probe.equal for column in pair)
        layout = place(
            [
                *((name, probe.range(name, self.table.layout, self.seen.relation)) for name in names),
                *((column, self.seen.relation.observed[column]) for column in columns),
            ]
        )
        plain = make_output(probe, self.table.layout, self.seen.order, layout, {name: name for name in names})
        fields = self.seen.order.layout.fields
        extra = moves((fields[column], layout.fields[column]) for column in columns)
        table = self.emit(Output(layout, plain.left, plain.constant, np.concatenate((plain.right, extra))))
        for first, second in probe.equal:
            table = table.filtered(table.codes(first) == table.codes(second))
        return table.keeping(names, self.seen.arrays)


def match(table: Table, probe: Probe, seen: Seen) -> Matches | None:
    """Find the matches of bindings in a relation; None if there is none."""
    if not seen.batches or table.count == 0:
        return None
    key = probe.key(table.layout, seen.order)
    if not key.possible:
        return None
    if key.checks:
        table = _in_range(table, key)
        if table.count == 0:
            return None
    directories = _directories(seen, key, table.count)
    if directories is None:
        table, keys = _sorted_keys(table, key, seen.arrays)
    else:
        keys = seen.arrays(table.count).move(table.rows, key.moves, key.constant)
    functions = seen.arrays(max(table.count, *(batch.size for batch, _ in seen.batches)))
    found: list[tuple[tuple[Batch, int], Places, Places]] = []
    total = 0
    for number, one in enumerate(seen.batches):
        if directories is None:
            low, high, matches = functions.ranges(
                keys, one[0].rows, key.full, key.shift, one[0].fence(table.count, seen.arrays)
            )
        else:
            low, high, matches = functions.find(keys, directories[number])
        if matches:
            found.append((one, low, high))
            total += matches
    if not total:
        return None
    return Matches(table, seen, [f[0] for f in found], [f[1] for f in found], [f[2] for f in found], total)


def _directories(seen: Seen, key: Key, probes: int) -> list[Directory] | None:
    """Return the directories by which keys are found in all batches; None: so few are to be searched for."""
    if probes < seen.arrays.tuning.joins.few or key.full + (key.shift < 64) != 1:
        return None
    shift = key.shift if key.shift < 64 else 0
    made = (batch.directory(shift, probes, seen.arrays) for batch, _ in seen.batches)
    found = [directory for directory in made if directory is not None]
    return found if len(found) == len(seen.batches) else None


def join_few(table: Table, probe: Probe, seen: Seen, output: Output, most: int) -> Table | None:
    """Join few bindings with a relation; None if they have more than `most` matches in a batch."""
    key = probe.key(table.layout, seen.order)
    if key.checks:
        table = _in_range(table, key)
    if not key.possible or table.count == 0:
        return Table(output.layout, output.constant[:, :0], None if table.rank is None else table.rank[:0])
    parts: list[tuple[Words, np.ndarray]] = []
    for batch, limit in seen.batches:
        ranks = batch.ranks() if seen.ranked and table.rank is not None else None
        part = seen.arrays(batch.size).join_few(
            table.rows,
            table.rank,
            (key.moves, key.constant, key.full, key.shift),
            batch.rows,
            batch.fence(1, seen.arrays),
            ranks,
            batch.mark,
            limit,
            (output.left, output.constant, output.right),
            most,
        )
        if part is None:
            return None
        if part[0].shape[1]:
            parts.append(part)
    if len(parts) == 1:
        return Table(output.layout, parts[0][0], None if table.rank is None else parts[0][1])
    if not parts:
        return Table(output.layout, output.constant[:, :0], None if table.rank is None else table.rank[:0])
    rows = np.concatenate([rows for rows, _ in parts], axis=1)
    return Table(output.layout, rows, None if table.rank is None else np.concatenate([rank for _, rank in parts]))


def present(table: Table, probe: Probe, seen: Seen) -> tuple[Table, Mask]:
    """Return the bindings in some order, and for each whether it has a match."""
    key = probe.key(table.layout, seen.order)
    if not seen.batches or table.count == 0 or not key.possible:
        return table, np.zeros(table.count, bool)
    if key.checks:
        fitting = _range_mask(table, key)
        if not fitting.all():
            inside, found = present(table.filtered(fitting), probe, seen)
            outside = table.filtered(~fitting)
            return joined(inside, outside), np.concatenate((found, np.zeros(outside.count, bool)))
    table, keys = _sorted_keys(table, key, seen.arrays)
    functions = seen.arrays(max(table.count, *(batch.size for batch, _ in seen.batches)))
    found = np.zeros(table.count, bool)
    for batch, limit in seen.batches:
        low, high, total = functions.ranges(
            keys, batch.rows, key.full, key.shift, batch.fence(table.count, seen.arrays)
        )
        if total:
            found |= (high > low) if batch.mark is None else functions.visible(low, high, batch.mark, limit) > 0
    return table, found


def match_in_place(table: Table, probe: Probe, seen: Seen) -> Matches:
    """Find the matches of bindings without changing their order."""
    key = probe.key(table.layout, seen.order)
    functions = seen.arrays(table.count)
    keys = functions.move(table.rows, key.moves, key.constant)
    directories = _directories(seen, key, table.count)
    places = functions.order(keys) if directories is None else None
    ordered = keys if places is None else np.ascontiguousarray(keys[:, places])
    outside = None if key.possible and not key.checks else ~(_range_mask(table, key) & key.possible)
    low: list[Places] = []
    high: list[Places] = []
    total = 0
    for number, (batch, _) in enumerate(seen.batches):
        if directories is not None:
            found = functions.find(keys, directories[number])[:2]
        else:
            ranges = functions.ranges(ordered, batch.rows, key.full, key.shift, batch.fence(table.count, seen.arrays))
            found = np.empty(table.count, np.int64), np.empty(table.count, np.int64)
            for target, source in zip(found, ranges[:2], strict=True):
                target[places] = source
        if outside is not None:
            found[1][outside] = found[0][outside]
        low.append(found[0])
        high.append(found[1])
        total += int((found[1] - found[0]).sum())
    return Matches(table, seen, seen.batches, low, high, total)


def _range_mask(table: Table, key: Key) -> Mask:
    """Tell which rows have key codes that the relation's columns can hold."""
    keep = np.ones(table.count, bool)
    for source, room in key.checks:
        codes = table.codes(source)
        keep &= (codes >= np.uint64(room.low)) & (codes <= np.uint64(room.high))
    return keep


def _in_range(table: Table, key: Key) -> Table:
    keep = _range_mask(table, key)
    return table if keep.all() else table.filtered(keep) if keep.any() else empty(table)


def _sorted_keys(table: Table, key: Key, arrays: Arrays) -> tuple[Table, Words]:
    """Return the bindings sorted by key, and their keys."""
    functions = arrays(table.count)
    keys = functions.move(table.rows, key.moves, key.constant)
    if table.count < arrays.tuning.joins.few or _ascending(keys):
        return table, keys
    if table.rank is None and key.leading:
        table = Table(table.layout, functions.sort(table.rows))
        return table, functions.move(table.rows, key.moves, key.constant)
    order = functions.order(keys)
    return table.taken(order), np.ascontiguousarray(keys[:, order])


def _ascending(keys: Words) -> bool:
    if keys.shape[0] == 0:
        return True
    if keys.shape[0] == 1:
        return bool((keys[0, 1:] >= keys[0, :-1]).all())
    return False
