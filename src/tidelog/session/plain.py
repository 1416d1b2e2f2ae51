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

Reading also takes the values of `base.values` themselves, numpy scalars, sets and decimals, and checks everything:
`Misfit` says where, what was expected and what was found. For every value v, read(write(v)) == v.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from operator import index
from typing import Any, assert_never

from tidelog.base import types
from tidelog.base.conform import bounds
from tidelog.base.types import Constructor, Field, Named, Type, TypeDefinition, substitute
from tidelog.base.values import FrozenMap, Value, Variant, in_order, real, single

Read = Callable[[Any], Value]
Write = Callable[[Value], Any]

OPTION = "std::Option"
_REALS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class Misfit(Exception):  # noqa: N818  (always caught here and told as a DataError with its place)
    """A value does not fit a type; `path` leads to it from the outermost value."""

    def __init__(self, expected: str, found: object, path: str = "") -> None:
        super().__init__(expected, found, path)
        self.expected = expected
        self.found = found
        self.path = path

    def inside(self, step: str) -> Misfit:
        """Return the same misfit as seen from the value that holds it."""
        return Misfit(self.expected, self.found, step + self.path)

    def __str__(self) -> str:
        place = f" at {self.path}" if self.path else ""
        return f"expected {self.expected}{place}, found {brief(self.found)}"


def brief(value: object, limit: int = 80) -> str:
    """Return a value's repr, cut to a length that fits a message."""
    shown = repr(value)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


def short(name: str) -> str:
    """Return a constructor's name without its module."""
    return name.rpartition("::")[2]


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
            # A recursive type finds this entry while its own reader is being made.
            self._readers[type] = lambda value: self._readers[type](value)  # noqa: PLW0108  (it is replaced)
            found = self._readers[type] = self._make_reader(type)
        return found

    def write(self, type: Type) -> Write | None:
        """Return a function from values to plain forms; None if they are the same."""
        if type not in self._writers:
            self._writers[type] = lambda value: (self._writers[type] or _same)(value)  # noqa: PLW0108  (it is replaced)
            self._writers[type] = self._make_writer(type)
        return self._writers[type]

    def _make_reader(self, type: Type) -> Read:
        match type:
            case types.Bool():
                return _read_bool
            case types.String():
                return _read_string
            case types.BigInt() | types.Bit() | types.Signed():
                return _integer_reader(type)
            case types.Float() | types.Double():
                return _real_reader(type)
            case types.Tuple(items):
                return _tuple_reader(type, [self.read(item) for item in items])
            case Named(types.REF | types.INTERN, (inner,)):
                return self.read(inner)
            case Named(types.VEC, (inner,)):
                return _items_reader(type, self.read(inner), tuple)
            case Named(types.SET, (inner,)):
                return _items_reader(type, self.read(inner), frozenset)
            case Named(types.MAP, (key, value)):
                return _map_reader(type, self.read(key), self.read(value))
            case Named():
                return self._named_reader(type)
            case types.Function() | types.TypeVariable():
                return _refuse(type)
            case _:
                assert_never(type)

    def _named_reader(self, type: Named) -> Read:
        constructors = self.constructors(type)
        if not constructors:
            return _same
        readers = [[(field.name, self.read(field.type)) for field in c.fields] for c in constructors]
        union = _union_reader(type, constructors, readers)
        if type.name == OPTION and not self.nullable(type.arguments[0]):
            return _option_reader(union, constructors, self.read(type.arguments[0]))
        return union

    def _make_writer(self, type: Type) -> Write | None:
        match type:
            case types.Tuple(()):
                return _nothing
            case types.Tuple(items):
                return _tuple_writer([self.write(item) or _same for item in items])
            case Named(types.REF | types.INTERN, (inner,)):
                return self.write(inner)
            case Named(types.VEC, (inner,)):
                return _items_writer(self.write(inner) or _same, list)
            case Named(types.SET, (inner,)):
                return _items_writer(self.write(inner) or _same, in_order)
            case Named(types.MAP, (key, value)):
                return _map_writer(self.write(key) or _same, self.write(value) or _same)
            case Named():
                return self._named_writer(type)
            case _:
                return None

    def _named_writer(self, type: Named) -> Write | None:
        constructors = self.constructors(type)
        if not constructors:
            return None
        if is_enumeration(constructors):
            return _write_name
        writers = [[(field.name, self.write(field.type) or _same) for field in c.fields] for c in constructors]
        if type.name == OPTION and not self.nullable(type.arguments[0]):
            some = next(writer for fields in writers for _, writer in fields)
            return lambda value: some(value.fields[0]) if value.fields else None
        if len(constructors) == 1:
            return _struct_writer(writers[0])
        return _union_writer(tag_name(constructors), writers)


