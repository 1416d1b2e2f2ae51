"""Large text files through Arrow: the fast twins of `delimited.read_rows` and `delimited.write_rows`.

Reading gives the same rows or gives up (None): whenever a cell does not fit, a line has too many cells, or Arrow and
the language may read a number differently, the slow reader decides and tells what is wrong. Writing gives the same
text, and gives up for columns that Arrow writes differently.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from tidelog.base import types
from tidelog.base.errors import DataError
from tidelog.base.plain.plain import Plain
from tidelog.base.tuning.files import Files
from tidelog.base.tuning.table import DEFAULT
from tidelog.base.types import Field, is_simple
from tidelog.plan.nodes import Relation
from tidelog.run.contract.engine import Rows
from tidelog.session.formats.delimited import Dialect, read_text, read_whole
from tidelog.session.frames.arrow import TableRows, arrow_type, column_values, fit_column, rows_table


def read_columns(
    path: Path, relation: Relation, plain: Plain, dialect: Dialect, tuning: Files = DEFAULT.files
) -> Rows | None:
    """Return the rows of a file, or None if the slow reader must look."""
    columns = relation.columns
    names = [column.name for column in columns]
    try:
        with pa.input_stream(str(path)) as file:
            data = read_whole(file)
        if dialect.first == "yes" and _is_unclear(data[: data.find(b"\n") + 1 or None]):
            return None
        header = _header(data, names, dialect)
        body = data.find(b"\n") + 1 if header is not None else 0
        if dialect.quoted and not quotes_are_proper(data, dialect.separator, body):
            return None
        table = csv.read_csv(
            pa.BufferReader(data),
            csv.ReadOptions(
                column_names=header or names,
                skip_rows=int(header is not None),
                block_size=int(tuning.block_bytes),
            ),
            _parse_options(columns, dialect),
            csv.ConvertOptions(
                column_types={column.name: _cell_type(column) for column in columns},
                null_values=[],
                true_values=["true"],
                false_values=["false"],
                strings_can_be_null=False,
            ),
        )
        parsed = [_parsed(table.column(column.name), column, plain) for column in columns]
    except (pa.ArrowInvalid, DataError, UnicodeDecodeError, OSError):
        return None
    if any(values is None for values in parsed):
        return None
    if all(is_simple(column.type) for column in columns):
        return TableRows(pa.Table.from_arrays(parsed, names))
    lists = [values if isinstance(values, list) else column_values(values) for values in parsed]
    return list(zip(*lists, strict=True))


def quotes_are_proper(data: bytes, separator: str, start: int = 0) -> bool:
    """Tell whether every quote surely opens or closes a cell, or stands twice inside one; Arrow does not mind others.

    What stands before the start is not looked at.

    >>> quotes_are_proper(b'"a,b",1', ","), quotes_are_proper(b'"a"b,1', ",")
    (True, False)
    """
    if data.find(b'"', start) < 0:
        return True
    data = data[start:]
    quote, ends = ord('"'), [ord(separator), ord("\n"), ord("\r")]
    # A pair at the start of a cell is the empty cell, or begins with a quote; anything else after it is suspicious.
    whole = np.frombuffer(b"\n" + data + b"\n\n", np.uint8)
    paired = (whole[1:-2] == quote) & (whole[2:-1] == quote) & np.isin(whole[:-3], ends)
    if not np.isin(whole[3:][paired], [*ends, quote]).all():
        return False
    single = np.frombuffer(b"\n" + data.replace(b'""', b"") + b"\n", np.uint8)
    places = np.flatnonzero(single == quote)
    opening, closing = places[::2], places[1::2]
    return bool(
        len(opening) == len(closing)
        and np.isin(single[opening - 1], ends).all()
        and np.isin(single[closing + 1], ends).all()
    )


def _is_unclear(line: bytes) -> bool:
    """Tell whether a first line may not be the whole header: it is blank, or has a cell in quotes."""
    return not line.strip() or b'"' in line


def _header(data: bytes, names: list[str], dialect: Dialect) -> list[str] | None:
    line = data[: data.find(b"\n") + 1 or None].removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n")
    cells = line.decode("utf-8", "replace").split(dialect.separator)
    if dialect.quoted:
        cells = [cell[1:-1] if cell[:1] == cell[-1:] == '"' else cell for cell in cells]
    return dialect.header(cells, names)


def _parse_options(columns: tuple[Field, ...], dialect: Dialect) -> csv.ParseOptions:
    # Line breaks inside quotes cost Arrow its parallel parsing; numbers have none.
    breaks = dialect.quoted and not all(isinstance(column.type, types.Bit | types.Signed) for column in columns)
    return csv.ParseOptions(
        delimiter=dialect.separator,
        quote_char='"' if dialect.quoted else False,
        newlines_in_values=breaks,
        ignore_empty_lines=dialect.quoted or [column.type for column in columns] != [types.STRING],
    )


def _cell_type(column: Field) -> pa.DataType:
    """Return the type in which Arrow reads a column: its own for simple types, else text."""
    match column.type:
        case types.Bool():
            return pa.bool_()
        case types.Bit() | types.Signed() if is_simple(column.type):
            return arrow_type(column.type, Plain({}))
        case types.Float() | types.Double():
            return pa.float64()
        case _:
            return pa.string()


def _parsed(array: Any, column: Field, plain: Plain) -> Any:
    """Return a column that Arrow read, None if a value does not fit; of other text each distinct one is read once."""
    if is_simple(column.type):
        if pa.types.is_floating(array.type) and not pc.all(pc.is_finite(array)).as_py():
            return None  # Arrow knows more ways to write NaN and infinity than the language
        return fit_column(array, column.type)
    coded = array.dictionary_encode().unify_dictionaries().combine_chunks()
    if isinstance(coded, pa.ChunkedArray):
        coded = coded.chunk(0) if coded.num_chunks else pa.array([], pa.string()).dictionary_encode()
    values = [read_text(text, column, plain) for text in coded.dictionary.to_pylist()]
    return [values[code] for code in pc.fill_null(coded.indices, 0).to_pylist()]


def sorted_lines(
    rows: Rows, columns: tuple[Field, ...], plain: Plain, tuning: Files = DEFAULT.files
) -> Iterator[str] | None:
    """Return the lines of a CSV file, in order and in large pieces; None for types that Arrow writes differently."""
    if not all(is_simple(c.type) and not isinstance(c.type, types.Float | types.Double) for c in columns):
        return None
    table = rows_table(rows, columns, plain)
    if not _is_ordered(table):
        table = table.take(pc.sort_indices(table, [(name, "ascending") for name in table.column_names]))
    lines = _lines if any(isinstance(column.type, types.String) for column in columns) else _plain_lines
    size = int(tuning.slice_rows)
    return (lines(table.slice(start, size)) for start in range(0, len(table), size))


def _is_ordered(table: pa.Table) -> bool:
    """Tell whether the rows are in order, as the columnar engine gives them unless there are strings."""
    tied = None
    for column in table.columns:
        before, after = column.slice(0, max(0, len(column) - 1)), column.slice(1)
        falls = pc.less(after, before)
        if pc.any(falls if tied is None else pc.and_(tied, falls)).as_py():
            return False
        same = pc.equal(before, after)
        tied = same if tied is None else pc.and_(tied, same)
    return True


def _plain_lines(table: pa.Table) -> str:
    """Return the lines of columns without strings, none of whose cells Arrow quotes."""
    text = pa.BufferOutputStream()
    csv.write_csv(table, text, csv.WriteOptions(include_header=False, batch_size=max(1, table.num_rows)))
    return str(text.getvalue(), "utf-8")


def _lines(table: pa.Table) -> str:
    cells = [_cells(column.combine_chunks(), alone=table.num_columns == 1) for column in table.columns]
    joined = pc.binary_join_element_wise(pc.binary_join_element_wise(*cells, ","), "", "\n")
    ends = joined.buffers()[1]
    assert joined.offset == 0, "made just now"
    last = np.frombuffer(ends, np.int32, 1, 4 * len(joined))[0]
    return str(memoryview(joined.buffers()[2])[:last], "utf-8")


def _cells(column: Any, *, alone: bool) -> Any:
    """Return the text of each cell; see `delimited` for what is quoted."""
    if not pa.types.is_string(column.type):
        return column.cast(pa.string())
    special = pc.match_substring_regex(column, '[",\r\n]')
    if alone:
        special = pc.or_(special, pc.equal(column, ""))
    quoted = pc.binary_join_element_wise('"', pc.replace_substring(column, '"', '""'), '"', "")
    return pc.if_else(special, quoted, column)
