"""Telling at once that a small delta leads nowhere: no tuple of it meets what later scans of its rule read.

    On7(p, v) :- Feature(p, 7, v), Port(p, w), not Disabled(w, 7).       one of 500 rules that read `Port`

A change of one port is asked of every rule that reads ports, and most of them have nothing to say: to find that out by
joins costs what their kernels cost around them. So the values that the columns of a scan have together are kept as a
set beside each batch of few rows, once it was asked for often enough to be worth it, and a delta of few tuples is held
against them. A tuple may pass that no row there is meets (one that is removed, say): then joins find nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from tidelog.base.expr import Const, Var
from tidelog.base.record import record
from tidelog.plan.nodes import Rule, Scan, Version
from tidelog.run.columnar.storage.batch import Batch
from tidelog.run.columnar.storage.dictionary import Codec
from tidelog.run.columnar.storage.layout import Field, Layout
from tidelog.run.columnar.storage.relation import Relation

if TYPE_CHECKING:
    from tidelog.run.columnar.store import Store

Row = tuple[int, ...]
Part = tuple[int, int, int, "int | Field"]
"""Shift, room and base of a field in a word of the partner, and what it is to hold: a code, or a field of the delta."""
Sought = list[tuple[int, int, list[Part]]]
"""A word of the partner, the mask of the fields that are looked at, and these."""


@record
class Partner:
    """A later scan, and where the values come from that it wants: a constant, or a column of the delta."""

    scan: Scan
    wanted: tuple[tuple[int, int, bool], ...]
    """Its column; a code, or the column of the delta if the last is true."""


class Sieve:
    """The scans of a join plan and, where it begins with a delta, what they want of its tuples."""

    def __init__(self, scans: Sequence[Scan], codec: Codec, *, from_delta: bool) -> None:
        self._scans, self._from_delta = scans, from_delta
        if not from_delta:
            return
        self.first, *later = scans
        self._constants: dict[Hashable, int] = {
            column: codec.code(term.value, term.type)
            for column, term in enumerate(self.first.terms)
            if isinstance(term, Const)
        }
        given = {term.name: column for column, term in enumerate(self.first.terms) if isinstance(term, Var)}
        made = [Partner(scan, _wanted(scan, given, codec)) for scan in later if scan.version is not Version.PART]
        self._partners = [partner for partner in made if partner.wanted]
        self._known: dict[int, tuple[Layout, Layout, Sought]] = {}
        """By the place of a partner: what it wants, for a layout of the delta and one of its own."""
        self._pattern: tuple[Layout, list[tuple[int, int]]] | None = None

    def may_pass(self, store: Store, rule: Rule) -> bool:
        """Tell whether there may be anything to find: no scan is empty, and a small delta may meet the others."""
        for scan in self._scans:
            if store.relation(scan.relation).is_empty(store.view(scan, rule, negated=False)):
                return False
        if not self._from_delta:
            return True
        relation = store.relation(self.first.relation)
        batches = relation.batches(relation.main, store.view(self.first, rule, negated=False))
        if sum([batch.size for batch, _ in batches]) > store.tuning.joins.tiny:
            return True
        rows = [row for batch, _ in batches for row in batch.listed()]
        if self._constants:
            rows = self._fitting(rows, relation.layout)
        for place, partner in enumerate(self._partners):
            if not rows:
                return False
            rows = self._meeting(rows, relation.layout, place, partner, store, rule)
        return bool(rows)

    def _fitting(self, rows: list[Row], layout: Layout) -> list[Row]:
        """Return the rows that have the constants of the first scan."""
        last = self._pattern
        if last is None or last[0] is not layout:
            last = self._pattern = layout, layout.pattern(self._constants)
        pattern = last[1]
        return [row for row in rows if all(w & mask == wanted for w, (mask, wanted) in zip(row, pattern, strict=True))]

    def _meeting(
        self, rows: list[Row], layout: Layout, place: int, partner: Partner, store: Store, rule: Rule
    ) -> list[Row]:
        """Return the rows that may meet a row of a partner."""
        relation = store.relation(partner.scan.relation)
        batches = relation.batches(relation.main, store.view(partner.scan, rule, negated=False))
        if not batches:
            return []
        if any(batch.size > store.tuning.joins.sieved for batch, _ in batches):
            return rows
        sought = self._sought(layout, relation, place, partner)
        sets: list[Sequence[frozenset[int]]] = []
        for batch, _ in batches:
            values = _sets(batch, sought, store.tuning.joins.asked)
            if values is None:
                return rows
            sets.append(values)
        return [row for row in rows if _meets(row, sought, sets)]

    def _sought(self, layout: Layout, relation: Relation, place: int, partner: Partner) -> Sought:
        last = self._known.get(place)
        if last is None or last[0] is not layout or last[1] is not relation.layout:
            words: dict[int, list[Part]] = {}
            for column, source, shared in partner.wanted:
                field = relation.layout.fields[column]
                part = field.shift, (1 << field.bits) - 1, field.base, layout.fields[source] if shared else source
                words.setdefault(field.word, []).append(part)
            made = [(word, sum(room << shift for shift, room, *_ in parts), parts) for word, parts in words.items()]
            last = self._known[place] = layout, relation.layout, made
        return last[2]


def _wanted(scan: Scan, given: dict[str, int], codec: Codec) -> tuple[tuple[int, int, bool], ...]:
    found: list[tuple[int, int, bool]] = []
    for column, term in enumerate(scan.terms):
        if isinstance(term, Const):
            found.append((column, codec.code(term.value, term.type), False))
        elif isinstance(term, Var) and term.name in given:
            found.append((column, given[term.name], True))
    return tuple(found)


def _sets(batch: Batch, sought: Sought, asked: int) -> list[frozenset[int]] | None:
    """Return the values that the fields of each word have together; None where it is not worth to know them yet."""
    found: list[frozenset[int]] = []
    for word, mask, _ in sought:
        values = batch.values(word, mask, asked)
        if values is None:
            return None
        found.append(values)
    return found


def _meets(row: Row, sought: Sought, sets: Sequence[Sequence[frozenset[int]]]) -> bool:
    """Tell whether some batch may have what a row of the delta wants."""
    keys: list[int] = []
    for _, _, parts in sought:
        key = 0
        for shift, room, base, source in parts:
            if isinstance(source, int):
                code = source - base
            else:
                code = ((row[source.word] >> source.shift) & ((1 << source.bits) - 1)) + source.base - base
            if not 0 <= code <= room:
                return False
            key |= code << shift
        keys.append(key)
    return any(all(key in values for key, values in zip(keys, some, strict=True)) for some in sets)
