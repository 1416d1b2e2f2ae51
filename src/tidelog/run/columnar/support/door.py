"""The door of a relation of bounds: which candidates are admitted (`maintain.ranked`).

The best candidate of each key is compared with the best bound that it has, which an order with the value last finds.
Where codes are in no order, values are decoded and numbered in theirs, and all are sorted together by key and value.
From scratch, candidates come in order of their values, so that most bounds that are admitted are final.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from tidelog.base.expr import Var
from tidelog.base.record import record
from tidelog.base.tuning.rounds import Doors
from tidelog.base.values import order_key
from tidelog.plan.nodes import Bound
from tidelog.run.columnar.arrays.table import Mask, Places, Words, chosen, no_rows
from tidelog.run.columnar.rules.bindings import Table
from tidelog.run.columnar.rules.join import Matches, Probe, make_output, match
from tidelog.run.columnar.storage.dictionary import Codec, is_ordered
from tidelog.run.columnar.storage.layout import Layout
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.columnar.support.absorb import Gathered
from tidelog.run.phases import AFTER, ALIVE


@record
class Door:
    """The door of a relation, whose delta is empty."""

    relation: Relation
    bound: Bound
    codec: Codec

    def admitted(self, found: Gathered) -> Gathered:
        """Return the derivations of tuples that are there, and of the best candidate of each key if it is better."""
        return self.sorted_out(found, None)[0]

    def sorted_out(self, found: Gathered, doors: Doors | None) -> tuple[Gathered, Gathered | None]:
        """Return the derivations that are admitted, and those of candidates that are the best of their keys and wait.

        Without thresholds none does. With many candidates the better ones come first: most of the others will have been
        overtaken when it is their turn (buckets, as Meyer and Sanders' Delta-stepping has them, by numbers of tuples).
        """
        count = found.rows.shape[1]
        if not count:
            return found, None
        firsts = self.relation.arrays(count).firsts(found.rows)
        times = np.diff(np.append(firsts, count))
        heads = chosen(found.rows, firsts)
        passes = there(self.relation, heads)
        candidates = np.flatnonzero(~passes)
        if not len(candidates):
            return found, None
        best = candidates[self._best(chosen(heads, candidates))]
        waits = np.zeros(len(firsts), bool)
        if doors is not None and len(best) > doors.at_once:
            values = self._values(chosen(heads, best))
            last = max(int(doors.at_once), len(best) // int(doors.buckets)) - 1
            late = values > np.partition(values, last)[last]
            waits[best[late]] = True
            best = best[~late]
        passes[best] = True
        admitted = picked(found, np.repeat(passes, times))
        return admitted, picked(found, np.repeat(waits, times)) if waits.any() else None

    def one_of_each_key(self, rows: Words) -> Words:
        """Return of sorted rows one of each key."""
        if not rows.shape[1]:
            return rows
        keys = self._keys(rows)
        order = np.lexsort(keys[::-1])
        return chosen(rows, np.sort(order[_starts(keys[:, order])]))

    def _best(self, rows: Words) -> Places:
        """Return which of some sorted candidates, that are not there, are better than all bounds of their key."""
        column, greatest = self.bound.column, self.bound.greatest
        if not is_ordered(self.relation.types[column]):
            return self._best_by_sorting(rows)
        keys, codes = self._keys(rows), self.relation.layout.codes(rows, column)
        if column == self.relation.arity - 1:
            starts = np.flatnonzero(_starts(keys))
            places = np.append(starts[1:], rows.shape[1]) - 1 if greatest else starts
        else:
            order = np.lexsort((~codes if greatest else codes, *keys[::-1]))
            places = order[_starts(keys[:, order])]
        found: Places = places[self._are_better(chosen(rows, places), codes[places])]
        return found

    def _are_better(self, rows: Words, codes: Words) -> Mask:
        """Tell which rows, of which these are the values, are better than the best bound that their key has."""
        greatest, better = self.bound.greatest, np.ones(rows.shape[1], bool)
        matches = self._matches(rows)[1]
        if matches is None:
            return better
        given = matches.table.rank
        assert given is not None
        layout = matches.seen.order.layout
        for (batch, limit), low, high in zip(matches.batches, matches.low, matches.high, strict=True):
            left = np.flatnonzero(high > low)
            at, end, step = (high[left] - 1, low[left] - 1, -1) if greatest else (low[left], high[left], 1)
            while batch.mark is not None:  # bounds stand in order of their values: the next one is the next best
                gone = np.flatnonzero((at != end) & (batch.mark[np.minimum(at, batch.size - 1)] > limit))
                if not len(gone):
                    break
                at[gone] += step
            there, which = at != end, given[left]
            held = layout.codes(batch.rows[:, at[there]], self.bound.column)
            mine = codes[which[there]]
            better[which[there]] &= mine > held if greatest else mine < held
        return better

    def _best_by_sorting(self, rows: Words) -> Places:
        """Return the same where values have to be decoded: candidates and bounds are put in one order."""
        together = np.concatenate((rows, self._held(rows)), axis=1)
        keys, values = self._keys(together), self._values(together)
        order = np.lexsort((values, *keys[::-1]))
        firsts = order[_starts(keys[:, order])]
        best: Places = firsts[firsts < rows.shape[1]]
        return best

    def _held(self, rows: Words) -> Words:
        """Return the bounds there are of the keys of some rows."""
        layout = self.relation.layout
        probe, matches = self._matches(rows)
        if matches is None:
            return no_rows(layout.words)
        table, order = matches.table, matches.seen.order
        return matches.emit(make_output(probe, table.layout, order, layout, self._names)).rows

    @property
    def _names(self) -> dict[Hashable, str]:
        return {column: str(column) for column in range(self.relation.arity)}

    def _matches(self, rows: Words) -> tuple[Probe, Matches | None]:
        """Match rows with the bounds of their keys; the rank of a binding is the number of its row."""
        layout, names, column = self.relation.layout, self._names, self.bound.column
        known = Layout({names[c]: field for c, field in layout.fields.items() if c != column}, layout.words)
        terms = [Var(names[number], type) for number, type in enumerate(self.relation.types)]
        probe = Probe(terms, known.fields, self.codec)
        numbered = Table(known, rows, np.arange(rows.shape[1], dtype=np.int32))
        return probe, match(numbered, probe, probe.see(self.relation, AFTER))

    def _keys(self, rows: Words) -> Words:
        """Return rows without their values."""
        field = self.relation.layout.fields[self.bound.column]
        keys = rows.copy()
        keys[field.word] &= np.uint64(((1 << 64) - 1) ^ (((1 << field.bits) - 1) << field.shift))
        return keys

    def _values(self, rows: Words) -> Words:
        """Return numbers that are the less the better the values of rows are."""
        type = self.relation.types[self.bound.column]
        codes = self.relation.layout.codes(rows, self.bound.column)
        if not is_ordered(type):
            distinct, places = np.unique(codes, return_inverse=True)
            values = self.codec.values(distinct, type)
            order = sorted(range(len(values)), key=lambda place: order_key(values[place]))
            numbers = np.empty(len(values), np.uint64)
            numbers[order] = np.arange(len(values), dtype=np.uint64)
            codes = numbers[places]
        return ~codes if self.bound.greatest else codes


def there(relation: Relation, heads: Words) -> Mask:
    """Tell which sorted distinct rows hold."""
    found = np.zeros(heads.shape[1], bool)
    for _, places, _ in relation.locate(relation.main, heads, ALIVE):
        found[places] = True
    return found


def absent(relation: Relation, found: Gathered) -> Gathered:
    """Return the derivations of tuples that do not hold."""
    count = found.rows.shape[1]
    if not count:
        return found
    firsts = relation.arrays(count).firsts(found.rows)
    missing = ~there(relation, chosen(found.rows, firsts))
    return picked(found, np.repeat(missing, np.diff(np.append(firsts, count))))


def picked(found: Gathered, which: Mask) -> Gathered:
    """Return some of the derivations."""
    if which.all():
        return found
    rank = None if found.rank is None else found.rank[which]
    times = None if found.times is None else found.times[which]
    return Gathered(chosen(found.rows, which), rank, times)


def _starts(keys: Words) -> Mask:
    """Tell where keys in order differ from the one before."""
    starts = np.ones(keys.shape[1], bool)
    starts[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    return starts
