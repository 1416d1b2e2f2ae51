"""The evaluator `algebra`: select-project-join (Shapiro paper, section 3.3), a set of tuples at a time.

Each node of a tree is a list of tuples, made of the list below it: the rank first, then the values of the node's
columns, of which the plan has kept only those that something further up needs. A join looks up each tuple of its left
side in an index of its right side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, assert_never

from tidelog.base.expr import Const, Expr, Var
from tidelog.base.process.growth import counted
from tidelog.plan.join.spine import spine
from tidelog.plan.nodes import Aggregate, AntiJoin, Extend, Join, Node, Product, Project, Scan, Select, Unit, Unnest
from tidelog.run.scalar.closures import elements
from tidelog.run.tuples.absorb import Bag
from tidelog.run.tuples.evaluator import Run, Sight, in_chunks, stepping
from tidelog.run.tuples.probe import make_probe
from tidelog.run.tuples.scalars import Scalars

Tuple = tuple[Any, ...]
"""A rank, and the values of a node's columns."""
Step = Callable[[list[Tuple], Sight], list[Tuple]]
Columns = tuple[Var, ...]
RANK = 0


class AlgebraEvaluator:
    """Evaluates trees node by node."""

    def prepare(self, tree: Project, scalars: Scalars) -> Run:
        """Return what finds the derivations of a tree."""
        steps: list[Step] = []
        columns: Columns = ()
        for node in spine(tree.input):
            if not isinstance(node, Unit):
                steps.append(_step(node, columns, scalars))
            columns = node.columns
        head = _head(tree.expressions, columns, scalars)

        def run(sight: Sight) -> Bag:
            found: list[Tuple] = [(0,)]
            for step in steps:
                found = step(found, sight)
                sight.look()
                if not found:
                    return []
            return in_chunks(found, sight, lambda part: [(head(row), row[RANK]) for row in part])

        return run


def _step(node: Node, columns: Columns, scalars: Scalars) -> Step:
    """Return how a node's tuples are made of those of the node below it, which has these columns."""
    match node:
        case Scan() | Aggregate():
            return _join(node, columns, node.columns)
        case Join(right=right) | Product(right=right):
            assert isinstance(right, Scan | Aggregate), "plans are left-deep"
            return _join(right, columns, node.columns)
        case AntiJoin(right=right):
            return _antijoin(right, columns, node.columns)
        case Select(condition=condition):
            return _select(_reader(condition, columns, scalars), _chosen(columns, node.columns))
        case Extend(variable=variable, expression=expression):
            take = _chosen((*columns, variable), node.columns)
            return _extend(_reader(expression, columns, scalars), take)
        case Unnest(variable=variable, expression=expression):
            take = _chosen((*columns, variable), node.columns)
            return _unnest(_reader(expression, columns, scalars), take)
        case Unit() | Project():
            raise AssertionError("neither makes tuples of others")
        case _:
            assert_never(node)


# --- reading and choosing columns ------------------------------------------------------------------------------------


def _place(columns: Columns, name: str) -> int:
    """Return where a column stands in a tuple."""
    return 1 + next(i for i, column in enumerate(columns) if column.name == name)


def _chosen(columns: Columns, wanted: Columns) -> Callable[[Tuple], Tuple]:
    """Return what takes some columns of a tuple, and its rank."""
    return _taking([RANK, *[_place(columns, column.name) for column in wanted]])


def _taking(places: Sequence[int]) -> Callable[[Tuple], Tuple]:
    if not places:
        return lambda _: ()
    if len(places) == 1:
        only = places[0]
        return lambda row: (row[only],)
    return itemgetter(*places)


def _reader(expression: Expr, columns: Columns, scalars: Scalars) -> Callable[[Tuple], Any]:
    """Return the function that gives an expression's value for a tuple."""
    match expression:
        case Var(name):
            return itemgetter(_place(columns, name))
        case Const(value):
            return lambda _: value
        case _:
            scalar = scalars.compile(expression)
            places = [_place(columns, name) for name in scalar.names]
            return lambda row: scalar.value(*[row[place] for place in places])


def _head(expressions: Sequence[Expr], columns: Columns, scalars: Scalars) -> Callable[[Tuple], Tuple]:
    if all(isinstance(expression, Var) for expression in expressions):
        return _taking([_place(columns, e.name) for e in expressions if isinstance(e, Var)])
    values = [_reader(expression, columns, scalars) for expression in expressions]
    return lambda row: tuple([value(row) for value in values])


# --- the nodes -------------------------------------------------------------------------------------------------------


def _join(right: Scan | Aggregate, columns: Columns, wanted: Columns) -> Step:
    """Join with a scan or the groups of an aggregate."""
    bound = {column.name for column in columns}
    probe = make_probe(right.terms if isinstance(right, Scan) else (*right.keys, right.result), bound)
    key, agrees = probe.key(lambda name: itemgetter(_place(columns, name))), probe.agrees
    new = dict(probe.new)
    width = 1 + len(columns)
    take = _taking([RANK, *[_place(columns, c.name) if c.name in bound else width + new[c.name] for c in wanted]])
    names = [each.name for each in right.keys if each in probe.sources] if isinstance(right, Aggregate) else []
    read_names = _taking([_place(columns, name) for name in names])

    def step(left: list[Tuple], sight: Sight) -> list[Tuple]:
        if isinstance(right, Scan):
            find, supports = sight.finder(right, probe.columns), sight.supports(right)
        else:
            find, supports = sight.groups(right, names, set(map(read_names, left)), probe.columns), None
        find = stepping(find)
        if agrees is not None or supports is not None:
            return in_chunks(
                left,
                sight,
                lambda part: [
                    take((row[0] if supports is None else max(row[0], supports[other][0]), *row[1:], *other))
                    for row in part
                    for other in find(key(row))
                    if agrees is None or agrees(other)
                ],
            )
        return in_chunks(left, sight, lambda part: [take(row + other) for row in part for other in find(key(row))])

    return step


def _antijoin(right: Scan, columns: Columns, wanted: Columns) -> Step:
    probe = make_probe(right.terms, {column.name for column in columns})
    key, take = probe.key(lambda name: itemgetter(_place(columns, name))), _chosen(columns, wanted)

    def step(left: list[Tuple], sight: Sight) -> list[Tuple]:
        find = sight.finder(right, probe.columns, negated=True)
        return in_chunks(left, sight, lambda part: [take(row) for row in part if not find(key(row))])

    return step


def _select(holds: Callable[[Tuple], Any], take: Callable[[Tuple], Tuple]) -> Step:
    return lambda left, sight: in_chunks(left, sight, lambda part: [take(row) for row in part if holds(row)])


def _extend(value: Callable[[Tuple], Any], take: Callable[[Tuple], Tuple]) -> Step:
    return lambda left, sight: in_chunks(left, sight, lambda part: [take((*row, value(row))) for row in part])


def _unnest(collection: Callable[[Tuple], Any], take: Callable[[Tuple], Tuple]) -> Step:
    return lambda left, sight: in_chunks(
        left,
        sight,
        lambda part: [take((*row, element)) for row in part for element in counted(elements(collection(row)))],
    )
