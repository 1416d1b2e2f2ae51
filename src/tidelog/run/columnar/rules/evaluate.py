"""Evaluating one rule: bindings flow through the steps of its tree, from the innermost scan to the head.

A tree is left-deep, so it is a list of steps. Between steps only variables that a later step needs are kept, the key
of the next join first, so that sorting packed rows sorts by that key. When a join would make many rows its bindings
are cut into parts and each part goes through the remaining steps alone, which bounds memory, keeps parts in
cache, and lets the threads of the engine's pool share the work: kernels run without the interpreter lock.

Where only the set of head tuples matters, repetitions of a row are left out as matches are emitted: bindings that make
equal parts of a row are brought side by side, so that a small memory of recent rows finds most of them.

A step that could continue with either of two scans that share a variable not yet bound (the body is cyclic) decides
row by row which of them has fewer matches, and lets the two groups of rows take the two orders: a worst-case-optimal
step in the sense of Ngo et al., made of the same joins.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import assert_never

import numpy as np

from tidelog.base.process.meter import ask
from tidelog.base.record import record
from tidelog.plan.nodes import Aggregate, AntiJoin, Extend, Rule, Scan, Select, Unnest
from tidelog.run.columnar.arrays.table import Places, Words
from tidelog.run.columnar.rules.aggregate import groups
from tidelog.run.columnar.rules.bag import Bag, new_tuples
from tidelog.run.columnar.rules.bindings import Table, unit
from tidelog.run.columnar.rules.head_bitmap import HeadBitmap, small_map
from tidelog.run.columnar.rules.join import (
    Matches,
    Output,
    Seen,
    head_layout,
    join_few,
    match,
    match_in_place,
    present,
)
from tidelog.run.columnar.rules.join_plan import JoinPlan, Link
from tidelog.run.columnar.rules.meeting import Meeting, can_meet, changes, meeting
from tidelog.run.columnar.rules.semijoin import reduced
from tidelog.run.columnar.storage.batch import Batch
from tidelog.run.columnar.storage.layout import range_of
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.columnar.store import Store
from tidelog.run.contract.phase import Phase
from tidelog.run.phases import CURRENT
from tidelog.run.threads import helpers, share


@record
class Way:
    """How matches are emitted: as which rows, and how repetitions are left out."""

    output: Output
    few_times: bool = False
    """Whether those among recent rows are."""
    bits: Words | None = None
    """A map of all rows emitted before, if there is one."""
    bitmap: HeadBitmap | None = None
    """Whose map that is, if it is that of the head relation."""

    @property
    def sifts(self) -> bool:
        """Whether some matches are left out at once."""
        return self.few_times or self.bits is not None


class Pipeline:
    """The evaluation of one join plan over a store. Made anew for each evaluation; cheap."""

    def __init__(
        self, rule: Rule, join_plan: JoinPlan, store: Store, take: Callable[[Bag], None] | None = None
    ) -> None:
        self.rule = rule
        self.store = store
        self._joins = store.tuning.joins
        self.join_plan = join_plan
        self.head = store.relation(join_plan.tree.relation)
        self.bags: list[Bag] = []
        self._take = take or self.bags.append
        self.derivations = 0
        self._distinct = not store.counts(self.head)
        """Whether it does not matter how often a tuple is derived."""
        self._fresh = store.phase is Phase.BOOT and (self._distinct or self.head.lines < 2) and take is None
        """Whether only tuples matter that the head relation does not have."""
        self._unites = self._distinct and take is None
        self._counting = Lock()
        gains = store.phase in (Phase.BOOT, Phase.GAIN, Phase.INSERT) and take is None
        self._most = store.watch.tuples_left() if gains else None
        """How many tuples may be made, if there is a limit."""
        self._counted_from = max(self._most or 0, int(self._joins.condense_from))
        """How many derivations are kept before it is counted how many tuples they make."""
        self._unseen = 0

    def run(self) -> list[Bag]:
        """Return the bags of derived head tuples."""
        join_plan = self.join_plan
        if join_plan.sieve.may_pass(self.store, self.rule):
            self.store.spend_on_rule()
            self._go(join_plan.first, unit(ranked=self.store.ranked))
        return self.bags

    def finish(self, table: Table) -> list[Bag]:
        """Return the bags of head tuples made of bindings that have passed all steps."""
        self._finish(table)
        return self.bags

    # --- the steps ---------------------------------------------------------------------------------------------------

    def _go(self, link: Link | None, table: Table) -> None:
        """Take the bindings through the steps and keep what they derive."""
        while link is not None:
            if table.count == 0:
                return
            step = link.step
            match step:
                case Scan() | Aggregate():
                    self._join(link, step, table)
                    return
                case AntiJoin(_, right):
                    self.store.spend_on_checks(table.count)
                    table, found = present(table, link.probe, self._seen(link, right, negated=True))
                    table = table.filtered(~found)
                case Select(_, condition):
                    table = table.filtered(self.store.scalars.mask(condition, table))
                case Extend(_, variable, expression):
                    codes = self.store.scalars.codes(expression, table)
                    table = table.extended(variable.name, codes, link.needed, self.store.arrays)
                case Unnest():
                    self._unnest(link, step, table)
                    return
                case _:
                    assert_never(step)
            link = link.then
        self._finish(table)

    def _unnest(self, link: Link, step: Unnest, table: Table) -> None:
        """Go on with the elements of collections, in parts that are not too large."""
        elements = self.store.scalars.elements(step.expression, step.variable.type, table)
        for start, end in _cut(elements.counts, self._joins.matches):
            self.store.watch.look()
            places, codes = elements.part(start, end, self.store.arrays)
            made = table.taken(places).extended(step.variable.name, codes, link.needed, self.store.arrays)
            self._go(link.then, made)

    def _join(self, link: Link, step: Scan | Aggregate, table: Table) -> None:
        if not isinstance(step, Scan):
            seen = link.probe.see(self._aggregated(step, table), CURRENT)
        elif link.probe.columns or table.count > 1:
            seen = self._seen(link, step)
        else:
            seen = self._seen_first(link, step)
        if self.store.phase is Phase.BOOT and isinstance(step, Scan) and step.relation in self.store.members:
            seen = self._reduced(link, seen, table)
        if table.count < self._joins.few and self._join_few(link, table, seen):
            return
        size = min(table.count, self._joins.bindings)
        parts = [(start, min(start + size, table.count)) for start in range(0, table.count, size)]
        share(helpers.get(), lambda start, end: self._match(link, seen, table.part(start, end)), parts)

    def _match(self, link: Link, seen: Seen, table: Table) -> None:
        """Find the matches of bindings and go on with them."""
        matches = match(table, link.probe, seen)
        if matches is not None and table.count >= self._joins.choose_from and link.other is not None:
            closed = self._close(link, matches)
            if closed is not None:
                self._advance(*closed)
                return
            matches = self._choose(link.other, matches)
        self._advance(matches, link)

    def _close(self, link: Link, matches: Matches) -> tuple[Meeting, Link] | None:
        """Let matches meet those of a later scan that binds the same variable, if there is one."""
        if link.closing is None or not can_meet(matches):
            return None
        here, there = link.closing
        assert isinstance(there.step, Scan)
        others = match_in_place(matches.table, there.probe, self._seen(there, there.step))
        if not can_meet(others):
            return None
        first, second, link = (
            (matches, others, here) if changes(others) <= changes(matches) else (others, matches, there)
        )
        narrow = self._output(link, first.table, first.seen).layout.words == 1
        return (meeting(first, second), link) if narrow else None

    def _choose(self, other: Link, matches: Matches) -> Matches:
        """Let bindings that have fewer matches in another scan go on there; return the matches of the others."""
        counts = matches.counts()
        many = self._joins.choose_matches < counts
        if int(counts[many].sum()) < self._joins.choose_share * matches.total:
            return matches
        assert isinstance(other.step, Scan)
        some = matches.table.filtered(many)
        there = match_in_place(some, other.probe, self._seen(other, other.step))
        fewer = there.counts()
        better = fewer < counts[many]
        self._advance(there.chosen(better & (fewer > 0)), other)
        many[many] = better
        return matches.chosen(~many)

    def _join_few(self, link: Link, table: Table, seen: Seen) -> bool:
        """Join few bindings and go on; False, and nothing is done, if they have too many matches."""
        if link.probe.equal:
            return False
        most = self._joins.matches if table.rank is not None else self._joins.few_matches
        made = join_few(table, link.probe, seen, self._output(link, table, seen), most)
        if made is None:
            return False
        self.store.spend_on_matches(made.count)
        if link.then is None and self.join_plan.sources is not None:
            self._keep(Bag(made.layout, made.rows, made.rank))
        else:
            self._go(link.then, made)
        return True

    def _output(self, link: Link, table: Table, seen: Seen) -> Output:
        """Return how the matches of a step become bindings for the next, or tuples of the head."""
        if link.then is None and self.join_plan.sources is not None:
            return link.probe.to_head(table.layout, seen, self.head.layout, self.join_plan.sources)
        return link.probe.to_table(table.layout, seen, link.wanted(self._next_columns(link)))

    def _next_columns(self, link: Link) -> tuple[int, ...] | None:
        following = link.next_probe
        if following is None:
            return None
        assert isinstance(following.step, Scan)
        return self.store.scanned(following.step).order(following.probe.columns).columns

    def _advance(self, matches: Matches | None, link: Link) -> None:
        """Emit matches, in parts that are not too large, and go on with the rest."""
        if matches is None or not matches.total:
            return
        way = self._way(link, matches)
        if not way.sifts:
            self.store.spend_on_matches(matches.total)  # before it is done, should it be too much
        if way.few_times:
            matches = matches.together(way.output)
        size = self._joins.matches
        if matches.total <= size or matches.table.count == 1:
            parts = [(0, matches.table.count)]
        else:
            parts = _cut(matches.counts(), size)
        if isinstance(matches, Meeting) and len(parts) == 1:
            parts = _cut(matches.examined(), self._joins.examined)
        if len(parts) == 1:
            self._emit(matches, link, way)
            return
        share(helpers.get(), lambda start, end: self._emit(matches.part(start, end), link, way), parts)

    def _way(self, link: Link, matches: Matches) -> Way:
        """Choose how matches are emitted."""
        narrow = matches.seen.order.layout.words == 1 and all(batch.mark is None for batch, _ in matches.batches)
        narrow &= not link.probe.equal
        found = self._by_bitmap(link, matches) if narrow and self._fresh else None
        if found is not None:
            return found
        output = self._output(link, matches.table, matches.seen)
        narrow &= self._distinct
        if not narrow or matches.total <= self._joins.repeats_from * matches.table.count or not link.repeats():
            return Way(output)
        bits = None if link.then is None else small_map(output.layout, matches.total, self.store.tuning.maps)
        return Way(output, few_times=bits is None and type(matches) is Matches, bits=bits)

    def _by_bitmap(self, link: Link, matches: Matches) -> Way | None:
        """Emit only tuples of the head that its map does not know, if it has one or should."""
        sources = self.join_plan.sources
        if link.then is not None or sources is None:
            return None
        table, seen = matches.table, matches.seen
        ranges = link.probe.head_ranges(table.layout, seen, sources)
        columns = range(self.head.arity)

        def stretch() -> list[int]:
            middle = matches.table.count // 2
            some = matches.part(middle, min(middle + int(self.store.tuning.maps.stretch), table.count))
            made = some.emit(link.probe.to_head(table.layout, seen, self.head.layout, sources))
            return [len(np.unique(made.codes(column))) for column in columns]

        known = self.store.bitmaps.made(self.head, [ranges[c] for c in columns], matches.total, stretch)
        if known is None:
            return None
        return Way(link.probe.to_head(table.layout, seen, known.layout, sources), bits=known.bits, bitmap=known)

    def _emit(self, matches: Matches, link: Link, way: Way) -> None:
        if not matches.total:
            return
        self.store.watch.look()
        if link.probe.equal:
            self._go(link.then, matches.table_of(link.probe, link.wanted(self._next_columns(link))))
            return
        made = matches.emit(way.output, few_times=way.few_times, bits=way.bits, counted=not self._distinct)
        if way.sifts:
            self.store.spend_on_matches(made.count, matches.total - made.count)
        if way.bitmap is not None:
            way.bitmap.note(made.count if self._distinct else 0)
        elif way.few_times or way.bits is not None:
            link.note_share(made.count / matches.total)
        if link.then is None and self.join_plan.sources is not None:
            # Otherwise only what came out counts: some of the matches may be marked as removed, or meet no other.
            every = (way.few_times or way.bits is not None) and type(matches) is Matches
            self._keep(Bag(made.layout, made.rows, made.rank, bitmap=way.bitmap), matches.total if every else None)
        else:
            self._go(link.then, made)

    # --- the head ----------------------------------------------------------------------------------------------------

    def _finish(self, table: Table) -> None:
        """Make head tuples of bindings."""
        if table.count == 0:
            return
        sources = self.join_plan.sources
        if sources is not None:
            layout, steps, constant = self.join_plan.to_head(table.layout, self.head.layout, sources)
            self._keep(Bag(layout, self.store.arrays(table.count).move(table.rows, steps, constant), table.rank))
            return
        if self._most is not None and table.count > self._counted_from + 1:  # values take long: count in between
            for start in range(0, table.count, self._counted_from + 1):
                self._finish(table.part(start, min(start + self._counted_from + 1, table.count)))
            return
        columns: dict[Hashable, Words] = {
            column: self.store.scalars.codes(expression, table)
            for column, expression in enumerate(self.join_plan.expressions)
        }
        layout = head_layout(self.head.layout, {column: range_of(codes) for column, codes in columns.items()})
        self._keep(Bag(layout, layout.pack(columns, table.count), table.rank))

    def _keep(self, bag: Bag, derivations: int | None = None) -> None:
        """Keep a bag; a large one is first rid of repetitions, and in a bootstrap of tuples the head relation has."""
        count = bag.rows.shape[1]
        with self._counting:
            self.derivations += count if derivations is None else derivations
        self.store.watch.look()
        ask(2 * bag.rows.nbytes)
        if count >= self._joins.condense_from and bag.rank is None and (bag.bitmap is None or not self._distinct):
            bag = self._condensed(bag)
            if self._unites:
                bag = self._united(bag)
        self._take(bag)
        if self._most is not None:
            self._foresee(bag)

    def _foresee(self, bag: Bag) -> None:
        """Refuse to go on when what is kept makes too many tuples; that is counted now and then, as it grows."""
        with self._counting:
            self._unseen += bag.rows.shape[1]
            if self._unseen <= self._counted_from:
                return
            self._unseen = 0
            self.store.watch.expect_tuples(new_tuples(self.head, self.bags))

    def _united(self, bag: Bag) -> Bag:
        """Unite a bag of distinct rows in order with kept ones that are not much larger, so that few remain."""
        while True:
            with self._counting:
                most = self._joins.unite_ratio * bag.rows.shape[1]
                places = (
                    place
                    for place, other in enumerate(self.bags)
                    if other.ordered and other.rows.shape[1] <= most and other.layout == bag.layout
                )
                place = next(places, None)
                if place is None:
                    return bag
                other = self.bags.pop(place)
            ask(other.rows.nbytes + bag.rows.nbytes)
            bag = Bag(bag.layout, self.store.arrays.united(other.rows, bag.rows), ordered=True)

    def _condensed(self, bag: Bag) -> Bag:
        table = self.store.arrays(bag.rows.shape[1])
        rows = table.sort(bag.rows)
        if self._distinct:
            rows = table.unique(rows)
        if self._fresh and bag.bitmap is None and bag.layout == self.head.layout:
            for batch, _ in self.head.batches(self.head.main, CURRENT):
                rows = table.without(rows, batch.rows)
        if not self._distinct:
            firsts = table.firsts(rows)
            if not self._fresh or self._joins.counted_from * len(firsts) < rows.shape[1]:
                times = np.diff(np.append(firsts, rows.shape[1]))
                heads = np.ascontiguousarray(rows[:, firsts])
                return Bag(bag.layout, heads, times=times, bitmap=bag.bitmap, ordered=True)
        return Bag(bag.layout, rows.copy(), bitmap=bag.bitmap, ordered=True)

    # --- what a step sees --------------------------------------------------------------------------------------------

    def _seen(self, link: Link, step: Scan, *, negated: bool = False) -> Seen:
        """Return what a step sees of its relation now."""
        relation, view = self.store.scanned(step), self.store.view(step, self.rule, negated=negated)
        return link.probe.see(relation, view, ranked=self.store.ranked and step.relation in self.store.members)

    def _seen_first(self, link: Link, step: Scan) -> Seen:
        """Return what the first step sees: in an order by which the next step need not sort, if there is one."""
        seen = self._seen(link, step)
        size = sum(batch.size for batch, _ in seen.batches)
        columns = self._next_columns(link) if size >= self._joins.order_from else None
        if columns is None or link.next_probe is None:
            return seen
        names = link.next_probe.probe.key_variables(columns)
        order = seen.relation.led_by(tuple(link.probe.new.get(name, -1) for name in names))
        if order is None:
            return seen
        batches = seen.relation.batches(order, self.store.view(step, self.rule, negated=False))
        return Seen(seen.relation, order, batches, seen.ranked)

    def _reduced(self, link: Link, seen: Seen, table: Table) -> Seen:
        """Leave out tuples without a partner in later scans of relations that do not change."""
        size = sum(batch.size for batch, _ in seen.batches)
        large = size >= self.store.tuning.filters.least
        partners = tuple(one for one in link.partners if one[1] not in self.store.members) if large else ()
        if not partners:
            return seen
        filters = [self.store.filters.of(self.store.relation(name), column, size) for _, name, column in partners]
        return reduced(seen, partners, filters, table.count if link.probe.columns else size)

    def _aggregated(self, step: Aggregate, table: Table) -> Relation:
        """Return the result of an aggregate, of the groups that bindings ask for, as a relation of its own."""
        names = (*step.keys, step.result)
        arrays = self.store.arrays
        relation = Relation("", [name.type for name in names], arrays)
        keys = table.distinct([key.name for key in step.keys if key.name in table.layout.fields], arrays)
        view = self.store.view(step.input, self.rule, negated=False)
        found = groups(
            step, keys, self.store.relation(step.input.relation), view, self.store.scalars, self.store.spend_on_groups
        )
        if found is not None:
            columns = [found.codes(name.name) for name in names]
            relation.admit([range_of(codes) for codes in columns])
            rows = relation.layout.pack(dict(enumerate(columns)), found.count)
            relation.set_delta(Batch(arrays(found.count).sort(rows)))
        return relation


def _cut(counts: Places, most: int) -> list[tuple[int, int]]:
    """Return where to cut rows into parts, so that what is counted of each row comes to about `most` in a part."""
    sums = np.cumsum(counts)
    if not len(sums) or int(sums[-1]) <= most:
        return [(0, len(counts))]
    ends = np.searchsorted(sums, np.arange(most, int(sums[-1]) + most, most), "left") + 1
    ends = np.unique(np.minimum(ends, len(counts)))
    return list(zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True))
