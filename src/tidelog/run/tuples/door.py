"""The door of a relation of bounds: which candidates are admitted (`maintain.ranked`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

from tidelog.base.values import order_key
from tidelog.plan.nodes import Bound
from tidelog.run.contract.engine import Row
from tidelog.run.phases import AFTER
from tidelog.run.tuples.absorb import Bag
from tidelog.run.tuples.relation import Relation


def admitted(relation: Relation, bag: Bag, bound: Bound) -> Bag:
    """Return the derivations of tuples that are there, and of the best candidate of each key if it is better."""
    best: dict[Any, Row] = {}
    key = key_of(bound, len(relation.types))
    for row, _ in bag:
        if not relation.holds(row):
            known = best.setdefault(key(row), row)
            if better(row, known, bound):
                best[key(row)] = row
    find = relation.finder(AFTER, tuple([i for i in range(len(relation.types)) if i != bound.column]))
    chosen = {row for known, row in best.items() if all(better(row, held, bound) for held in find(known))}
    return [one for one in bag if one[0] in chosen or relation.holds(one[0])]


def better(row: Row, other: Row, bound: Bound) -> bool:
    """Tell whether a bound is better than another of its key."""
    one, known = order_key(row[bound.column]), order_key(other[bound.column])
    return bool(known < one if bound.greatest else one < known)


def key_of(bound: Bound, arity: int) -> Callable[[Row], Any]:
    """Return what gives the key of a row as an index wants it: the only value, or a tuple."""
    columns = [column for column in range(arity) if column != bound.column]
    return itemgetter(*columns) if columns else lambda _: ()


def one_of_each_key(rows: Iterable[Row], bound: Bound) -> set[Row]:
    """Return one row of each key."""
    return set({row[: bound.column] + row[bound.column + 1 :]: row for row in rows}.values())
