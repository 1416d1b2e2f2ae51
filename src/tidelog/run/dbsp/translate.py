"""From plans to the interpreter: rules as clauses, and their levels.

A rule's optimised tree is a pipeline (`plan.join.spine`): each scan, join and anti-join is an atom, and what stands
between two of them, conditions and computed variables, goes with the atom before. The columns that a node of the tree
has left are the variables that a rewrite keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, assert_never

from tidelog.base.errors import UserError
from tidelog.base.expr import Call, Const, Expr, Function, FunctionValue, Var
from tidelog.base.free import subexpressions
from tidelog.base.types import Type
from tidelog.base.values import Value
from tidelog.plan.join.spine import spine
from tidelog.plan.nodes import (
    Aggregate,
    AntiJoin,
    Extend,
    Join,
    Node,
    Plan,
    Product,
    Project,
    Rule,
    Scan,
    Select,
    Unit,
    Unnest,
)
from tidelog.run.dbsp.rewriting.kit import Atom, Clause, Each, Gather, Let, Made, Part, Step, Term, Where

STORED = -1
"""The level of a relation without rules: its facts are complete before the first rule looks at them."""


def levels(plan: Plan) -> dict[str, int]:
    """Return the level of each rule, by its identity: the least at which what it negates or aggregates is complete."""
    of: dict[str, int] = {}
    found: dict[str, int] = {}
    for stratum in plan.strata:
        own = set(stratum.relations)
        needs = {rule.identity: _need(rule, of) for rule in stratum.rules}
        level = max(needs.values(), default=0)
        for rule in stratum.rules:
            found[rule.identity] = level if own.intersection(rule.reads) else needs[rule.identity]
        of.update(dict.fromkeys(stratum.relations, level))
    return found


def _need(rule: Rule, of: Mapping[str, int]) -> int:
    least = 0
    for relation, negated, aggregated in zip(rule.reads, rule.negated, rule.aggregated, strict=True):
        least = max(least, of.get(relation, STORED) + negated, aggregated)
    return least


class Codes(Protocol):
    """What numbers constants."""

    def code(self, value: Value, type: Type, /) -> int:
        """Return the code of a value."""


class Translator:
    """Makes clauses; `tag` names relations for the interpreter."""

    def __init__(self, codec: Codes, tag: Callable[[str], str]) -> None:
        self._codec = codec
        self._tag = tag

    def rule(self, rule: Rule, level: int, key: str) -> Clause | Gather:
        """Return a rule as a clause; its parts are known by `key`."""
        tree = rule.full.tree
        nodes = spine(tree)
        if isinstance(nodes[0], Aggregate):
            return self._gather(rule, nodes[0], tree, level, key)
        steps: list[Step] = []
        atom: Atom | None = None
        parts: list[Part] = []
        kept: tuple[str, ...] = ()
        for number, node in enumerate(nodes):
            found = self._atom(node)
            if found is not None or isinstance(node, Project):
                if atom is not None or parts:
                    steps.append(Step(atom, tuple(parts), kept))
                atom, parts = found, []
            part = _part(node, f"{key}|{number}")
            parts += [part] if part is not None else []
            kept = tuple(variable.name for variable in node.columns)
        return Clause(level, tuple(steps), self._tag(rule.head), self._head(tree, key))

    def _atom(self, node: Node) -> Atom | None:
        match node:
            case Scan():
                return self._positive(node)
            case Join(right=Scan() as scan) | Product(right=Scan() as scan):
                return self._positive(scan)
            case AntiJoin(right=scan):
                return Atom(self._tag(scan.relation), self._terms(scan), negated=True)
            case Join() | Product():
                raise AssertionError("an aggregate is the whole body of its rule")
            case Unit() | Select() | Extend() | Unnest() | Aggregate() | Project():
                return None
            case _:
                assert_never(node)

    def _positive(self, scan: Scan) -> Atom:
        return Atom(self._tag(scan.relation), self._terms(scan))

    def _terms(self, scan: Scan) -> tuple[Term, ...]:
        found: list[Term] = []
        for term in scan.terms:
            match term:
                case Var(name):
                    found.append(name)
                case Const(value, type):
                    found.append(self._codec.code(value, type))
                case None:
                    found.append(None)
                case _:
                    assert_never(term)
        return tuple(found)

    def _head(self, tree: Project, key: str) -> tuple[Term | Made, ...]:
        found: list[Term | Made] = []
        for number, expression in enumerate(tree.expressions):
            match expression:
                case Var(name):
                    found.append(name)
                case Const(value, type):
                    found.append(self._codec.code(value, type))
                case _:
                    found.append(Made(f"{key}|head {number}", expression))
        return tuple(found)

    def _gather(self, rule: Rule, node: Aggregate, tree: Project, level: int, key: str) -> Gather:
        names = [term.name if isinstance(term, Var) else None for term in node.input.terms]
        positions = tuple(names.index(variable.name) for variable in node.keys)
        head = self._tag(rule.head)
        return Gather(key, level, self._tag(node.input.relation), positions, head, self._head(tree, key), node)


def _part(node: Node, key: str) -> Part | None:
    match node:
        case Select(condition=condition):
            return Where(key, condition)
        case Extend(variable=variable, expression=expression):
            return Let(key, variable.name, expression)
        case Unnest(variable=variable, expression=expression):
            return Each(key, variable.name, variable.type, expression)
        case _:
            return None


def refuse_side_effects(rule: Rule, functions: Mapping[str, Function]) -> None:
    """Raise a `UserError` if a rule calls a function that has side effects.

    A derivation is taken away by computing it again: a function must then give what it gave.
    """
    for node in spine(rule.full.tree):
        for expression in _expressions(node):
            called = _impure(expression, functions, set())
            if called is not None:
                raise UserError(
                    f"the strategy `dbsp` cannot follow the rule {rule.origin.quoted}, which calls"
                    f" `{called}`: that function has side effects, and dbsp takes a derivation away by computing it"
                    " again; use another strategy, such as `ranked`"
                )


def _expressions(node: Node) -> tuple[Expr, ...]:
    match node:
        case Select(condition=expression) | Extend(expression=expression) | Unnest(expression=expression):
            return (expression,)
        case Project(expressions=expressions):
            return expressions
        case Aggregate(value=value, reduce=reduce):
            return value, reduce
        case _:
            return ()


def _impure(expression: Expr, functions: Mapping[str, Function], seen: set[str]) -> str | None:
    for part in subexpressions(expression):
        match part:
            case Call(function=name) | FunctionValue(function=name) if name in functions and name not in seen:
                seen.add(name)
                function = functions[name]
                if not function.pure:
                    return name
                inside = _impure(function.body, functions, seen) if function.body is not None else None
                if inside is not None:
                    return inside
            case _:
                pass
    return None
