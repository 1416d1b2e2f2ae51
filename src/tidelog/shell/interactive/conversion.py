"""Records of commands as values of a type, and as changes of values.

`modify` patches: fields that are not named stay; in a set every given element is toggled; in a map a given key is
inserted, patched, or with `()` removed; everything else is replaced. Constructors are named as the program does, those
of the library also as DDlog does (`ddlog_std::Some`), and `_` is the constructor a value has already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import assert_never

from tidelog.base.conform import bounds, fields_of
from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import DataError
from tidelog.base.text.integers import show_integer
from tidelog.base.types import (
    GROUP,
    INTERN,
    MAP,
    REF,
    SET,
    VEC,
    BigInt,
    Bit,
    Bool,
    Constructor,
    Double,
    Field,
    Float,
    Function,
    Named,
    Signed,
    String,
    Tuple,
    Type,
    TypeDefinition,
    TypeVariable,
    content,
    show,
)
from tidelog.base.values import FrozenMap, Value, Variant, real, single
from tidelog.session.formats.notation import value_of_json, value_of_text
from tidelog.shell.interactive.records import Items, Record, Serialized, Struct

DDLOG_STD, STD = "ddlog_std::", "std::"
LONGEST = 60
"""How many digits of a number a message shows."""
_UNIT = Items((), array=False)


class Converter:
    """Makes values of the types of one program."""

    def __init__(self, types: Mapping[str, TypeDefinition]) -> None:
        self._types = types

    # --- values ------------------------------------------------------------------------------------------------------

    def value(self, record: Record, type: Type) -> Value:
        """Return the value that a record stands for; `DataError` says what was expected instead."""
        if isinstance(record, Serialized):
            return self._serialized(record, type)
        match type:
            case Bool():
                if isinstance(record, bool):
                    return record
            case String():
                if isinstance(record, str):
                    return record
            case BigInt() | Bit() | Signed():
                if isinstance(record, int) and not isinstance(record, bool):
                    return _in_bounds(record, type)
            case Float() | Double():
                if isinstance(record, int | float) and not isinstance(record, bool):
                    return single(record) if isinstance(type, Float) else real(record)
            case Tuple(items):
                if isinstance(record, Items) and not record.array and len(record.items) == len(items):
                    return tuple(map(self.value, record.items, items))
            case Named():
                return self._named(record, type)
            case Function() | TypeVariable():
                pass
            case _:
                assert_never(type)
        raise _misfit(record, type)

    def fields(self, record: Struct, of: str, fields: Sequence[Field]) -> tuple[Value, ...]:
        """Return the values of all fields of a constructor or relation."""
        given = self._by_name(record, of, fields)
        missing = [field.name for field in fields if field.name not in given]
        if missing:
            raise DataError(f"field {missing[0]} of {of} is missing")
        return tuple(self.value(given[field.name], field.type) for field in fields)

    def _named(self, record: Record, type: Named) -> Value:
        match type:
            case Named(name, (inner,)) if name in {REF, INTERN}:
                return self.value(record, inner)
            case Named(name, (item,)) if name in {VEC, SET} and isinstance(record, Items) and record.array:
                return (tuple if name == VEC else frozenset)([self.value(x, item) for x in record.items])
            case Named(name, (key, item)) if name == MAP and isinstance(record, Items) and record.array:
                return FrozenMap((self.value(k, key), self.value(x, item)) for k, x in _pairs(record, type))
            case Named(name) if name not in {VEC, SET, MAP, GROUP} and isinstance(record, Struct):
                constructor = self._constructor(record, type)
                values = self.fields(record, constructor.name, self._fields(type, constructor))
                return Variant(constructor.name, constructor.position, values)
            case _ if isinstance(record, str) and (value := value_of_text(record, type)) is not None:
                return value
            case _:
                raise _misfit(record, type)

    def _serialized(self, record: Serialized, type: Type) -> Value:
        if record.notation != "json":
            raise DataError(f"there is no notation `{record.notation}`; there is `json`")
        return value_of_json(record.text, type, self._types)

    def _constructor(self, record: Struct, type: Named) -> Constructor:
        definition = self._types.get(type.name)
        constructors = {c.name: c for c in definition.constructors} if definition is not None else {}
        name = STD + record.name.removeprefix(DDLOG_STD) if record.name.startswith(DDLOG_STD) else record.name
        found = constructors.get(name) or constructors.get(STD + name)
        if found is None and name == "_" and len(constructors) == 1:
            (found,) = constructors.values()
        if found is None:
            known = [c.removeprefix(STD) for c in constructors]
            hint = did_you_mean(record.name, known)
            raise DataError(
                f"expected a {show(type)} ({', '.join(known)}), found {record.name}{'; ' if hint else ''}{hint or ''}"
            )
        return found

    def _fields(self, type: Named, constructor: Constructor) -> list[Field]:
        inner = fields_of(type, constructor, self._types)
        return [Field(field.name, kind) for field, kind in zip(constructor.fields, inner, strict=True)]

    @staticmethod
    def _by_name(record: Struct, of: str, fields: Sequence[Field]) -> dict[str, Record]:
        """Return what a record gives for each field that it mentions."""
        known = [field.name for field in fields]
        if record.names is None:
            if len(record.fields) != len(fields):
                raise DataError(
                    f"{of} has {len(fields)} fields ({', '.join(known)}), but {len(record.fields)} are given"
                )
            return dict(zip(known, record.fields, strict=True))
        for name in record.names:
            if name not in known or record.names.count(name) > 1:
                hint = did_you_mean(name, known) or ("it is given twice" if name in known else "")
                raise DataError(f"{of} has no field {name}{'; ' if hint else ''}{hint}")
        return dict(zip(record.names, record.fields, strict=True))

    def row(self, record: Record, columns: Sequence[Field], element: Type) -> tuple[Value, ...]:
        """Return the row of a relation whose elements have a type: its fields if that is a struct, else itself."""
        value = self.value(record, element)
        named = content(element)
        struct = (
            isinstance(value, Variant) and isinstance(named, Named) and len(self._types[named.name].constructors) == 1
        )
        return tuple(value.fields) if struct else (value,)

    # --- changes -----------------------------------------------------------------------------------------------------

    def patched(self, old: Value, record: Record, type: Type) -> Value:
        """Return a value after the change that a record describes."""
        match type, record:
            case Named(name, (inner,)), _ if name in {REF, INTERN}:
                return self.patched(old, record, inner)
            case Named(name), Items() if name == SET:
                return old ^ self.value(record, type)
            case Named(name), Items() if name == MAP:
                return self._patched_map(old, record, type)
            case Named(name), Struct() if name not in {VEC, SET, MAP, GROUP}:
                return self._patched_struct(old, record, type)
            case Tuple(items), Items() if not record.array and len(record.items) == len(items):
                return tuple(map(self.patched, old, record.items, items))
            case _:
                return self.value(record, type)

    def changes(self, record: Struct, of: str, fields: Sequence[Field]) -> dict[str, Callable[[Value], Value]]:
        """Return for every field that a record mentions the function from its old to its new value."""
        given = self._by_name(record, of, fields)
        return {field.name: self._change(given[field.name], field.type) for field in fields if field.name in given}

    def _change(self, record: Record, type: Type) -> Callable[[Value], Value]:
        return lambda old: self.patched(old, record, type)

    def _patched_struct(self, old: Variant, record: Struct, type: Named) -> Variant:
        if record.name == "_":
            constructor = self._types[type.name].constructors[old.position]
        else:
            constructor = self._constructor(record, type)
        if constructor.position != old.position:
            new: Variant = self.value(record, type)
            return new
        fields = self._fields(type, constructor)
        changes = self.changes(record, constructor.name, fields)
        values = [changes.get(f.name, _same)(x) for f, x in zip(fields, old.fields, strict=True)]
        return Variant(old.name, old.position, tuple(values))

    def _patched_map(self, old: FrozenMap, record: Items, type: Named) -> FrozenMap:
        key_type, item_type = type.arguments
        patched = dict(old)
        for key_record, item in _pairs(record, type):
            key = self.value(key_record, key_type)
            if key not in patched:
                patched[key] = self.value(item, item_type)
            elif item == _UNIT:
                del patched[key]
            else:
                patched[key] = self.patched(patched[key], item, item_type)
        return FrozenMap(patched)


def _same(value: Value) -> Value:
    return value


def _pairs(record: Items, type: Type) -> Iterator[tuple[Record, Record]]:
    for pair in record.items:
        if not isinstance(pair, Items) or pair.array or len(pair.items) != 2:
            raise DataError(f"expected a (key, value) of a {show(type)}, found {shown(pair)}")
        yield pair.items[0], pair.items[1]


def _in_bounds(number: int, type: BigInt | Bit | Signed) -> int:
    if not isinstance(type, BigInt):
        low, high = bounds(type)
        if not low <= number <= high:
            raise DataError(f"expected a {show(type)}, between {low} and {high}, found {shown(number)}")
    return number


def _misfit(record: Record, type: Type) -> DataError:
    return DataError(f"expected a {show(type)}, found {shown(record)}")


def shown(record: Record) -> str:
    """Return a record in a few words.

    >>> shown(Struct("C", (1, "a")))
    'C{1, "a"}'
    """
    match record:
        case bool():
            return str(record).lower()
        case str():
            return f'"{record}"'
        case Items(items, array):
            inner = ", ".join(map(shown, items))
            return f"[{inner}]" if array else f"({inner})"
        case Struct(name, fields):
            return f"{name}{{{', '.join(map(shown, fields))}}}"
        case Serialized(notation):
            return f"@{notation}"
        case int():
            digits = show_integer(record)
            return digits if len(digits) <= LONGEST else f"{digits[:LONGEST]}... ({len(digits)} digits)"
        case _:
            return str(record)
