"""Z-sets on columns (Definition 4.1 of paper 000): rows with integer weights, an Abelian group under addition.

A `ZSet` is a sorted array of distinct rows, a 64-bit word for each column, and an array of weights,
none of them zero. Both never change. A row is absent when its weight is 0; a Z-set whose weights are all 1 is a set.
Values become words by `Values`. Sums of weights and products of them are checked: beyond 64 bits is an error.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from tidelog.base.arguments import brief, expect
from tidelog.base.errors import EvaluationError
from tidelog.base.record import record
from tidelog.run.columnar.arrays.table import Mask, Places, U, Words, no_rows
from tidelog.run.columnar.functions import usual as arrays
from tidelog.run.dbsp.zsets import columns as exchange
from tidelog.run.dbsp.zsets.values import VALUES, Values

Weights = npt.NDArray[np.int64]
Row = tuple[Any, ...]

_SAFE = 1 << 62


class ZSet:
    """Rows with weights. Make one with `ZSet.of`, or with `ZSet.made` from arrays in any order."""

    __slots__ = ("rows", "weights")

    def __init__(self, rows: Words, weights: Weights) -> None:
        self.rows = rows
        self.weights = weights

    @staticmethod
    def of(weights: Mapping[Any, int], columns: int | None = None, values: Values = VALUES) -> ZSet:
        """Return the Z-set of a mapping from rows to weights; `columns` is needed when the mapping is empty.

        >>> ZSet.of({("a", "b"): 1, ("b", "c"): 2})
        ZSet({('a', 'b'): 1, ('b', 'c'): 2})
        """
        expect(weights, Mapping, "weights", "a mapping from rows to weights")
        rows = list(weights)
        for row, weight in weights.items():
            expect(row, (tuple, list), "row", "a tuple")
            expect(weight, Integral, f"weight of {brief(row)}", "an integer")
        width = columns if columns is not None else len(rows[0]) if rows else None
        if width is None:
            raise ValueError("an empty Z-set: say how many columns it has, as in ZSet.of({}, columns=2)")
        wrong = next((row for row in rows if len(row) != width), None)
        if wrong is not None:
            raise ValueError(f"the row {wrong!r} has {len(wrong)} columns, {width} were expected")
        return ZSet.made(values.codes(rows, width), np.fromiter(weights.values(), np.int64, len(rows)))

    @staticmethod
    def made(rows: Words, weights: Weights) -> ZSet:
        """Return the Z-set of rows in any order, which may repeat: the weights of equal rows are added."""
        count = rows.shape[1]
        if rows.shape[0] == 0:
            total = run_sums(weights, np.zeros(min(count, 1), np.int64))
            return ZSet(rows[:, : len(total)], total).without_zeros()
        if count < 2:
            return ZSet(rows, weights).without_zeros()
        packing = Packing.of(rows)
        key = packing.pack(rows) if packing is not None else rows
        table = arrays(count)
        uniform = int(weights[0]) if (weights == weights[0]).all() else None
        if uniform is not None:
            ordered, given = table.sort(key), weights
        else:
            places = table.order(key)
            ordered, given = np.ascontiguousarray(key[:, places]), weights[places]
        first = table.firsts(ordered)
        if len(first) < count:
            ordered = np.ascontiguousarray(ordered[:, first])
            given = run_sums(given, first) if uniform is None else _repeated(uniform, first, count)
        return ZSet(packing.unpack(ordered) if packing is not None else ordered, given).without_zeros()

    @staticmethod
    def from_numpy(columns: Sequence[npt.ArrayLike], weights: npt.ArrayLike = 1, values: Values = VALUES) -> ZSet:
        """Return the Z-set of arrays, one a column, and an array of weights or one weight for all.

        >>> ZSet.from_numpy([np.array(["a", "b", "a"]), np.array([1, 2, 1])])
        ZSet({('a', 1): 2, ('b', 2): 1})
        """
        arrays_ = [np.asarray(column) for column in columns]
        given = np.asarray(weights)
        if not given.ndim and arrays_:
            given = np.full(len(arrays_[0]), given)
        exchange.same_lengths(arrays_, given)
        words = [exchange.coded(column, values) for column in arrays_]
        return ZSet.made(np.stack(words) if words else np.empty((0, len(given)), U), given.astype(np.int64))

    def to_numpy(self, values: Values = VALUES) -> tuple[list[npt.NDArray[Any]], Weights]:
        """Return the columns and the weights as arrays; a column of several types is one of objects."""
        return [exchange.array(column, values) for column in self.rows], self.weights.copy()

    @staticmethod
    def from_arrow(table: Any, weight: str | None = None, values: Values = VALUES) -> ZSet:
        """Return the Z-set of an Arrow table, or of what Arrow can read; `weight` names the column of weights.

        >>> import pyarrow as pa
        >>> ZSet.from_arrow(pa.table({"name": ["a", None], "n": [1, 2], "w": [1, -1]}), weight="w")
        ZSet({('a', 1): 1, (None, 2): -1})
        """
        import pyarrow as pa  # noqa: PLC0415  (slow to load)

        if not hasattr(table, "__arrow_c_stream__"):
            raise TypeError(f"table: expected a table of Arrow, found {brief(table)}")
        found = pa.table(table)
        if weight is not None and weight not in found.column_names:
            raise ValueError(f"there is no column {weight}; there are {', '.join(found.column_names)}")
        kept = found.drop_columns([weight]) if weight is not None else found
        words = [exchange.coded_arrow(column, values) for column in kept.columns]
        given = np.ones(len(found), np.int64) if weight is None else found[weight].to_numpy()
        exchange.same_lengths(words, given)
        return ZSet.made(np.stack(words) if words else np.empty((0, len(found)), U), given.astype(np.int64))

    def to_arrow(self, names: Sequence[str] | None = None, weight: str = "weight", values: Values = VALUES) -> Any:
        """Return a table of Arrow: the columns, `c0` and so on unless named, and the weights.

        >>> ZSet.of({("a", 1): 2}).to_arrow(["name", "n"]).to_pylist()
        [{'name': 'a', 'n': 1, 'weight': 2}]
        """
        import pyarrow as pa  # noqa: PLC0415  (slow to load)

        called = [f"c{number}" for number in range(self.columns)] if names is None else list(names)
        if len(called) != self.columns or len({*called, weight}) != self.columns + 1:
            raise ValueError(f"{self.columns} different names of columns were expected beside {weight!r}, not {called}")
        made = [exchange.arrow(column, values, name) for column, name in zip(self.rows, called, strict=True)]
        return pa.table([*made, pa.array(self.weights)], names=[*called, weight])

    @staticmethod
    def zero(columns: int) -> ZSet:
        """Return the Z-set without rows."""
        return ZSet(no_rows(columns), np.empty(0, np.int64))

    # --- looking at it -----------------------------------------------------------------------------------------------

    @property
    def columns(self) -> int:
        """The number of columns."""
        return int(self.rows.shape[0])

    def __len__(self) -> int:
        return int(self.rows.shape[1])

    def items(self, values: Values = VALUES) -> Iterator[tuple[Row, int]]:
        """Yield each row with its weight."""
        return zip(values.rows(self.rows), self.weights.tolist(), strict=True)

    def to_dict(self, values: Values = VALUES) -> dict[Row, int]:
        """Return the mapping from rows to weights."""
        return dict(self.items(values))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ZSet):
            return NotImplemented
        return np.array_equal(self.rows, other.rows) and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        return hash((self.rows.tobytes(), self.weights.tobytes()))

    def __repr__(self) -> str:
        return f"ZSet({dict(sorted(self.items(), key=lambda item: list(map(repr, item[0]))))})"

    # --- the group ---------------------------------------------------------------------------------------------------

    def __add__(self, other: ZSet) -> ZSet:
        """Add weights row by row; a row whose weights add up to 0 is gone.

        >>> ZSet.of({("a",): 1, ("b",): 2}) + ZSet.of({("a",): -1, ("b",): 1})
        ZSet({('b',): 3})
        """
        if not isinstance(other, ZSet):
            return NotImplemented
        if not len(other):
            return self
        if not len(self):
            return other
        if self.columns != other.columns:
            raise ValueError(f"a Z-set of {self.columns} columns and one of {other.columns} cannot be added")
        if not self.columns:
            return ZSet.made(self.rows, self.weights + other.weights)
        return merged(self, other)

    def __neg__(self) -> ZSet:
        return ZSet(self.rows, -self.weights)

    def __sub__(self, other: ZSet) -> ZSet:
        if not isinstance(other, ZSet):
            return NotImplemented
        return self + -other

    def __mul__(self, factor: int) -> ZSet:
        """Multiply all weights."""
        return ZSet(self.rows, multiplied(self.weights, np.array(factor))).without_zeros()

    def without_zeros(self) -> ZSet:
        """Return the same without rows of weight 0, which only making one can leave."""
        return self if self.weights.all() else self.where(self.weights != 0)

    # --- functions that are not linear -------------------------------------------------------------------------------

    def distinct(self) -> ZSet:
        """Return the set of the rows with a positive weight: the paper's `toset`.

        >>> ZSet.of({("a",): 3, ("b",): -1}).distinct()
        ZSet({('a',): 1})
        """
        kept = self.where(self.weights > 0)
        return ZSet(kept.rows, np.ones(len(kept), np.int64))

    def to_diff(self) -> ZSet:
        """Return the rows with the signs of their weights: the paper's `todiff`."""
        return ZSet(self.rows, np.sign(self.weights))

    # --- linear functions --------------------------------------------------------------------------------------------

    def where(self, keep: Mask) -> ZSet:
        """Return the rows at which a mask is true."""
        places = np.flatnonzero(keep)
        return self if len(places) == len(keep) else ZSet(self.rows.take(places, axis=1), self.weights[places])

    def select(self, keep: Callable[[Row], bool], values: Values = VALUES) -> ZSet:
        """Return the rows for which a function of their values is true."""
        return self.where(np.fromiter((keep(row) for row in values.rows(self.rows)), np.bool_, len(self)))

    def project(self, columns: Sequence[int]) -> ZSet:
        """Return some columns, in this order; weights of rows that become equal are added.

        >>> ZSet.of({("a", "b"): 1, ("a", "c"): 1}).project([0])
        ZSet({('a',): 2})
        """
        return ZSet.made(np.ascontiguousarray(self.rows[list(columns)]), self.weights)

    def map(self, function: Callable[[Row], Sequence[Hashable]], columns: int, values: Values = VALUES) -> ZSet:
        """Return what a function makes of each row's values: rows of `columns` columns."""
        made = of_width([function(row) for row in values.rows(self.rows)], columns)
        return ZSet.made(values.codes(made, columns), self.weights)

    # --- bilinear ----------------------------------------------------------------------------------------------------

    def join(self, other: ZSet, on: Sequence[tuple[int, int]], keep: Sequence[int] | None = None) -> ZSet:
        """Return pairs of rows that agree on pairs of columns; weights are multiplied.

        The columns of the result are those of both sides, this one's first; `keep` chooses among them.

        >>> edges = ZSet.of({("a", "b"): 1, ("b", "c"): 2})
        >>> edges.join(edges, on=[(1, 0)], keep=[0, 3])
        ZSet({('a', 'c'): 2})
        """
        order = [b for _, b in on]
        rest = [c for c in range(other.columns) if c not in order]
        arranged = other.project([*order, *rest])
        left, right = matches(self.rows[[a for a, _ in on]], arranged.rows)
        back = np.argsort([*order, *rest])
        rows = np.concatenate((self.rows[:, left], arranged.rows[back][:, right]))
        kept = rows if keep is None else rows[list(keep)]
        return ZSet.made(np.ascontiguousarray(kept), multiplied(self.weights[left], arranged.weights[right]))

    def antijoin(self, other: ZSet, on: Sequence[tuple[int, int]]) -> ZSet:
        """Return the rows that agree on pairs of columns with no row of positive weight, with their weights.

        >>> edges = ZSet.of({("a", "b"): 1, ("b", "c"): 2})
        >>> edges.antijoin(edges, on=[(1, 0)])
        ZSet({('b', 'c'): 2})
        """
        there = other.project([b for _, b in on]).distinct()
        return self - self.join(there, [(a, i) for i, (a, _) in enumerate(on)], range(self.columns))

    def __getitem__(self, row: Row) -> int:
        left, right = matches(VALUES.codes([row], self.columns), self.rows)
        return int(self.weights[right[0]]) if len(left) else 0


