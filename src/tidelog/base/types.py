"""The types of the language, fully resolved: aliases are gone, names are qualified by their module.

`Named` covers structs, tagged unions and the library's opaque types (`std::Vec`, `std::Set`, `std::Map`,
`std::Group`); what a name means is in a `TypeDefinition`. `TypeVariable` occurs in generic definitions and, with a
leading `?`, as the checker's unknowns; a program that passed the checker has neither in its relations and rules.

A type knows how large it is, counted as if nothing in it were shared, and none is made with more than `LARGEST` parts:
pairs of pairs of pairs would double with each level, and whoever walks through types walks through all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from tidelog.base.record import record
from tidelog.base.span import NOWHERE, Span

LARGEST = 4096
"""A type has no more parts: far more than one that is written by hand."""


class TypeSizeError(Exception):
    """A type would have more than `LARGEST` parts; the checker says where."""


def _size(parts: Iterable[Type]) -> int:
    total = 1
    for part in parts:
        total += part.size
    if total > LARGEST:
        raise TypeSizeError
    return total


@record
class Bool:
    """Truth values."""

    size: ClassVar[int] = 1


@record
class String:
    """Unicode text."""

    size: ClassVar[int] = 1


@record
class BigInt:
    """Integers without bound."""

    size: ClassVar[int] = 1


@record
class Bit:
    """Unsigned integers of `width` bits; arithmetic wraps modulo 2**width."""

    size: ClassVar[int] = 1
    width: int


@record
class Signed:
    """Two's complement integers of `width` bits; arithmetic wraps."""

    size: ClassVar[int] = 1
    width: int


@record
class Float:
    """IEEE 754 binary32; equal to itself when NaN, which is the greatest."""

    size: ClassVar[int] = 1


@record
class Double:
    """IEEE 754 binary64; equal to itself when NaN, which is the greatest."""

    size: ClassVar[int] = 1


@record
class Tuple:
    """Tuples; the empty one is the unit type."""

    items: tuple[Type, ...]
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", _size(self.items))


@record
class Named:
    """A struct, tagged union or opaque type, applied to its arguments."""

    name: str
    arguments: tuple[Type, ...] = ()
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", _size(self.arguments) if self.arguments else 1)


@record
class Function:
    """A function value; `mutable[i]` says that argument i is written back."""

    parameters: tuple[Type, ...]
    result: Type
    mutable: tuple[bool, ...]
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", _size((*self.parameters, self.result)))


@record
class TypeVariable:
    """A parameter of a generic definition, without its tick."""

    size: ClassVar[int] = 1
    name: str


Type = Bool | String | BigInt | Bit | Signed | Float | Double | Tuple | Named | Function | TypeVariable

BOOL, STRING, BIGINT, FLOAT, DOUBLE = Bool(), String(), BigInt(), Float(), Double()
UNIT = Tuple(())
USIZE = Bit(64)

VEC, SET, MAP, GROUP = "std::Vec", "std::Set", "std::Map", "std::Group"
REF, INTERN, ANY = "std::Ref", "std::Intern", "std::Any"


@record
class Field:
    """A named field of a constructor or a column of a relation; `json` is its name in JSON if that is another one.

    Its `form` in JSON is `flat`, if its own fields stand in its place, or `text`, if it stands there in quotes.
    """

    name: str
    type: Type
    json: str = field(default="", compare=False, repr=False)
    form: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True)
class Constructor:
    """One alternative of a struct or union: `position` orders values, `fields` are in declaration order.

    `json` is its name in JSON if that is another one, `tag` the key there under which an object has the name.
    """

    name: str
    type_name: str
    position: int
    fields: tuple[Field, ...]
    json: str = field(default="", compare=False, repr=False)
    tag: str = field(default="", compare=False, repr=False)

    @cached_property
    def index(self) -> dict[str, int]:
        """Position of each field by name."""
        return {field.name: i for i, field in enumerate(self.fields)}


@dataclass(frozen=True)
class TypeDefinition:
    """What a `Named` type means. An opaque (extern or library) type has no constructors."""

    name: str
    parameters: tuple[str, ...]
    constructors: tuple[Constructor, ...]
    span: Span = NOWHERE


