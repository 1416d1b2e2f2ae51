"""From bags of derivations to tuples: counting support, finding what is new and what is lost.

What a tuple carries decides how (`contract.Support`). With ranked support it has two counts: its derivations of a
rank below its own, which support it, and all of them (see `run.maintain.ranked`). With counted support it has the same
with rank 1 throughout (see `run.maintain.modular`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from tidelog.base.process.meter import ask
from tidelog.base.record import record
from tidelog.run.columnar.arrays.table import Mask, Places, Ranks, Words, chosen, no_rows
from tidelog.run.columnar.arrays.tally import Heads, Overwritten, sums
from tidelog.run.columnar.functions import Arrays
from tidelog.run.columnar.kernels import DOUBTFUL, LOST
from tidelog.run.columnar.kernels.ranks import level
from tidelog.run.columnar.rules.bag import Bag
from tidelog.run.columnar.storage.batch import Batch, Journal, Log
from tidelog.run.columnar.storage.layout import Layout, moves
from tidelog.run.columnar.storage.order import Where
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.contract.phase import Support
from tidelog.run.phases import ALIVE, REMOVED


@record
class Gathered:
    """Derivations in order of their heads: rows, the rank of each, and how often it occurs (None: once, rank 0)."""

    rows: Words
    rank: Ranks | None
    times: Places | None

    def counted(self) -> Places:
        """Return how often each occurs."""
        return np.ones(self.rows.shape[1], np.int64) if self.times is None else self.times


def gather(relation: Relation, bags: Sequence[Bag]) -> Gathered:
    """Bring bags into the layout of their relation, which makes room for them, and into one order."""
    make_room(relation, bags)
    ask(3 * sum(bag.rows.nbytes for bag in bags))
    arrays = relation.arrays
    rows = [in_layout(bag, relation.layout, arrays) for bag in bags]
    has_rank, has_times = any(bag.rank is not None for bag in bags), any(bag.times is not None for bag in bags)
    if not has_rank and not has_times and rows:
        distinct = relation.support is Support.NONE
        columns = [*relation.layout.fields]  # a map of bits may have another column first (`head_bitmap.large_map`)
        in_order = [bag.ordered and [*bag.layout.fields] == columns for bag in bags]
        ordered = _in_order(rows, in_order, arrays, distinct=distinct)
        return Gathered(ordered, None, None)
    together = np.concatenate(rows, axis=1) if len(rows) > 1 else rows[0] if rows else no_rows(relation.layout.words)
    if together.shape[1] == 1 and len(bags) == 1:
        return Gathered(together, bags[0].rank, bags[0].times)
    table = arrays(together.shape[1])
    rank = np.concatenate([_or(bag.rank, bag, 0, np.int32) for bag in bags]) if has_rank else None
    if rank is not None and not has_times:
        return Gathered(*table.sort_with(together, rank), None)
    places = table.order(together)
    rank = None if rank is None else rank[places]
    times = np.concatenate([_or(bag.times, bag, 1, np.int64) for bag in bags])[places] if has_times else None
    return Gathered(np.ascontiguousarray(together[:, places]), rank, times)


def make_room(relation: Relation, bags: Sequence[Bag]) -> None:
    """Let the layout of a relation have room for bags of any layout."""
    bags = [bag for bag in bags if bag.rows.shape[1]]
    others = [bag.layout for bag in bags if bag.layout != relation.layout]
    if not others:
        return
    columns = range(relation.arity)
    if any(not relation.has_room([layout.fields[column].range for column in columns]) for layout in others):
        # The layout is about to change: what is packed in the present one must fit the next one, too.
        for bag in bags:
            if bag.layout == relation.layout:
                relation.want(bag.layout.ranges(bag.rows, relation.arrays))
    for layout in others:
        relation.admit([layout.fields[column].range for column in columns])


def _in_order(rows: list[Words], ordered: list[bool], arrays: Arrays, *, distinct: bool) -> Words:
    """Return the rows of several arrays in order: those in order already are merged, smallest first.

    Where only distinct rows matter some repetitions are left out.
    """
    runs = [part for part, is_ordered in zip(rows, ordered, strict=True) if is_ordered]
    loose = [part for part, is_ordered in zip(rows, ordered, strict=True) if not is_ordered]
    if loose:
        together = np.concatenate(loose, axis=1) if len(loose) > 1 else loose[0]
        runs.append(arrays(together.shape[1]).sort(together))
    while len(runs) > 1:
        runs.sort(key=lambda part: -part.shape[1])
        one, other = runs.pop(), runs.pop()
        runs.append(arrays.united(one, other) if distinct else arrays(one.shape[1]).merge(one, other))
    return runs[0]


def _or(values: np.ndarray | None, bag: Bag, default: int, kind: type) -> np.ndarray:
    return np.full(bag.rows.shape[1], default, kind) if values is None else values


def in_layout(bag: Bag, layout: Layout, arrays: Arrays) -> Words:
    """Return the rows of a bag in a layout that has room for them."""
    if bag.layout == layout:
        return bag.rows
    steps = moves((field, layout.fields[column]) for column, field in bag.layout.fields.items())
    return arrays(bag.rows.shape[1]).move(bag.rows, steps, layout.constant({}))


def exchanged(relation: Relation, before: Sequence[Bag], after: Sequence[Bag]) -> tuple[Bag, Bag]:
    """Return the derivations that only the bags before have, and those that only the bags after have."""
    # Gathered together, since a layout that makes room for some is not that of others gathered before.
    found = gather(relation, [*(_signed(bag, -1) for bag in before), *(_signed(bag, 1) for bag in after)])
    firsts = relation.arrays(found.rows.shape[1]).firsts(found.rows)
    net = sums(found.counted(), firsts)
    heads = found.rows[:, firsts]

    def bag(picked: Mask) -> Bag:
        kept = chosen(heads, picked)
        return Bag(relation.layout, kept, np.zeros(kept.shape[1], np.int32), np.abs(net[picked]))

    return bag(net < 0), bag(net > 0)


def _signed(bag: Bag, sign: int) -> Bag:
    return replace(bag, rank=None, times=sign * _or(bag.times, bag, 1, np.int64))


def absorbed(relation: Relation, found: Gathered, journal: Journal) -> Batch:
    """Count the support that derivations give present tuples; return the new tuples with their rank and support."""
    heads, about = _heads(found, relation.arrays)
    _tally(relation, heads, about, ALIVE, journal, sign=1)
    new, every, above = relation.arrays(heads.shape[1]).summed(about)
    rows = heads if len(new) == heads.shape[1] else chosen(heads, new)
    both = np.stack([every] * relation.lines)
    if relation.support is Support.COUNTED:
        both[0] = _nonrecursive(found, about.firsts, None)[new]
        return Batch(rows, 1, both)
    return Batch(rows, above, both)


def first_found(relation: Relation, found: Gathered, boot: int, *, all_new: bool) -> Batch:
    """Return the new tuples of a round of a bootstrap, which tells their rank; perhaps it is known that all are new.

    Present tuples get no more support: what is derived later uses a tuple of a rank that is not lower.
    """
    firsts = relation.arrays(found.rows.shape[1]).firsts(found.rows)
    heads = chosen(found.rows, firsts)
    every = sums(found.counted(), firsts)
    new = np.ones(len(firsts), bool)
    for batch, places, targets in () if all_new else relation.locate(relation.main, heads, ALIVE):
        assert batch.counts is not None
        new[places] = False
        batch.counts[1:, targets] += every[places]
    both = np.stack([every[new]] * relation.lines)
    if relation.support is Support.COUNTED:
        both[0] = _nonrecursive(found, firsts, boot)[new]
    rank = {Support.COUNTED: 1, Support.RANKED: level(boot)}.get(relation.support, boot)
    return Batch(chosen(heads, new), rank, both)


def _heads(found: Gathered, arrays: Arrays) -> tuple[Words, Heads]:
    """Return the distinct heads of derivations, and what is to be known of them."""
    count = found.rows.shape[1]
    firsts = arrays(count).firsts(found.rows)
    heads = found.rows if len(firsts) == count else chosen(found.rows, firsts)
    return heads, Heads.of(firsts, count, found.rank, found.times)


def _tally(relation: Relation, rows: Words, heads: Heads, limit: int, journal: Journal, *, sign: int) -> Where:
    """Add to the counts of heads or take from them; return where those are that hold without any support."""
    count, without = rows.shape[1], Where()
    table = relation.arrays(count)
    for batch in (*relation.main.settled, *relation.main.inserted):
        low, high, total = table.ranges(rows, batch.rows, rows.shape[0], 64, batch.fence(count, relation.arrays))
        if not total:
            continue
        assert batch.counts is not None
        before = Overwritten.of(len(batch.counts), total)
        journal.log(Log(before.places, before.size, before, [], partial(_put_back, batch.counts, before)))
        lost = table.tally((low, high), heads, (batch.mark, batch.rank, batch.counts), limit, sign, before)
        if before.size[1]:
            raise OverflowError("a tuple has more than 2**63 derivations, more than can be counted")
        if len(lost):
            without.append((batch, lost))
    return without


def _put_back(counts: Places, before: Overwritten, places: Places) -> None:
    counts[:, places] = before.values[:, : len(places)]


def _nonrecursive(found: Gathered, firsts: Places, boot: int | None) -> Places:
    """Return how many derivations of each head use nothing of its stratum: in a bootstrap all those of round 1."""
    count = found.rows.shape[1]
    times = np.ones(count, np.int64) if found.times is None else found.times
    if boot is not None:
        return sums(times, firsts) if boot == 1 else np.zeros(len(firsts), np.int64)
    return sums(times if found.rank is None else times * (found.rank == 0), firsts)


def fresh(relation: Relation, found: Gathered) -> Words:
    """Return the tuples that are not there, where nothing is counted. What was found is void then."""
    table = relation.arrays(found.rows.shape[1])
    fresh = table.unique(found.rows)
    for batch in (*relation.main.settled, *relation.main.inserted):
        if batch.mark is None:
            fresh = table.without(fresh, batch.rows)
            continue
        low, high, _ = table.ranges(fresh, batch.rows, fresh.shape[0], 64)
        there = high > low
        there[there] = batch.mark[low[there]] == ALIVE
        fresh = chosen(fresh, ~there)
    return fresh.copy()


def released(relation: Relation, found: Gathered, journal: Journal) -> tuple[Batch, Where, Words]:
    """Take derivations away; return the present tuples that this removes, having no support left, and where they are.

    Tuples that are removed already lose derivations, too: those that have any left at the end may come back. Where
    nothing is counted, every tuple that loses a derivation is removed. The third part of the answer are the tuples in
    doubt: they have lost support, and nobody has counted how much they have.
    """
    if relation.support is Support.NONE:
        return *_overdeleted(relation, found), no_rows(relation.layout.words)
    heads, about = _heads(found, relation.arrays)
    where = _tally(relation, heads, about, REMOVED, journal, sign=-1)
    doubtful = about.state == DOUBTFUL
    assert not relation.counted or not doubtful.any(), "counts never fall below zero"
    lost = _without_support(relation, heads, about.own, about.state == LOST)
    return lost, where, chosen(heads, doubtful)


def _without_support(relation: Relation, heads: Words, rank: Ranks, lost: Mask) -> Batch:
    counts = relation.counts(int(np.count_nonzero(lost)), 0)
    return Batch(chosen(heads, lost), rank[lost], counts)


def settled(relation: Relation, found: Gathered | None, journal: Journal) -> tuple[Batch, Where, Ranks]:
    """Note the counts of the doubtful tuples, which are the view `deleted`; return those without support, and where.

    What was found are the derivations that they have left. The third part of the answer are the ranks of the others.
    """
    assert relation.main.deleted is not None
    rows = relation.main.deleted.rows
    present = list(relation.locate(relation.main, rows, ALIVE))
    rank = _ranks(present, rows.shape[1])
    supporting, every = np.zeros(rows.shape[1], np.int64), np.zeros(rows.shape[1], np.int64)
    if found is not None and found.rows.shape[1]:
        table = relation.arrays(found.rows.shape[1])
        firsts = table.firsts(found.rows)
        heads = chosen(found.rows, firsts)
        places, _, _ = table.ranges(heads, rows, rows.shape[0], 64)
        supporting[places] = _supporting(found, firsts, rank[places])
        every[places] = sums(found.counted(), firsts)
    where: Where = []
    for batch, places, targets in present:
        assert batch.counts is not None
        for line, counts in zip(batch.counts, (supporting, every), strict=False):
            journal.write(line, targets, counts[places])
        gone = targets[supporting[places] == 0]
        if len(gone):
            where.append((batch, gone))
    return _without_support(relation, rows, rank, supporting == 0), where, rank[supporting > 0]


def _overdeleted(relation: Relation, found: Gathered) -> tuple[Batch, Where]:
    """Return the tuples there are among those of some derivations, and where they are."""
    table = relation.arrays(found.rows.shape[1])
    heads = table.unique(found.rows.copy())
    there = np.zeros(heads.shape[1], bool)
    where: Where = []
    for batch, places, targets in relation.locate(relation.main, heads, ALIVE):
        there[places] = True
        where.append((batch, targets))
    return Batch(chosen(heads, there)), where


def _ranks(present: Sequence[tuple[Batch, Places, Places]], count: int) -> Ranks:
    """Return the ranks of heads that were located, 0 for the others."""
    rank = np.zeros(count, np.int32)
    for batch, places, targets in present:
        rank[places] = batch.ranks()[targets]
    return rank


def _supporting(found: Gathered, firsts: Places, rank: Ranks) -> Places:
    """Return how many derivations of each head are of a lower rank than its own."""
    count = found.rows.shape[1]
    above = rank if len(firsts) == count else np.repeat(rank, np.diff(np.append(firsts, count)))
    supports = above > (0 if found.rank is None else found.rank)
    return sums(supports.astype(np.int64) if found.times is None else supports * found.times, firsts)