def of_width(rows: list[Any], columns: int) -> list[Any]:
    """Return rows that a function made, or refuse one that is none or has another number of columns."""
    for row in rows:
        if not isinstance(row, tuple | list):
            raise TypeError(f"the function returned {brief(row)}, a tuple was expected")
        if len(row) != columns:
            raise ValueError(f"the function returned {brief(row)}, {columns} columns were expected")
    return rows


@record
class Packing:
    """Columns side by side in one word, by the range that each has; packed rows order like the rows."""

    low: list[int]
    bits: list[int]

    @staticmethod
    def of(rows: Words) -> Packing | None:
        """Return the packing of some rows; None if they have one column, or one word has no room for them."""
        if rows.shape[0] == 1:
            return None
        low, high = rows.min(axis=1), rows.max(axis=1)
        bits = [int(width).bit_length() for width in high - low]
        return Packing(low.tolist(), bits) if sum(bits) <= 64 else None

    def pack(self, rows: Words) -> Words:
        """Return the rows as words."""
        key = np.zeros(rows.shape[1], U)
        for column, least, width in zip(rows, self.low, self.bits, strict=True):
            if width:
                key <<= U(width % 64)
                key |= column - U(least)
        return key.reshape(1, -1)

    def unpack(self, key: Words) -> Words:
        """Return words as rows."""
        rows = np.empty((len(self.bits), key.shape[1]), U)
        shift = sum(self.bits)
        for column, least, width in zip(rows, self.low, self.bits, strict=True):
            shift -= width
            if width:
                np.right_shift(key[0], U(shift), out=column)
                np.bitwise_and(column, U((1 << width) - 1), out=column)
                np.add(column, U(least), out=column)
            else:
                column[:] = least
        return rows