def is_integer(type: Type) -> bool:
    """Tell whether values of the type are integers of any width."""
    return isinstance(type, BigInt | Bit | Signed)


def is_number(type: Type) -> bool:
    """Tell whether values of the type are integers or floating point."""
    return isinstance(type, BigInt | Bit | Signed | Float | Double)


def is_simple(type: Type) -> bool:
    """Tell whether the values of a type are text, or take at most 64 bits: Arrow and Spark hold them as they are."""
    match type:
        case Bool() | String() | Float() | Double():
            return True
        case Bit(width) | Signed(width):
            return width <= 64
        case _:
            return False


def parts(type: Type) -> tuple[Type, ...]:
    """Return the types that a type is made of."""
    match type:
        case Tuple(inner) | Named(_, inner):
            return inner
        case Function(parameters, result):
            return (*parameters, result)
        case _:
            return ()


def with_parts(type: Type, change: Callable[[Type], Type]) -> Type:
    """Return the type with each of its parts changed."""
    match type:
        case Tuple(items) if items:
            return Tuple(tuple([change(item) for item in items]))
        case Named(name, arguments) if arguments:
            return Named(name, tuple([change(argument) for argument in arguments]))
        case Function(parameters, result, mutable):
            return Function(tuple([change(parameter) for parameter in parameters]), change(result), mutable)
        case _:
            return type


def same_form(a: Type, b: Type) -> bool:
    """Tell whether two types differ at most in their parts, of which they have equally many.

    >>> same_form(Tuple((BOOL,)), Tuple((STRING,))), same_form(Tuple((BOOL,)), UNIT), same_form(BOOL, STRING)
    (True, False, False)
    """
    match a, b:
        case Tuple(items), Tuple(others):
            return len(items) == len(others)
        case Named(name, arguments), Named(other, others):
            return name == other and len(arguments) == len(others)
        case Function(parameters, _, mutable), Function(others, _, other_mutable):
            return len(parameters) == len(others) and mutable == other_mutable
        case _:
            return a == b


def content(type: Type) -> Type:
    """Return a type without the references and interning around it: a reference has the representation of its content.

    >>> content(Named(REF, (Named(INTERN, (STRING,)),)))
    String()
    """
    while isinstance(type, Named) and type.name in (REF, INTERN):
        type = type.arguments[0]
    return type


def substitute(type: Type, by: dict[str, Type]) -> Type:
    """Replace type variables by name.

    >>> substitute(Named("std::Vec", (TypeVariable("A"),)), {"A": BOOL})
    Named(name='std::Vec', arguments=(Bool(),))
    """
    return by.get(type.name, type) if isinstance(type, TypeVariable) else with_parts(type, lambda t: substitute(t, by))


def field_types(constructor: Constructor, definition: TypeDefinition, arguments: Iterable[Type]) -> tuple[Type, ...]:
    """Return the types of a constructor's fields, for its type applied to arguments."""
    by = dict(zip(definition.parameters, arguments, strict=True))
    return tuple([substitute(f.type, by) if by else f.type for f in constructor.fields])


def show(type: Type) -> str:
    """Write a type as the language does.

    >>> show(Named("std::Map", (STRING, Tuple((Bit(8), Signed(32))))))
    'Map<string, (bit<8>, signed<32>)>'
    """
    match type:
        case Bool() | String() | BigInt() | Float() | Double():
            return type.__class__.__name__.lower()
        case Bit(width):
            return f"bit<{width}>"
        case Signed(width):
            return f"signed<{width}>"
        case Tuple(items):
            return f"({', '.join(map(show, items))})"
        case Named(name, arguments):
            shown = name.removeprefix("std::")
            return f"{shown}<{', '.join(map(show, arguments))}>" if arguments else shown
        case Function(parameters, result, mutable):
            shown_parameters = (("mut " if m else "") + show(p) for p, m in zip(parameters, mutable, strict=True))
            return f"function({', '.join(shown_parameters)}): {show(result)}"
        case TypeVariable(name):
            return name if name.startswith("?") else f"'{name}"
