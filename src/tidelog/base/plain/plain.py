"""Values of the language as plain Python objects, and back: what rows, JSON and Arrow have in common.

| type | plain form |
| --- | --- |
| bool, string, integers | `bool`, `str`, `int` |
| float, double | `float` |
| tuple | `dict` with keys "0", "1", ...; a tuple or list is read too; the empty tuple is `None` |
| struct | `dict` by field |
| union | `dict` with the constructor's name under "tag", and its fields; the name alone if the type has no fields |
| Option<T> | `None` or the plain form of T, unless T itself may be `None`: then like any union |
| Vec, Set (in order) | `list` |
| Map (in order) | `list` of pairs; a `dict` is read too |
| Ref, Intern | what they refer to |
| rdf::Term | `str`, as N-Triples write it; terms of rdflib and pyoxigraph are read too |

Reading also takes the values of `base.values` themselves, numpy scalars, sets and decimals, and checks everything:
`Misfit` says where, what was expected and what was found. For every value v, read(write(v)) == v.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from tidelog.base import types
from tidelog.base.plain.read import (
    Read,
    integer_reader,
    items_reader,
    map_reader,
    option_reader,
    read_bool,
    read_string,
    real_reader,
    refuse,
    term_reader,
    tuple_reader,
    union_reader,
)
from tidelog.base.plain.write import (
    Write,
    is_enumeration,
    items_writer,
    map_writer,
    same,
    struct_writer,
    tag_name,
    tuple_writer,
    union_writer,
    write_name,
    write_unit,
)
from tidelog.base.text.terms import TERM
from tidelog.base.text.write import show_value
from tidelog.base.types import Constructor, Field, Named, Type, TypeDefinition, substitute
from tidelog.base.values import AnyValue, in_order

OPTION = "std::Option"


class Plain:
    """Readers and writers for the types of one program, made once each."""

    def __init__(self, definitions: Mapping[str, TypeDefinition]) -> None:
        self.definitions = definitions
        self._readers: dict[Type, Read] = {}
        self._writers: dict[Type, Write | None] = {}

    def constructors(self, type: Named) -> tuple[Constructor, ...]:
        """Return the constructors of a struct or union with the types of their fields filled in; none if opaque."""
        definition = self.definitions.get(type.name)
        if definition is None:
            return ()
        by = dict(zip(definition.parameters, type.arguments, strict=True))
        return tuple(
            Constructor(c.name, c.type_name, c.position, tuple(Field(f.name, substitute(f.type, by)) for f in c.fields))
            for c in definition.constructors
        )

    def nullable(self, type: Type) -> bool:
        """Tell whether None is the plain form of some value of the type."""
        match type:
            case types.Tuple(items):
                return not items
            case Named(types.REF | types.INTERN, (inner,)):
                return self.nullable(inner)
            case Named(name, (inner,)) if name == OPTION:
                return not self.nullable(inner)
            case _:
                return False

    def read(self, type: Type) -> Read:
        """Return a function that checks a plain (or proper) value and returns the proper one, or raises `Misfit`."""
        found = self._readers.get(type)
        if found is None:
            try:  # a recursive type finds this entry while its own reader is being made, and no interrupt leaves it
                self._readers[type] = lambda value: self.read(type)(value)  # noqa: PLW0108  (it is replaced)
                found = self._readers[type] = self._make_reader(type)
            except BaseException:
                self._readers.pop(type, None)
                raise
        return found

    def write(self, type: Type) -> Write | None:
        """Return a function from values to plain forms; None if they are the same."""
        if type not in self._writers:
            try:
                self._writers[type] = lambda value: (self.write(type) or same)(value)  # noqa: PLW0108  (it is replaced)
                self._writers[type] = self._make_writer(type)
            except BaseException:
                self._writers.pop(type, None)
                raise
        return self._writers[type]

    def _make_reader(self, type: Type) -> Read:
        match type:
            case types.Bool():
                return read_bool
            case types.String():
                return read_string
            case types.BigInt() | types.Bit() | types.Signed():
                return integer_reader(type)
            case types.Float() | types.Double():
                return real_reader(type)
            case types.Tuple(items):
                return tuple_reader(type, [self.read(item) for item in items])
            case Named(types.REF | types.INTERN, (inner,)):
                return self.read(inner)
            case Named(types.VEC, (inner,)):
                return items_reader(type, self.read(inner), tuple)
            case Named(types.SET, (inner,)):
                return items_reader(type, self.read(inner), frozenset)
            case Named(types.MAP, (key, value)):
                return map_reader(type, self.read(key), self.read(value))
            case Named():
                return self._named_reader(type)
            case types.Function() | types.TypeVariable():
                return refuse(type)
            case _:
                assert_never(type)

    def _named_reader(self, type: Named) -> Read:
        constructors = self.constructors(type)
        if type.name == types.ANY:
            return lambda value: value if isinstance(value, AnyValue) else refuse(type)(value)
        if not constructors:
            return same
        readers = [[(field.name, self.read(field.type)) for field in c.fields] for c in constructors]
        union = union_reader(type, constructors, readers)
        if type.name == TERM:
            return term_reader(type, self.definitions, union)
        if type.name == OPTION and not self.nullable(type.arguments[0]):
            return option_reader(union, constructors, self.read(type.arguments[0]))
        return union

    def _make_writer(self, type: Type) -> Write | None:
        match type:
            case types.Tuple(()):
                return write_unit
            case types.Tuple(items):
                return tuple_writer([self.write(item) or same for item in items])
            case Named(types.REF | types.INTERN, (inner,)):
                return self.write(inner)
            case Named(types.VEC, (inner,)):
                return items_writer(self.write(inner) or same, list)
            case Named(types.SET, (inner,)):
                return items_writer(self.write(inner) or same, in_order)
            case Named(types.MAP, (key, value)):
                return map_writer(self.write(key) or same, self.write(value) or same)
            case Named():
                return self._named_writer(type)
            case _:
                return None

    def _named_writer(self, type: Named) -> Write | None:
        constructors = self.constructors(type)
        if type.name == types.ANY:
            return lambda value: (self.write(value.type) or same)(value.value)
        if not constructors:
            return None
        if type.name == TERM:
            return lambda value: show_value(value, type, self.definitions)
        if is_enumeration(constructors):
            return write_name
        writers = [[(field.name, self.write(field.type) or same) for field in c.fields] for c in constructors]
        if type.name == OPTION and not self.nullable(type.arguments[0]):
            some = next(writer for fields in writers for _, writer in fields)
            return lambda value: some(value.fields[0]) if value.fields else None
        if len(constructors) == 1:
            return struct_writer(writers[0])
        return union_writer(tag_name(constructors), writers)