def narrowed(rows: Words) -> Words:
    """Return keys that order like rows, of one word if that has room for them."""
    packing = Packing.of(rows)
    return rows if packing is None else packing.pack(rows)


def merged(a: ZSet, b: ZSet) -> ZSet:
    """Return the sum of two Z-sets in time proportional to their sizes."""
    table = arrays(len(a) + len(b))
    places = table.merge_places(a.rows, b.rows)
    rows, weights = table.scatter(a.rows, b.rows, places), table.scatter(a.weights, b.weights, places)
    first = table.firsts(rows)
    if len(first) == len(weights):
        return ZSet(rows, weights)
    return ZSet(np.ascontiguousarray(rows[:, first]), run_sums(weights, first)).without_zeros()


def matches(keys: Words, batch: Words) -> tuple[Places, Places]:
    """Return each pair of a key and a row of a sorted batch that begins with it, as their places."""
    low, high, total = _ranges(keys, batch)
    if not total:
        return _NONE, _NONE
    return arrays(total).expand(low, high)


def matches_in_pieces(keys: Words, batch: Words, size: int) -> Iterator[tuple[Places, Places]]:
    """Yield the pairs of `matches` in order, about `size` at a time."""
    low, high, total = _ranges(keys, batch)
    if not total:
        return
    if total <= size:
        yield arrays(total).expand(low, high)
        return
    ends, most = np.cumsum(high - low), int(size)
    start = 0
    while start < len(low):
        before = int(ends[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + most, "right")))
        left, right = arrays(total).expand(low[start:end], high[start:end])
        yield left + start, right
        start = end


