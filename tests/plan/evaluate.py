"""Algebra evaluated the obvious way, as the yardstick for every rewrite of a tree: rows are dicts, results are bags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import add, eq, floordiv, ge, gt, le, lt, mod, mul, ne, sub
from typing import Any, assert_never

from tidelog.base.expr import Call, Const, Expr, Operate, Var
from tidelog.plan.nodes import (
    Aggregate,
    AntiJoin,
    Extend,
    Join,
    Node,
    Product,
    Project,
    Scan,
    Select,
    Unit,
    Unnest,
    Version,
)

Row = dict[str, Any]
Tuples = Mapping[str, Sequence[tuple[int, ...]]]
Read = Callable[[Scan], Sequence[tuple[int, ...]]]


def derivations(tree: Project, facts: Tuples) -> Counter[tuple[int, ...]]:
    """Return the bag of head tuples that a tree derives from the facts, whatever version its scans say."""
    return evaluate(tree, lambda scan: facts.get(scan.relation, ()))


def evaluate(tree: Project, read: Read) -> Counter[tuple[int, ...]]:
    """Return the bag of head tuples that a tree derives."""
    return Counter(tuple(value(e, row) for e in tree.expressions) for row in rows(tree.input, read))


def versions(old: Tuples, delta: Tuples, new: Tuples) -> Read:
    """Return how scans read when relations change from old to new by the delta."""
    states = {Version.ALL: new, Version.OLD: old, Version.DELTA: delta, Version.NEW: new, Version.PART: delta}
    return lambda scan: states[scan.version].get(scan.relation, ())


def rows(node: Node, read: Read) -> Iterator[Row]:
    """The rows of a node; each has exactly the node's columns."""
    for row in _rows(node, read):
        assert set(row) >= {column.name for column in node.columns}, (node, row)
        yield {column.name: row[column.name] for column in node.columns}


def _rows(node: Node, read: Read) -> Iterator[Row]:
    match node:
        case Unit():
            yield {}
        case Scan(version=Version.PART):
            for key in {tuple(row.items()) for values in read(node) if (row := _match(node, values)) is not None}:
                yield dict(key)
        case Scan():
            for values in read(node):
                if (row := _match(node, values)) is not None:
                    yield row
        case Select(inner, condition):
            yield from (row for row in rows(inner, read) if value(condition, row))
        case Extend(inner, variable, expression):
            yield from ({**row, variable.name: value(expression, row)} for row in rows(inner, read))
        case Unnest(inner, variable, expression):
            for row in rows(inner, read):
                yield from ({**row, variable.name: element} for element in value(expression, row))
        case Product(left, right):
            others = list(rows(right, read))
            assert not {v.name for v in left.columns} & {v.name for v in right.columns}
            yield from ({**row, **other} for row in rows(left, read) for other in others)
        case Join(left, right, keys):
            others = list(rows(right, read))
            names = [v.name for v in keys]
            assert set(names) == {v.name for v in left.columns} & {v.name for v in right.columns}
            for row in rows(left, read):
                yield from ({**row, **other} for other in others if all(row[k] == other[k] for k in names))
        case AntiJoin(left, right, keys):
            others = list(rows(right, read))
            for row in rows(left, read):
                if not any(all(row[k.name] == other[k.name] for k in keys) for other in others):
                    yield row
        case Aggregate():
            yield from _groups(node, read)
        case Project():
            raise AssertionError(node)
        case _:
            assert_never(node)


def _match(scan: Scan, values: tuple[int, ...]) -> Row | None:
    row: Row = {}
    for term, found in zip(scan.terms, values, strict=True):
        match term:
            case None:
                pass
            case Const(constant):
                if constant != found:
                    return None
            case Var(name):
                if row.setdefault(name, found) != found:
                    return None
    return row


def _groups(node: Aggregate, read: Read) -> Iterator[Row]:
    groups: dict[tuple[int, ...], list[int]] = {}
    for row in rows(node.input, read):
        groups.setdefault(tuple(row[k.name] for k in node.keys), []).append(value(node.value, row))
    for key, members in groups.items():
        row = {k.name: v for k, v in zip(node.keys, key, strict=True)}
        yield {**row, node.result.name: value(node.reduce, {**row, node.group.name: members})}


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "and": lambda a, b: a and b, "==": eq, "!=": ne, "<": lt, ">": gt, "<=": le, ">=": ge,
    "+": add, "-": sub, "*": mul, "/": floordiv, "%": mod,
}  # fmt: skip

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "f": lambda *values: (sum(values) % 4, sum(values) % 3, 1),
    "g": lambda *values: (2 * sum(values) + 1) % 5,
    "sum": sum,
    "count": len,
    "min": min,
}


def value(expression: Expr, row: Row) -> Any:
    """The value of an expression of the small notation; `f` is a collection, `g` an integer function."""
    match expression:
        case Const(constant):
            return constant
        case Var(name):
            return row[name]
        case Operate(operator, (left, right)):
            a = value(left, row)
            if operator == "and" and not a:
                return False
            return _OPERATORS[operator](a, value(right, row))
        case Call(function, arguments):
            values = [value(a, row) for a in arguments]
            return _FUNCTIONS[function](*values)
        case _:
            raise AssertionError(expression)
