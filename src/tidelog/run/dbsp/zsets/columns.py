"""Columns of numpy and Arrow as codes and back: each distinct value is looked up once, numbers not at all.

A value that is missing in Arrow is None. Columns of one simple type come back as such, mixed ones as objects of Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tidelog.base.arguments import brief
from tidelog.run.columnar.arrays.table import U
from tidelog.run.dbsp.zsets.values import FIRST, Values

Codes = npt.NDArray[np.uint64]
Array = npt.NDArray[Any]


def coded(column: Array, values: Values) -> Codes:
    """Return an array of any values as codes."""
    if column.ndim != 1:
        raise ValueError(f"a column has one dimension, this array has {column.ndim}")
    if column.dtype.kind in "iu" and (not len(column) or (column.min() >= 0 and column.max() < FIRST)):
        return column.astype(U)
    if column.dtype.kind == "O":
        return np.fromiter((values.code(value) for value in column), U, len(column))
    found, places = np.unique(column, return_inverse=True)
    return np.fromiter(map(values.code, found.tolist()), U, len(found))[places]


def array(codes: Codes, values: Values) -> Array:
    """Return codes as an array of the values, of objects where their types differ."""
    if not len(codes) or int(codes.max()) < FIRST:
        return codes.astype(np.int64)
    found, places = np.unique(codes, return_inverse=True)
    things = [values.value(code) for code in found.tolist()]
    simple = {*map(type, things)} in ({float}, {str}, {bool})
    made = np.array(things) if simple else np.empty(len(things), object)
    if not simple:
        made[:] = things
    return made[places]


def coded_arrow(column: Any, values: Values) -> Codes:
    """Return a column of Arrow as codes."""
    import pyarrow as pa  # noqa: PLC0415  (slow to load)

    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_integer(whole.type) and not whole.null_count:
        return coded(whole.to_numpy(zero_copy_only=False), values)
    held = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode(null_encoding="encode")
    codes = np.fromiter(map(values.code, held.dictionary.to_pylist()), U, len(held.dictionary))
    if not held.indices.null_count:
        return codes.take(_places(held.indices))
    places = _places(held.indices.fill_null(len(codes)))
    codes = np.append(codes, U(values.code(None)))
    return codes.take(places)


def _places(indices: Any) -> npt.NDArray[np.int64]:
    return np.asarray(indices.to_numpy(zero_copy_only=False), np.int64)


def arrow(codes: Codes, values: Values, name: str) -> Any:
    """Return codes as a column of Arrow."""
    import pyarrow as pa  # noqa: PLC0415  (slow to load)

    if not len(codes) or int(codes.max()) < FIRST:
        return pa.array(codes.astype(np.int64))
    found, places = np.unique(codes, return_inverse=True)
    things = [values.value(code) for code in found.tolist()]
    try:
        return pa.array(things).take(pa.array(places))
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError) as error:
        raise TypeError(f"column {name}: Arrow has no one type for {brief(things)}: {error}") from None


def same_lengths(columns: Sequence[Array], weights: Array) -> None:
    """Refuse columns and weights of different lengths, and weights that are no integers."""
    if weights.dtype.kind not in "iu":
        raise TypeError(f"weights: expected integers, found {weights.dtype}")
    for number, column in enumerate(columns):
        if len(column) != len(weights):
            raise ValueError(f"column {number} has {len(column)} values, there are {len(weights)} weights")