def is_enumeration(constructors: Iterable[Constructor]) -> bool:
    """Tell whether no constructor has fields, so that a value is its name."""
    return not any(c.fields for c in constructors)


def tag_name(constructors: Iterable[Constructor]) -> str:
    """Return the key for the constructor's name: "tag", with underscores before it while a field has that name."""
    names = {field.name for c in constructors for field in c.fields}
    tag = "tag"
    while tag in names:
        tag = "_" + tag
    return tag


# --- readers ---------------------------------------------------------------------------------------------------------


def _same(value: Any) -> Any:
    return value


def _unwrap(value: Any) -> Any:
    """Return a numpy scalar as the Python value it stands for."""
    return value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value


def _read_bool(value: Any) -> bool:
    value = _unwrap(value)
    if isinstance(value, bool):
        return value
    raise Misfit("bool", value)


def _read_string(value: Any) -> str:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Misfit("string (Unicode text)", value) from None
        return str(value)
    raise Misfit("string", value)


def _integer_reader(type: Type) -> Read:
    shown, limits = types.show(type), bounds(type) if isinstance(type, types.Bit | types.Signed) else None
    wide = limits is None or limits[1] >= 1 << 64

    def read(value: Any) -> int:
        number = value
        if number.__class__ is not int:
            try:
                number = _integer(_unwrap(value), text=wide)
            except (TypeError, ValueError, ArithmeticError):
                raise Misfit(shown, value) from None
        if limits is not None and not limits[0] <= number <= limits[1]:
            raise Misfit(f"{shown} ({limits[0]} to {limits[1]})", value)
        return int(number)

    return read


def _integer(value: Any, *, text: bool) -> int:
    """Return an integer given in another way: a decimal, or as text where Arrow has no other way to hold it."""
    if isinstance(value, bool):
        raise TypeError
    if isinstance(value, Decimal):
        if value != value.to_integral_value():
            raise ValueError
        return int(value)
    if isinstance(value, str) and text:
        return int(value)
    return index(value)


def _real_reader(type: Type) -> Read:
    shown, rounded = types.show(type), single if isinstance(type, types.Float) else real

    def read(value: Any) -> float:
        given = _REALS.get(value) if isinstance(value, str) else _unwrap(value)
        if isinstance(given, bool) or not isinstance(given, int | float):
            raise Misfit(shown, value)
        try:
            return rounded(float(given))
        except OverflowError:
            raise Misfit(shown, value) from None

    return read


def _tuple_reader(type: types.Tuple, readers: Sequence[Read]) -> Read:
    shown, keys = types.show(type), [str(i) for i in range(len(readers))]

    def read(value: Any) -> tuple[Value, ...]:
        if value is None and not readers:
            return ()
        items = [value[key] for key in keys] if isinstance(value, Mapping) and set(value) == set(keys) else value
        if not isinstance(items, tuple | list) or len(items) != len(readers):
            raise Misfit(shown, value)
        return tuple(_read_at(f".{i}", readers[i], item) for i, item in enumerate(items))

    return read


def _items_reader(type: Named, read_item: Read, make: Callable[[list[Value]], Value]) -> Read:
    shown = types.show(type)

    def read(value: Any) -> Value:
        items = value.tolist() if hasattr(value, "dtype") and hasattr(value, "tolist") else value
        if not isinstance(items, tuple | list | (AbstractSet if make is frozenset else tuple)):
            raise Misfit(shown, value)
        return make([_read_at(f"[{i}]", read_item, item) for i, item in enumerate(items)])

    return read


