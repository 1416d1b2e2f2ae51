"""Rows of typed columns as users look at them: in order, in frames, in notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from tidelog.base import types
from tidelog.base.errors import UserError
from tidelog.base.plain.plain import Plain
from tidelog.base.plain.write import finite
from tidelog.base.text.write import show_cell
from tidelog.base.types import Field, Type
from tidelog.base.values import in_order
from tidelog.run.contract.engine import Row, Rows

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd
    import polars as pl
    import pyarrow as pa

SHOWN = 20
"""Rows of a table in a notebook."""
TEXT = "text-align:left;white-space:pre-wrap"
"""How cells of text look in a notebook: line breaks stay."""


def in_row_order(rows: Collection[Row], columns: Sequence[Field]) -> list[Row]:
    """Sort rows in the language's order, which for most types is Python's own."""
    return sorted(rows) if all(_python_orders(column.type) for column in columns) else in_order(rows)


def _python_orders(type: Type) -> bool:
    return isinstance(type, types.Bool | types.String | types.BigInt | types.Bit | types.Signed)


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Return an Arrow table as a pandas frame."""
    try:
        import pandas as pd  # noqa: F401  (optional, and slow to load)
    except ImportError:
        raise UserError("this needs pandas, which is not installed: pip install pandas") from None
    frame: pd.DataFrame = table.to_pandas()
    return frame


def to_polars(table: pa.Table) -> pl.DataFrame:
    """Return an Arrow table as a polars frame."""
    try:
        import polars as pl  # optional, and slow to load
    except ImportError:
        raise UserError("this needs polars, which is not installed: pip install polars") from None
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    return frame


class Tabular(ABC):
    """Distinct rows of typed columns; iterating gives them in the language's order."""

    fields: tuple[Field, ...]
    """The columns, typed."""
    plain: Plain

    @abstractmethod
    def raw_rows(self) -> Rows:
        """Return the rows unordered and as the engine keeps them: columns that are in Arrow stay there."""

    @property
    def columns(self) -> dict[str, str]:
        """The columns' names, with their types as the language writes them."""
        return {column.name: types.show(column.type) for column in self.fields}

    def rows(self, *, ordered: bool = True) -> list[Row]:
        """Return the rows, in the language's order unless that does not matter."""
        rows = self.raw_rows()
        return in_row_order(rows, self.fields) if ordered else list(rows)

    def first(self) -> Row | None:
        """Return the first row in the language's order; None if there is none."""
        return next(iter(self), None)

    def __len__(self) -> int:
        return len(self.raw_rows())

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows())

    def cells(self, most: int | None = None) -> list[list[str]]:
        """Return the text of each row's cells, rows in order; perhaps of the first rows only."""
        kinds = [column.type for column in self.fields]
        definitions = self.plain.definitions
        return [[show_cell(*cell, definitions) for cell in zip(row, kinds, strict=True)] for row in self.rows()[:most]]

    def as_json(self) -> list[list[Any]]:
        """Return the rows as JSON has them: in order, values in their plain form."""
        writers = [self.plain.write(column.type) for column in self.fields]
        return [
            [finite(write(value) if write else value) for write, value in zip(writers, row, strict=True)]
            for row in self.rows()
        ]

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table, in any order; `session.frames.arrow` says how types are represented."""
        from tidelog.session.frames.arrow import rows_table  # noqa: PLC0415  (loads pyarrow)

        return rows_table(self.raw_rows(), self.fields, self.plain)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Offer the rows to any library that speaks Arrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas frame."""
        return to_pandas(self.to_arrow())

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a polars frame."""
        return to_polars(self.to_arrow())

    def to_numpy(self) -> npt.NDArray[Any]:
        """Return the rows, in order, as an array with a line for each: of numbers if all columns are, else of objects.

        Integers beyond 64 bits are objects, too.
        """
        import numpy as np  # noqa: PLC0415  (slow to load)

        rows, shape = self.rows(), (len(self), len(self.fields))
        kinds = {_numpy_type(column.type) for column in self.fields}
        kind = np.result_type(*kinds) if kinds and "O" not in kinds else np.dtype("O")
        if (kind.kind == "f" and kinds & {"i8", "u8"}) or ("?" in kinds and len(kinds) > 1):
            kind = np.dtype("O")  # a float would round integers, and true is not 1
        found = np.empty(shape, kind)
        for number, row in enumerate(rows):
            found[number] = row
        return found

    def _repr_html_(self) -> str:
        """Show the first rows as a table in a notebook, which has numbers to the right; or whether a goal holds."""
        count = len(self)
        if not self.fields:
            return "<b>true</b>" if count else "<b>false</b>"
        styles = ["" if is_number(column.type) else f" style='{TEXT}'" for column in self.fields]
        heads = "".join(
            f"<th title='{escape(type)}'{style}>{escape(name)}</th>"
            for (name, type), style in zip(self.columns.items(), styles, strict=True)
        )
        body = "".join(f"<tr>{_line(row, styles)}</tr>" for row in self.cells(SHOWN))
        more = f" (the first {SHOWN} of them)" if count > SHOWN else ""
        caption = f"<caption style='white-space:nowrap'>{count:,} row{'' if count == 1 else 's'}{more}</caption>"
        return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def is_number(type: Type) -> bool:
    """Tell whether values of a type are written as numbers, which stand to the right in a table."""
    return isinstance(type, types.Bit | types.Signed | types.BigInt | types.Float | types.Double)


def _line(cells: Sequence[str], styles: Sequence[str]) -> str:
    return "".join(f"<td{style}>{escape(cell)}</td>" for cell, style in zip(cells, styles, strict=True))


def _numpy_type(type: Type) -> str:
    match type:
        case types.Bool():
            return "?"
        case types.Float() | types.Double():
            return "f8"
        case types.Bit(width) | types.Signed(width) if width <= 64:
            size = next(size for size in (1, 2, 4, 8) if width <= 8 * size)
            return f"{'u' if isinstance(type, types.Bit) else 'i'}{size}"
        case _:
            return "O"
