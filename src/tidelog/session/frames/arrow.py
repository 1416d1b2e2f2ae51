"""Relations as Arrow tables, and back, without loss.

| type | Arrow type |
| --- | --- |
| bool, string, float, double | bool, string, float32, float64 |
| bit<N>, signed<N> up to 64 bits | the smallest of uint8 ... uint64, int8 ... int64 that holds N bits |
| bigint, wider integers | int64 if all values of the column fit, else decimal128(38), else decimal256(76), else text |
| tuple, struct | struct; the empty tuple is null |
| union | struct of `tag` and every field, null where the constructor has none; without any field, string |
| Option<T> | T with nulls, unless T has nulls itself: then like any union |
| Vec, Set | list |
| Map | map; a list of structs `key`, `value` if keys have nulls |
| Ref, Intern | what they refer to |
| rdf::Term, recursive types | text, as the language writes values |

So an Arrow value is the plain form of `base.plain.plain` in Arrow's types. Columns of simple types are checked and
taken a whole column at a time; a `TableRows` hands them on as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, assert_never

import pyarrow as pa
import pyarrow.compute as pc

from tidelog.base import types
from tidelog.base.arguments import brief
from tidelog.base.conform import bounds
from tidelog.base.errors import DataError
from tidelog.base.plain.misfit import Misfit
from tidelog.base.plain.plain import OPTION, Plain
from tidelog.base.plain.write import is_enumeration, tag_name
from tidelog.base.text.read import read_value
from tidelog.base.text.terms import TERM
from tidelog.base.text.write import show_value
from tidelog.base.types import Field, Named, Type
from tidelog.base.values import real
from tidelog.plan.nodes import Relation
from tidelog.run.contract.engine import Row

TERM_TYPE = Named(TERM)
WIDE = (pa.int64(), pa.decimal128(38), pa.decimal256(76))


class _Unsuited(Exception):  # noqa: N818  (never leaves this module)
    """The type has no finite Arrow type."""


# --- types -----------------------------------------------------------------------------------------------------------


def arrow_type(type: Type, plain: Plain, wide: pa.DataType = WIDE[0]) -> pa.DataType:
    """Return the Arrow type for a type of the language, with `wide` for integers wider than 64 bits.

    >>> arrow_type(types.Bit(12), Plain({}))
    DataType(uint16)
    >>> arrow_type(types.Named(types.MAP, (types.STRING, types.Tuple((types.BOOL, types.DOUBLE)))), Plain({}))
    MapType(map<string, struct<0: bool, 1: double>>)
    """
    try:
        return _arrow_type(type, plain, wide, frozenset())
    except _Unsuited:
        return pa.string()


def _arrow_type(type: Type, plain: Plain, wide: pa.DataType, outer: frozenset[Named]) -> pa.DataType:
    def inner(part: Type) -> pa.DataType:
        return _arrow_type(part, plain, wide, outer)

    match type:
        case types.Bool():
            return pa.bool_()
        case types.String():
            return pa.string()
        case types.Float():
            return pa.float32()
        case types.Double():
            return pa.float64()
        case types.BigInt():
            return wide
        case types.Bit(width) | types.Signed(width):
            return _integer_type(width, signed=isinstance(type, types.Signed)) if width <= 64 else wide
        case types.Tuple(()):
            return pa.null()
        case types.Tuple(items):
            return pa.struct([(str(i), inner(item)) for i, item in enumerate(items)])
        case Named(types.REF | types.INTERN, (referred,)):
            return inner(referred)
        case Named(types.VEC | types.SET, (item,)):
            return pa.list_(inner(item))
        case Named(types.MAP, (key, value)):
            if plain.nullable(key):
                return pa.list_(pa.struct([("key", inner(key)), ("value", inner(value))]))
            return pa.map_(inner(key), inner(value))
        case Named():
            if type in outer:
                raise _Unsuited
            return _union_type(type, plain, lambda part: _arrow_type(part, plain, wide, outer | {type}))
        case types.Function() | types.TypeVariable():
            raise _Unsuited
        case _:
            assert_never(type)


def _integer_type(width: int, *, signed: bool) -> pa.DataType:
    sizes = (
        (pa.int8(), pa.int16(), pa.int32(), pa.int64())
        if signed
        else (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64())
    )
    return next(size for size in sizes if size.bit_width >= width)


def _union_type(type: Named, plain: Plain, inner: Callable[[Type], pa.DataType]) -> pa.DataType:
    constructors = plain.constructors(type)
    if not constructors:
        raise _Unsuited
    if type.name == TERM:
        return pa.string()
    if is_enumeration(constructors):
        return pa.string()
    if plain.nullable(type):
        return inner(type.arguments[0])
    fields = {field.name: inner(field.type) for constructor in constructors for field in constructor.fields}
    tag = [] if len(constructors) == 1 else [(tag_name(constructors), pa.string())]
    return pa.struct([*tag, *fields.items()])


def is_text(type: Type, plain: Plain) -> bool:
    """Tell whether the type's values are always written as text in Arrow."""
    try:
        _arrow_type(type, plain, WIDE[0], frozenset())
    except _Unsuited:
        return True
    return False


