"""Whether patterns fit every value, and whether there is an arm that no value reaches.

Maranget, "Warnings for pattern matching" (JFP 2007): patterns are rows of a matrix, one column a component still to be
looked at. `_uncovered` returns a vector of values that no row fits (algorithm I), shown to the user as a witness;
`_useful` tells whether a row fits something that the rows before it do not. Both take the first column apart by head
constructor. References are looked through, since a reference is its content.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tidelog.base import types
from tidelog.base.conform import bounds
from tidelog.base.expr import AnyPattern, ConstPattern, ConstructorPattern, Pattern, TuplePattern, VarPattern
from tidelog.base.record import record
from tidelog.base.types import Bit, Bool, Named, Signed, Tuple, Type
from tidelog.logic.infer.cover import Cover
from tidelog.logic.names.environment import Environment
from tidelog.logic.names.unify import ERROR

if TYPE_CHECKING:
    from tidelog.logic.infer.infer import Inference

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


def check_exhaustive(inference: Inference, cover: Cover) -> None:
    """Report values that no pattern fits, and warn of patterns that fit no value."""
    subject = inference.types.zonk(cover.type)
    if _has_error(subject):
        return
    matcher = _Matcher(inference.environment)
    column = (subject,)
    rows: list[Row] = []
    for pattern, span in zip(cover.patterns, cover.spans, strict=True):
        row = (_plain(pattern),)
        if rows and not matcher.useful(rows, row, column):
            inference.report.add(
                "W0301",
                "this arm is never reached",
                span,
                note="the arms before it fit everything that it fits",
                severity="warning",
            )
        rows.append(row)
    witness = matcher.uncovered(rows, column)
    if witness is None:
        return
    if cover.what == "match":
        inference.report.add(
            "E0318",
            f"not covered: `{witness[0]}`",
            cover.span,
            note="a `match` has an arm for every value",
            hint="add an arm for it, or `_ -> ...`",
        )
        return
    note = "a loop's pattern fits every element" if cover.what == "for" else "`var` patterns fit every value"
    inference.report.add(
        "E0318", f"not covered: `{witness[0]}`", cover.span, note=note, hint="take it apart with `match`"
    )


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

    def uncovered(self, rows: Sequence[Row], column_types: tuple[Type, ...]) -> list[str] | None:
        """Return values, as text, that no row fits; None if there are none."""
        if not column_types:
            return None if rows else []
        first, rest = types.content(column_types[0]), column_types[1:]
        used = {_key(row[0]) for row in rows if not isinstance(row[0], AnyPattern)}
        heads = self.heads(first, used)
        if heads is not None and used and all(head.key in used for head in heads):
            for head in heads:
                found = self.uncovered(_specialise(rows, head), head.parts + rest)
                if found is not None:
                    arity = len(head.parts)
                    return [head.show(found[:arity]), *found[arity:]]
            return None
        found = self.uncovered([row[1:] for row in rows if isinstance(row[0], AnyPattern)], rest)
        if found is None:
            return None
        missing = next((h for h in heads or () if h.key not in used), None) if used else None
        return [missing.show(["_"] * len(missing.parts)) if missing else "_", *found]

    def useful(self, rows: Sequence[Row], row: Row, column_types: tuple[Type, ...]) -> bool:
        """Tell whether the row fits something that none of the rows fits."""
        if not column_types:
            return not rows
        first, rest = types.content(column_types[0]), column_types[1:]
        if not isinstance(row[0], AnyPattern):
            head = self.head(row[0], first)
            (inner,) = _specialise([row], head)
            return self.useful(_specialise(rows, head), inner, head.parts + rest)
        used = {_key(r[0]) for r in rows if not isinstance(r[0], AnyPattern)}
        heads = self.heads(first, used)
        if heads is not None and used and all(head.key in used for head in heads):
            return any(
                self.useful(_specialise(rows, head), _specialise([row], head)[0], head.parts + rest) for head in heads
            )
        return self.useful([r[1:] for r in rows if isinstance(r[0], AnyPattern)], row[1:], rest)

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
                by = dict(zip(definition.parameters, arguments, strict=True))
                return [_constructor_head(c, by) for c in definition.constructors]
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


def _constructor_head(constructor: types.Constructor, by: dict[str, Type]) -> _Head:
    plain = constructor.name.removeprefix("std::")
    parts = tuple([types.substitute(f.type, by) for f in constructor.fields])
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
