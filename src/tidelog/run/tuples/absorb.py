"""From bags of derivations to tuples: counting support, finding what is new and what is lost.

What a tuple carries decides how (`contract.Support`). With ranked support that is its rank, its derivations of
lower rank, which support it, and all of them. What the update algorithm that keeps first iterations does to counts is
in `iterations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tidelog.run.contract.engine import Row
from tidelog.run.contract.phase import Support
from tidelog.run.tuples.relation import Journal, Relation

Bag = list[tuple[Row, int]]
"""Heads of derivations, each with the greatest rank in its body, 0 where ranks are not followed."""


def heads(bag: Bag) -> set[Row]:
    """Return the tuples of a bag."""
    return {row for row, _ in bag}


def by_head(bag: Bag) -> Mapping[Row, list[int]]:
    """Return the ranks of the derivations of each tuple."""
    found: dict[Row, list[int]] = {}
    for row, rank in bag:
        if row in found:
            found[row].append(rank)
        else:
            found[row] = [rank]
    return found


def below(ranks: Iterable[int], rank: int) -> int:
    """Count the ranks below one."""
    return sum(1 for one in ranks if one < rank)


def unsupported(relation: Relation, bag: Bag, *, there: bool) -> set[Row]:
    """Return the tuples of derivations that are there, or that are not, where nothing is kept of tuples."""
    return {row for row in heads(bag) if relation.holds(row) == there}


LINES = {Support.RANKED: 2, Support.FIRST: 1, Support.COUNTED: 2}
"""How many counts a tuple has under each kind of support that counts."""


def started(relation: Relation, bag: Bag, rank: int, support: Support) -> set[Row]:
    """Return the tuples that are new in a round of a bootstrap, which is their rank; count what present ones have."""
    supports = relation.supports
    relation.highest = max(relation.highest, rank)
    new: set[Row] = set()
    for row, ranks in by_head(bag).items():
        known = supports.get(row)
        if known is None:
            if support is Support.COUNTED:
                supports[row] = (1, len(ranks) if rank == 1 else 0, len(ranks))
            else:
                supports[row] = (rank, *[len(ranks)] * LINES[support])
            new.add(row)
        elif LINES[support] == 2:
            supports[row] = (known[0], known[1], known[2] + len(ranks))
    return new


def absorbed(relation: Relation, bag: Bag, journal: Journal, support: Support) -> set[Row]:
    """Count the support that derivations give present tuples; return the new ones, each above its derivations.

    Where nonrecursive derivations are counted, all ranks are 1.
    """
    new: set[Row] = set()
    for row, ranks in by_head(bag).items():
        if relation.holds(row):
            rank, supporting, every = relation.supports[row]
            journal.support(relation, row, (rank, supporting + below(ranks, rank), every + len(ranks)))
        else:
            rank = 1 if support is Support.COUNTED else max(ranks) + 1
            relation.highest = max(relation.highest, rank)
            journal.support(relation, row, (rank, below(ranks, rank), len(ranks)))
            new.add(row)
    return new


def released(relation: Relation, bag: Bag, journal: Journal) -> set[Row]:
    """Take derivations away; return the present tuples that have no support left.

    Tuples that are removed already lose derivations, too: those that have any left at the end may come back.
    """
    lost: set[Row] = set()
    for row, ranks in by_head(bag).items():
        known = relation.supports.get(row)
        if known is not None:
            rank, supporting, every = known
            left = supporting - below(ranks, rank)
            journal.support(relation, row, (rank, left, every - len(ranks)))
            if left == 0 and row not in relation.marks:
                lost.add(row)
    return lost