_NONE: Places = np.empty(0, np.int64)


def _ranges(keys: Words, batch: Words) -> tuple[Places, Places, int]:
    return arrays(max(keys.shape[1], batch.shape[1])).ranges(keys, batch, keys.shape[0], 64)


def multiplied(a: Weights, b: npt.NDArray[Any]) -> Weights:
    """Return products of weights; those that 64 bits do not hold are an error."""
    if a.size and b.size and int(np.abs(a).max()) * int(np.abs(b).max()) >= _SAFE:
        raise EvaluationError("a weight, the number of derivations of a row, does not fit in 64 bits")
    return np.asarray(a * b, np.int64)


def _repeated(weight: int, first: Places, count: int) -> Weights:
    return multiplied(np.diff(np.append(first, count)), np.array(weight))


def run_sums(weights: Weights, first: Places) -> Weights:
    """Return the sum of each run of weights, given the place of its first; checked like products."""
    if not len(first):
        return np.empty(0, np.int64)
    if int(np.abs(weights).max()) * len(weights) >= _SAFE:
        exact = np.add.reduceat(weights.astype(object), first)
        if any(not -_SAFE < total < _SAFE for total in exact):
            raise EvaluationError("a weight, the number of derivations of a row, does not fit in 64 bits")
    return np.add.reduceat(weights, first)
