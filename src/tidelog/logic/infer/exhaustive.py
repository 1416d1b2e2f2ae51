"""Whether patterns fit every value, and whether there is an arm that no value reaches.

Maranget, "Warnings for pattern matching" (JFP 2007): patterns are rows of a matrix, one column a component still to be
looked at. A `witness` is a vector of values that a row fits and the rows before it do not: an arm without one is never
reached (algorithm U), and one for the row of wildcards is what no arm covers (algorithm I), shown to the user. The
first column is taken apart by head constructor. References are looked through, since a reference is its content.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from tidelog.base import types
from tidelog.base.conform import bounds
from tidelog.base.expr import AnyPattern, ConstPattern, ConstructorPattern, Pattern, TuplePattern, VarPattern
from tidelog.base.record import record
from tidelog.base.span import Span
from tidelog.base.types import Bit, Bool, Constructor, Named, Signed, Tuple, Type, TypeDefinition
from tidelog.logic.infer.inference import Inference
from tidelog.logic.names.environment import Environment
from tidelog.logic.names.unify import ERROR

_ANY = AnyPattern()
_ENUMERABLE_BITS = 8

Row = tuple[Pattern, ...]


@record
class _Head:
    """A way to make a value of a type: a constructor, the tuple, or a constant; `parts` are the types inside."""

    key: Any
    parts: tuple[Type, ...]
    open: str
    close: str = ""

    def show(self, inside: Sequence[str]) -> str:
        return f"{self.open}{', '.join(inside)}{self.close}" if self.close else self.open


def check_exhaustive(
    inference: Inference,
    construct: Literal["match", "for", "var"],
    type: Type,
    patterns: Sequence[tuple[Pattern, Span]],
    span: Span,
) -> None:
    """Report values of a type that no pattern of a construct fits, and warn of patterns that fit no value."""
    subject = inference.types.zonk(type)
    if _has_error(subject):
        return
    matcher = _Matcher(inference.environment)
    column = (subject,)
    rows: list[Row] = []
    for pattern, place in patterns:
        row = (_plain(pattern),)
        if rows and matcher.witness(rows, row, column) is None:
            inference.report.add(
                "W0301",
                "this arm is never reached",
                place,
                note="the arms before it fit everything that it fits",
                severity="warning",
            )
        rows.append(row)
    witness = matcher.witness(rows, (_ANY,), column)
    if witness is None:
        return
    note, hint = _EXPECTED[construct]
    inference.report.add("E0318", f"not covered: `{witness[0]}`", span, note=note, hint=hint)


_EXPECTED = {
    "match": ("a `match` has an arm for every value", "add an arm for it, or `_ -> ...`"),
    "for": ("a loop's pattern fits every element", "take it apart with `match`"),
    "var": ("`var` patterns fit every value", "take it apart with `match`"),
}


def _has_error(type: Type) -> bool:
    return type is ERROR or any(map(_has_error, types.parts(type)))


def _plain(pattern: Pattern) -> Pattern:
    """Return the pattern without the names it binds, at its head."""
    while isinstance(pattern, VarPattern):
        pattern = pattern.inner
    return pattern


class _Matcher:
    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def witness(self, rows: Sequence[Row], row: Row, column_types: tuple[Type, ...]) -> list[str] | None:
        """Return values, as text, that the row fits and none of the rows; None if there are none."""
        if not column_types:
            return None if rows else []
        first, rest = types.content(column_types[0]), column_types[1:]
        used = {_key(r[0]) for r in rows if not isinstance(r[0], AnyPattern)}
        heads = self.heads(first, used)
        if not isinstance(row[0], AnyPattern):
            taken = [self.head(row[0], first)]
        elif heads is not None and used and all(head.key in used for head in heads):
            taken = heads
        else:
            found = self.witness([r[1:] for r in rows if isinstance(r[0], AnyPattern)], row[1:], rest)
            if found is None:
                return None
            missing = next((h for h in heads or () if h.key not in used), None) if used else None
            return [missing.show(["_"] * len(missing.parts)) if missing else "_", *found]
        for head in taken:
            (inner,) = _specialise([row], head)
            found = self.witness(_specialise(rows, head), inner, head.parts + rest)
            if found is not None:
                arity = len(head.parts)
                return [head.show(found[:arity]), *found[arity:]]
        return None

    def heads(self, type: Type, used: set[Any]) -> list[_Head] | None:
        """Return all heads of a type, or None if they cannot be counted."""
        match type:
            case Bool():
                return [_Head(False, (), "false"), _Head(True, (), "true")]
            case Tuple(items):
                return [_Head("tuple", items, "(", ")")]
            case Named(name, arguments):
                definition = self.environment.definition(name)
                if not definition.constructors:
                    return None
                return [_constructor_head(c, definition, arguments) for c in definition.constructors]
            case Bit(width) | Signed(width) if width <= _ENUMERABLE_BITS and len(used) > 1:
                least, greatest = bounds(type)
                return [_Head(value, (), str(value)) for value in range(least, greatest + 1)]
            case _:
                return None

    def head(self, pattern: Pattern, type: Type) -> _Head:
        """Return the head of a pattern that is no wildcard."""
        key = _key(pattern)
        for head in self.heads(type, set()) or ():
            if head.key == key:
                return head
        parts: tuple[Type, ...] = ()
        if isinstance(pattern, TuplePattern | ConstructorPattern):
            parts = (ERROR,) * len(pattern.items)
        return _Head(key, parts, str(key))


def _constructor_head(constructor: Constructor, definition: TypeDefinition, arguments: Sequence[Type]) -> _Head:
    plain = constructor.name.removeprefix("std::")
    parts = types.field_types(constructor, definition, arguments)
    return _Head(constructor.name, parts, f"{plain}{{" if parts else plain, "}" if parts else "")


def _key(pattern: Pattern) -> Any:
    match pattern:
        case ConstPattern(value, _):
            return value
        case TuplePattern():
            return "tuple"
        case ConstructorPattern(constructor, _):
            return constructor.name
        case _:
            raise AssertionError(pattern)


def _specialise(rows: Sequence[Row], head: _Head) -> list[Row]:
    """Return what rows say about the parts of values that the head makes (S of the paper)."""
    wildcards = (_ANY,) * len(head.parts)
    specialised: list[Row] = []
    for first, *rest in rows:
        match first:
            case AnyPattern():
                specialised.append((*wildcards, *rest))
            case TuplePattern(items):
                specialised.append((*map(_plain, items), *rest))
            case ConstructorPattern(constructor, items) if constructor.name == head.key:
                specialised.append((*map(_plain, items), *rest))
            case ConstPattern(value, _) if value == head.key:
                specialised.append(tuple(rest))
            case _:
                pass
    return specialised
