"""An oracle that shares nothing with Tidelog but the representation of values: brute force over specs.

Every clause is tried on every tuple; strata are repeated until nothing is new. Small programs only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tidelog.base.values import Variant
from tidelog.session.soak.spec import (
    NUMBERS,
    Atom,
    C,
    Clause,
    Compare,
    Compute,
    Either,
    GroupBy,
    Kind,
    Program,
    Row,
    Rule,
    SomeOf,
    Spread,
    Sum,
    Term,
    Unpack,
    V,
    Wild,
    variables_of,
)

Binding = dict[str, Any]
Facts = dict[str, set[Row]]


class TooBigError(Exception):
    """More tuples were tried than brute force should."""


class Patience:
    """Counts tuples tried."""

    def __init__(self, tries: int) -> None:
        self.tries = tries

    def try_one(self) -> None:
        """Count one, and give up after too many."""
        self.tries -= 1
        if self.tries < 0:
            raise TooBigError


def brute_force(program: Program, tries: int = 300_000) -> dict[str, frozenset[Row]]:
    """Return every relation of the program."""
    patience = Patience(tries)
    facts: Facts = {r.name: set(program.facts.get(r.name, ())) for r in program.relations}
    stratum_of = {r.name: r.stratum for r in program.relations}
    for stratum in sorted(set(stratum_of.values())):
        saturate([rule for rule in program.rules if stratum_of[rule.heads[0].relation] == stratum], facts, patience)
    return {name: frozenset(rows) for name, rows in facts.items()}


def saturate(rules: Sequence[Rule], facts: Facts, patience: Patience) -> None:
    """Add what the rules of a stratum derive, until nothing is new."""
    new = bool(rules)
    while new:
        found = [(head.relation, row) for rule in rules for head, row in consequences(rule, facts, patience)]
        new = any(row not in facts[relation] for relation, row in found)
        for relation, row in found:
            facts[relation].add(row)


def consequences(rule: Rule, facts: Facts, patience: Patience) -> Iterator[tuple[Atom, Row]]:
    """The tuples that a rule derives from facts."""
    for binding in list(solutions(rule.body, facts, patience)):
        for head in rule.heads:
            yield head, tuple(value_of(term, binding) for term in head.terms)


def solutions(body: Sequence[Clause], facts: Facts, patience: Patience) -> Iterator[Binding]:
    """A binding for every derivation of a body."""
    found: list[Binding] = [{}]
    for clause in body:
        if isinstance(clause, GroupBy):
            found = grouped(clause, found)
        else:
            found = [longer for binding in found for longer in extended(clause, binding, facts, patience)]
    yield from found


def extended(clause: Clause, binding: Binding, facts: Facts, patience: Patience) -> Iterator[Binding]:
    """The ways in which a clause holds with a binding."""
    match clause:
        case Atom(relation, terms, True):
            if not any(fitted(terms, row, binding) is not None for row in facts[relation]):
                yield binding
        case Atom(relation, terms):
            for row in facts[relation]:
                patience.try_one()
                longer = fitted(terms, row, binding)
                if longer is not None:
                    yield longer
        case Compare(operator, left, right):
            if compare(operator, value_of(left, binding), value_of(right, binding)):
                yield binding
        case Compute(variable, function, arguments):
            yield {**binding, variable.name: compute(function, [value_of(a, binding) for a in arguments])}
        case Unpack(pattern, value):
            longer = fitted((pattern,), (binding[value.name],), binding)
            if longer is not None:
                yield longer
        case Spread(variable, items):
            distinct = {value_of(item, binding) for item in items}  # equal elements are one derivation
            yield from ({**binding, variable.name: value} for value in distinct)
        case Either(alternatives):
            for body in alternatives:
                ways = [binding]
                for atom in body:
                    ways = [longer for way in ways for longer in extended(atom, way, facts, patience)]
                yield from ways
        case GroupBy():
            raise AssertionError("a group needs all bindings")


def fitted(terms: Sequence[Term], row: Row, binding: Binding) -> Binding | None:
    """Match terms with a tuple."""
    result = binding
    for term, value in zip(terms, row, strict=True):
        if isinstance(term, V):  # first, and copied only for a new variable: a sixth of a soak's time is here
            if term.name not in result:
                result = {**result, term.name: value}
            elif result[term.name] != value:
                return None
        elif isinstance(term, C | Sum):
            if value_of(term, binding) != value:
                return None
        elif not isinstance(term, Wild):
            inner, parts = variables_of(term), value.fields if isinstance(term, SomeOf) else value
            inside = fitted(inner, parts, result) if parts else None
            if inside is None:
                return None
            result = inside
    return result


def value_of(term: Term, binding: Binding) -> Any:
    """The value of a variable, constant or constructed term."""
    match term:
        case C(value):
            return value
        case V(name):
            return binding[name]
        case Sum(variable, addend):
            return (binding[variable.name] + addend) % len(NUMBERS)
        case _:
            raise AssertionError(f"{term} has no value")


def compare(operator: str, a: Any, b: Any) -> bool:
    """Compare two values of one kind."""
    if operator in {"==", "!="}:
        return bool(a == b) == (operator == "==")
    x, y = rank(a), rank(b)
    return bool({"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[operator])


def rank(value: Any) -> Any:
    """Something that Python orders as the language orders the value."""
    return (value.position, value.fields) if isinstance(value, Variant) else value


def compute(function: str, a: list[Any]) -> Any:
    """Apply a function of `Compute`."""
    match function:
        case "plus":
            return (a[0] + a[1]) % len(NUMBERS)
        case "least":
            return a[0] if rank(a[0]) <= rank(a[1]) else a[1]
        case "wrap":
            return Variant("std::Some", 1, (a[0],))
        case "pack":
            return (a[0], a[1])
        case "unwrap":
            return a[0].fields[0] if a[0].fields else 0
        case _:
            return (a[0] + a[1])[:1]


def grouped(clause: GroupBy, bindings: list[Binding]) -> list[Binding]:
    """One binding a group."""
    groups: dict[Row, list[Any]] = {}
    for binding in bindings:
        key = tuple(binding[k.name] for k in clause.keys)
        groups.setdefault(key, []).append(value_of(clause.value, binding))
    names = [k.name for k in clause.keys]
    return [
        {
            **dict(zip(names, key, strict=True)),
            clause.variable.name: aggregate(clause.aggregate, values, clause.value.kind),
        }
        for key, values in groups.items()
    ]


def aggregate(name: str, values: list[Any], kind: Kind) -> Any:
    """Reduce the values of a group's derivations."""
    match name:
        case "count":
            return len(values) % 256
        case "count_distinct":
            return len(set(values)) % 256
        case "sum":
            return sum(values) if kind == "big" else sum(values) % 256
        case "min" | "first":
            return min(values, key=rank)
        case "max":
            return max(values, key=rank)
        case "any":
            return any(values)
        case "all":
            return all(values)
        case _:
            raise AssertionError(name)