def _map_reader(type: Named, read_key: Read, read_value: Read) -> Read:
    shown = types.show(type)

    def read(value: Any) -> FrozenMap:
        pairs = list(value.items()) if isinstance(value, Mapping) else value
        if not isinstance(pairs, tuple | list):
            raise Misfit(shown, value)
        for pair in pairs:
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise Misfit(f"a pair of {shown}", pair)
        return FrozenMap(
            [(_read_at(" (key)", read_key, k), _read_at(f"[{brief(k, 30)}]", read_value, v)) for k, v in pairs]
        )

    return read


def _refuse(type: Type) -> Read:
    def read(value: Any) -> Value:
        raise Misfit(f"nothing: values of {types.show(type)} cannot be stored", value)

    return read


def _read_at(step: str, read: Read, value: Any) -> Value:
    try:
        return read(value)
    except Misfit as misfit:
        raise misfit.inside(step) from None


def _option_reader(union: Read, constructors: Sequence[Constructor], read_some: Read) -> Read:
    none, some = sorted(constructors, key=lambda c: len(c.fields))
    absent = Variant(none.name, none.position, ())

    def read(value: Any) -> Variant:
        if value is None:
            return absent
        if isinstance(value, Variant) and short(value.name) in {short(none.name), short(some.name)}:
            return union(value)  # type: ignore[no-any-return]
        return Variant(some.name, some.position, (read_some(value),))

    return read


def _union_reader(
    type: Named, constructors: Sequence[Constructor], readers: Sequence[Sequence[tuple[str, Read]]]
) -> Read:
    shown, tag = types.show(type), tag_name(constructors)
    by_name = {name: c for c in constructors for name in (c.name, short(c.name))}
    names = ", ".join(short(c.name) for c in constructors)

    def fields_of(value: Any) -> tuple[Constructor, Sequence[Any]]:
        if isinstance(value, Variant):
            c = by_name.get(value.name)
            if c is not None and len(value.fields) == len(c.fields):
                return c, value.fields
        elif isinstance(value, Mapping):
            c = constructors[0] if len(constructors) == 1 and tag not in value else by_name.get(value.get(tag, ""))
            # Arrow gives every field of the union, null where the constructor has none of that name.
            if c is not None and all(key in c.index or key == tag or value[key] is None for key in value):
                return c, [value.get(field.name) for field in c.fields]
        elif isinstance(value, str):
            c = by_name.get(value)
            if c is not None and not c.fields:
                return c, ()
        elif len(constructors) == 1 and not isinstance(value, type_of_rows):
            c = constructors[0]
            if c.fields and all(hasattr(value, field.name) for field in c.fields):
                return c, [getattr(value, field.name) for field in c.fields]
        raise Misfit(f"{shown} (one of {names})" if len(constructors) > 1 else shown, value)

    def read(value: Any) -> Variant:
        c, given = fields_of(value)
        fields = readers[c.position]
        return Variant(
            c.name,
            c.position,
            tuple(_read_at(f".{name}", read, v) for (name, read), v in zip(fields, given, strict=True)),
        )

    return read


type_of_rows = (tuple, list, set, frozenset, bytes, int, float, bool)


# --- writers ---------------------------------------------------------------------------------------------------------


def _nothing(_: Value) -> None:
    return None


def _write_name(value: Variant) -> str:
    return short(value.name)


def _tuple_writer(writers: Sequence[Write]) -> Write:
    return lambda value: {str(i): write(item) for i, (write, item) in enumerate(zip(writers, value, strict=True))}


def _items_writer(write: Write, order: Callable[[Any], list[Value]]) -> Write:
    return lambda value: [write(item) for item in order(value)]


def _map_writer(write_key: Write, write_value: Write) -> Write:
    return lambda value: [(write_key(k), write_value(v)) for k, v in value.items()]


def _struct_writer(writers: Sequence[tuple[str, Write]]) -> Write:
    return lambda value: {name: write(v) for (name, write), v in zip(writers, value.fields, strict=True)}


def _union_writer(tag: str, writers: Sequence[Sequence[tuple[str, Write]]]) -> Write:
    def write(value: Variant) -> dict[str, Any]:
        fields = writers[value.position]
        return {tag: short(value.name)} | {n: w(v) for (n, w), v in zip(fields, value.fields, strict=True)}

    return write
