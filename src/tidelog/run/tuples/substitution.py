"""The evaluator `substitution`: Infer, as the Shapiro paper's Chibi does it (section 3.2).

A substitution gives variables values. Starting from the empty one, each atom of the body extends every substitution so
far in as many ways as there are facts that fit it; a condition keeps some of them. What is left at the end is applied
to the head. Nothing is dropped on the way: a substitution knows all variables of the body.

    TC(x, z) :- Edge(x, y), TC(y, z).       {}  ->  {x: 1, y: 2}  ->  {x: 1, y: 2, z: 3}  ->  TC(1, 3)
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
from tidelog.run.tuples.relation import Find
from tidelog.run.tuples.scalars import Scalars

Substitution = tuple[int, dict[str, Any]]
"""The greatest rank among the facts used, and the values of the variables."""
Step = Callable[[list[Substitution], Sight], list[Substitution]]


class SubstitutionEvaluator:
    """Extends substitutions atom by atom."""

    def prepare(self, tree: Project, scalars: Scalars) -> Run:
        """Return what finds the derivations of a tree."""
        steps: list[Step] = []
        bound: set[str] = set()
        for node in spine(tree.input):
            steps += _steps(node, bound, scalars)
        values = [_reader(expression, scalars) for expression in tree.expressions]

        def run(sight: Sight) -> Bag:
            found: list[Substitution] = [(0, {})]
            for step in steps:
                found = step(found, sight)
                sight.look()
                if not found:
                    return []
            return in_chunks(found, sight, lambda part: [(tuple([v(s) for v in values]), rank) for rank, s in part])

        return run


def _reader(expression: Expr, scalars: Scalars) -> Callable[[dict[str, Any]], Any]:
    """Return the function that gives an expression's value under a substitution."""
    match expression:
        case Var(name):
            return itemgetter(name)
        case Const(value):
            return lambda _: value
        case _:
            scalar = scalars.compile(expression)
            return lambda values: scalar.value(*[values[name] for name in scalar.names])


def _steps(node: Node, bound: set[str], scalars: Scalars) -> list[Step]:
    """Return the steps of a node of the spine, and note the variables it binds."""
    match node:
        case Unit():
            return []
        case Scan() | Aggregate():
            return [_extend_by(node, bound)]
        case Join(right=right) | Product(right=right):
            assert isinstance(right, Scan | Aggregate), "plans are left-deep"
            return [_extend_by(right, bound)]
        case AntiJoin(right=right):
            return [_without(right, bound)]
        case Select(condition=condition):
            holds = _reader(condition, scalars)
            return [lambda found, sight: in_chunks(found, sight, lambda part: [s for s in part if holds(s[1])])]
        case Extend(variable=variable, expression=expression):
            bound.add(variable.name)
            return [_let(variable.name, _reader(expression, scalars))]
        case Unnest(variable=variable, expression=expression):
            bound.add(variable.name)
            return [_each(variable.name, _reader(expression, scalars))]
        case Project():
            raise AssertionError("a head stands only at the root")
        case _:
            assert_never(node)


def _extend_by(atom: Scan | Aggregate, bound: set[str]) -> Step:
    """Extend substitutions by the facts that fit an atom."""
    probe = make_probe(atom.terms if isinstance(atom, Scan) else (*atom.keys, atom.result), bound)
    bound.update(name for name, _ in probe.new)
    key, agrees, new = probe.key(itemgetter), probe.agrees, probe.new
    names = [key.name for key in atom.keys if key in probe.sources] if isinstance(atom, Aggregate) else []

    def find_of(found: Sequence[Substitution], sight: Sight) -> Find:
        if isinstance(atom, Scan):
            return sight.finder(atom, probe.columns)
        keys = {tuple([values[name] for name in names]) for _, values in found}
        return sight.groups(atom, names, keys, probe.columns)

    def step(found: list[Substitution], sight: Sight) -> list[Substitution]:
        find = stepping(find_of(found, sight))
        supports = sight.supports(atom) if isinstance(atom, Scan) else None

        def extend(part: Sequence[Substitution]) -> list[Substitution]:
            return [
                (
                    rank if supports is None else max(rank, supports[fact][0]),
                    {**values, **{name: fact[column] for name, column in new}},
                )
                for rank, values in part
                for fact in find(key(values))
                if agrees is None or agrees(fact)
            ]

        return in_chunks(found, sight, extend)

    return step


def _without(scan: Scan, bound: set[str]) -> Step:
    """Keep the substitutions that no fact fits."""
    probe = make_probe(scan.terms, bound)
    key = probe.key(itemgetter)

    def step(found: list[Substitution], sight: Sight) -> list[Substitution]:
        find = sight.finder(scan, probe.columns, negated=True)
        return in_chunks(found, sight, lambda part: [s for s in part if not find(key(s[1]))])

    return step


def _let(name: str, value: Callable[[dict[str, Any]], Any]) -> Step:
    return lambda found, sight: in_chunks(found, sight, lambda part: [(r, {**s, name: value(s)}) for r, s in part])


def _each(name: str, collection: Callable[[dict[str, Any]], Any]) -> Step:
    return lambda found, sight: in_chunks(
        found,
        sight,
        lambda part: [(r, {**s, name: element}) for r, s in part for element in counted(elements(collection(s)))],
    )