# --- values ----------------------------------------------------------------------------------------------------------


def make_table(rows: Iterable[Row], columns: Sequence[Field], plain: Plain) -> pa.Table:
    """Return rows as a table with the relation's columns, in the order given."""
    given = rows if isinstance(rows, Collection) else list(rows)
    arrays = [make_array([row[i] for row in given], column.type, plain) for i, column in enumerate(columns)]
    if not columns:
        return pa.table({"": pa.nulls(len(given))}).drop_columns([""])
    return pa.Table.from_arrays(arrays, [column.name for column in columns])


def make_array(values: Sequence[Any], type: Type, plain: Plain) -> Any:
    """Return values of one type as an Arrow array."""
    if not is_text(type, plain):
        write = plain.write(type)
        shown = [write(value) for value in values] if write is not None else values
        tried = dict.fromkeys(arrow_type(type, plain, wide) for wide in WIDE)
        for target in tried:
            try:
                return pa.array(shown, target)
            except (OverflowError, pa.ArrowInvalid):
                continue
    return pa.array([show_value(value, type, plain.definitions) for value in values], pa.string())


def as_table(frame: Any, columns: Sequence[Field] = ()) -> pa.Table:
    """Return a frame of any library as an Arrow table, without a pandas index.

    pandas has NaN for what is missing, too; in columns of type float and double it is the number.
    """
    if isinstance(frame, pa.Table):
        return frame
    if type(frame).__module__.partition(".")[0] != "pandas":
        if hasattr(frame, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(frame).read_all()  # `table` would load pandas
        return pa.table(frame)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    for column in columns:
        if isinstance(column.type, types.Float | types.Double) and column.name in table.column_names:
            array = table.column(column.name)
            if array.null_count and pa.types.is_floating(array.type):
                place = table.column_names.index(column.name)
                table = table.set_column(place, column.name, pc.fill_null(array, float("nan")))
    return table


def read_table(table: pa.Table, relation: Relation, plain: Plain, place: str = "rows[{}]") -> TableRows | list[Row]:
    """Return a table's rows, checked; as the table itself if all columns are of simple types."""
    names = [column.name for column in relation.columns]
    if sorted(table.column_names) != sorted(names):
        raise DataError(
            f"{relation.name}: expected columns ({', '.join(names)}), found ({', '.join(table.column_names)})"
        )
    told = [_Told(relation.name, column, plain, place) for column in relation.columns]
    arrays = [one.read(table.column(column.name)) for one, column in zip(told, relation.columns, strict=True)]
    if names and all(map(types.is_simple, (column.type for column in relation.columns))):
        return TableRows(pa.Table.from_arrays(arrays, names))
    columns = [array if isinstance(array, list) else column_values(array) for array in arrays]
    return list(zip(*columns, strict=True)) if names else [()] * table.num_rows


def fit_column(array: Any, type: Type) -> Any:
    """Return a column in the Arrow type of a simple type if all values fit; None if one may not."""
    target = arrow_type(type, Plain({}))
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if array.null_count or not _same_kind(array.type, target):
        return None
    try:
        fitted = array.cast(target)
    except pa.ArrowInvalid:
        return None
    if isinstance(type, types.Float | types.Double):
        return pc.add(fitted, pa.scalar(0.0, target))  # no negative zero, as in `base.values.real`
    if isinstance(type, types.Bit | types.Signed) and len(fitted) and type.width != target.bit_width:
        low, high = bounds(type)
        found = pc.min_max(fitted).as_py()
        return fitted if low <= found["min"] and found["max"] <= high else None
    return fitted


def _same_kind(given: pa.DataType, target: pa.DataType) -> bool:
    if pa.types.is_boolean(target):
        return bool(pa.types.is_boolean(given))
    if pa.types.is_integer(target):
        return bool(pa.types.is_integer(given))
    if pa.types.is_floating(target):
        return bool(pa.types.is_floating(given))
    return bool(pa.types.is_string(given) or pa.types.is_large_string(given) or pa.types.is_string_view(given))


class _Told:
    """Reads one column, telling mistakes with relation, row and column."""

    def __init__(self, relation: str, column: Field, plain: Plain, place: str) -> None:
        self.relation = relation
        self.column = column
        self.plain = plain
        self.place = place
        self._known: dict[str, Any] = {}

    def read(self, array: Any) -> Any:
        """Return a simple column as Arrow, any other one as a list of values."""
        type = self.column.type
        if types.is_simple(type):
            checked = fit_column(array, type)
            if checked is not None:
                return checked
        text = pa.types.is_string(array.type) or pa.types.is_large_string(array.type)
        by_text = not pa.types.is_string(self._target()) or is_text(type, self.plain) or type == TERM_TYPE
        if text and by_text:
            return self._each(array.to_pylist(), self._read_text)
        read = self._read_optional_term if text and type == Named(OPTION, (TERM_TYPE,)) else self.plain.read(type)
        values = self._each(array.to_pylist(), read)
        return pa.chunked_array([pa.array(values, self._target())]) if types.is_simple(type) else values

    def _read_optional_term(self, text: str | None) -> Any:
        """Read a term that may be null, or as the language writes it: no term begins like that."""
        by_language = text is not None and text.startswith(("Some", "None"))
        return self._read_text(str(text)) if by_language else self.plain.read(self.column.type)(text)

    def _target(self) -> pa.DataType:
        return arrow_type(self.column.type, self.plain)

    def _read_text(self, text: str) -> Any:
        if text not in self._known:
            self._known[text] = read_value(text, self.column.type, self.plain.definitions)
        return self._known[text]

    def _each(self, values: list[Any], read: Callable[[Any], Any]) -> list[Any]:
        result: list[Any] = []
        for number, value in enumerate(values):
            try:
                result.append(read(value))
            except Misfit as misfit:
                reason = str(misfit)
            except DataError as error:
                reason = f"expected {types.show(self.column.type)}, found {brief(value)}: {error}"
            else:
                continue
            where = self.place.format(number)
            raise DataError(f"{self.relation}, {where}, column `{self.column.name}`: {reason}")
        return result


def column_values(column: Any) -> list[Any]:
    """Return the values of a column that `fit_column` gave."""
    values: list[Any] = column.to_pylist()
    return list(map(real, values)) if pa.types.is_floating(column.type) else values


class TableRows(Collection[Row]):
    """Rows that stay in Arrow until somebody looks at one; engines that speak Arrow never do."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Offer the columns, named like the relation's, to whoever speaks Arrow."""
        return self.table.__arrow_c_stream__(requested_schema)

    @cached_property
    def rows(self) -> list[Row]:
        """The rows as tuples."""
        return list(zip(*map(column_values, self.table.columns), strict=True))

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __contains__(self, row: object) -> bool:
        return row in self.rows


def rows_table(rows: Collection[Row], columns: Sequence[Field], plain: Plain) -> pa.Table:
    """Return rows as a table; those that are in Arrow already stay as they are."""
    if hasattr(rows, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(rows).read_all()
    return make_table(rows, columns, plain)
