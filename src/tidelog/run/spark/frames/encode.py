"""Values as cells of DataFrames: equal cells mean equal values of one type, and no cell is null.

| type | Spark type |
| --- | --- |
| bool, string | boolean, string |
| bit<N>, signed<N> up to 64 bits | long; a bit<64> from 2**63 on wraps to a negative number |
| float, double | double |
| everything else | string: the display form of `base.text.write`, which has one text for each value |
| what cannot be displayed (extern types, functions) | string: pickled, in base 64 |

`Ref` and `Intern` are what they refer to. The same cells travel as Arrow arrays between Spark and Python.
"""

from __future__ import annotations

import base64
import io
import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import types as s

from tidelog.base import types as t
from tidelog.base.conform import fields_of
from tidelog.base.span import NOWHERE, Span
from tidelog.base.text.read import read_value
from tidelog.base.text.write import show_value
from tidelog.base.types import Type, TypeDefinition
from tidelog.base.values import NAN, Closure
from tidelog.run.scalar.closures import Types

_TYPES, _NOWHERE = "types", "nowhere"
SIGN = 1 << 63
WORD = 1 << 64


def content(type: Type) -> Type:
    """Return what a type refers to."""
    while isinstance(type, t.Named) and type.name in (t.REF, t.INTERN):
        type = type.arguments[0]
    return type


def spark_type(type: Type) -> s.DataType:
    """Return the Spark type of a type's cells."""
    match content(type):
        case t.Bool():
            return s.BooleanType()
        case t.Bit(width) | t.Signed(width) if width <= 64:
            return s.LongType()
        case t.Float() | t.Double():
            return s.DoubleType()
        case _:
            return s.StringType()


def arrow_type(type: Type) -> pa.DataType:
    """Return the Arrow type of a type's cells."""
    match spark_type(type):
        case s.BooleanType():
            return pa.bool_()
        case s.LongType():
            return pa.int64()
        case s.DoubleType():
            return pa.float64()
        case _:
            return pa.string()


class Cells:
    """Turns values into cells and back. Travels to Python workers."""

    def __init__(self, types: Mapping[str, TypeDefinition]) -> None:
        self._types = types
        self._shown: dict[Type, bool] = {}

    def cell(self, value: Any, type: Type) -> Any:
        """Return the cell of a value."""
        match content(type):
            case t.Bool() | t.String() | t.Float() | t.Double() | t.Signed(8 | 16 | 32 | 64):
                return value
            case t.Bit(64):
                return value - WORD if value >= SIGN else value
            case t.Bit(width) | t.Signed(width) if width <= 64:
                return value
            case inner if self._is_shown(inner):
                return show_value(value, inner, self._types)
            case _:
                return _pickled(value)

    def value(self, cell: Any, type: Type) -> Any:
        """Return the value of a cell."""
        match content(type):
            case t.Bit(64):
                return cell + WORD if cell < 0 else cell
            case t.Float() | t.Double():
                return NAN if cell != cell else cell  # noqa: PLR0124  (only NaN differs from itself)
            case t.Bool() | t.String():
                return cell
            case t.Bit(width) | t.Signed(width) if width <= 64:
                return cell
            case inner if self._is_shown(inner):
                return read_value(cell, inner, self._types)
            case _:
                return _Unpickler(cell, self._types).load()

    def array(self, values: Sequence[Any], type: Type) -> pa.Array:
        """Return the cells of many values."""
        match content(type):
            case t.Bool() | t.String() | t.Float() | t.Double():
                return pa.array(values, arrow_type(type))
            case t.Bit(width) | t.Signed(width) if width < 64:
                return pa.array(values, pa.int64())
            case _:
                return pa.array([self.cell(value, type) for value in values], arrow_type(type))

    def values(self, array: Any, type: Type) -> list[Any]:
        """Return the values of many cells."""
        cells: list[Any] = array.to_pylist()
        match content(type):
            case t.Bool() | t.String():
                return cells
            case t.Bit(width) | t.Signed(width) if width < 64:
                return cells
            case t.Float() | t.Double() | t.Signed(64):
                return [self.value(cell, type) for cell in cells]
            case _:
                known: dict[Any, Any] = {}
                for cell in cells:
                    if cell not in known:
                        known[cell] = self.value(cell, type)
                return [known[cell] for cell in cells]

    def _is_shown(self, type: Type) -> bool:
        found = self._shown.get(type)
        if found is None:
            found = self._shown[type] = _is_shown(type, self._types, set())
        return found


def _is_shown(type: Type, types: Mapping[str, TypeDefinition], inside: set[Type]) -> bool:
    """Tell whether values of the type can be written and read as text."""
    if type in inside:
        return True
    inside.add(type)
    match type:
        case t.Tuple(items):
            return all(_is_shown(item, types, inside) for item in items)
        case t.Named(name, arguments) if name in (t.VEC, t.SET, t.MAP, t.REF, t.INTERN):
            return all(_is_shown(argument, types, inside) for argument in arguments)
        case t.Named(name):
            definition = types.get(name)
            if definition is None or not definition.constructors:
                return False
            parts = (part for made in definition.constructors for part in fields_of(type, made, types))
            return all(_is_shown(part, types, inside) for part in parts)
        case t.Function() | t.TypeVariable():
            return False
        case _:
            return True


class _Pickler(cloudpickle.Pickler):
    """Pickles function values by what they are made of, without places in texts, and leaves the program's types out."""

    def persistent_id(self, found: Any) -> str | None:
        return _TYPES if isinstance(found, Types) else _NOWHERE if isinstance(found, Span) else None

    def reducer_override(self, found: Any) -> Any:
        if isinstance(found, Closure) and found.recipe is not None:
            return found.recipe()
        return super().reducer_override(found)  # type: ignore[no-untyped-call]


class _Unpickler(pickle.Unpickler):
    def __init__(self, cell: str, types: Mapping[str, TypeDefinition]) -> None:
        super().__init__(io.BytesIO(base64.b64decode(cell)))
        self._types = types

    def persistent_load(self, kind: str) -> Any:
        return NOWHERE if kind == _NOWHERE else Types(self._types)


def _pickled(value: Any) -> str:
    """Pickle without sharing, so that equal values built in different ways give the same text."""
    buffer = io.BytesIO()
    pickler = _Pickler(buffer)  # type: ignore[no-untyped-call]
    pickler.fast = True
    pickler.dump(value)  # type: ignore[no-untyped-call]
    return base64.b64encode(buffer.getvalue()).decode()
