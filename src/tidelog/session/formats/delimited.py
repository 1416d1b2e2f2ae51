"""Rows in text files with one row a line: CSV, and tab-separated without quotes.

A first line that has exactly the column names is a header, and decides the order of the columns; in a `.facts` file,
where headers are not usual, only if it is in order. `Dialect.first` says that any first line is one, or that none is. A
cell is a value as the language shows it, strings without quotes. Large files are read by Arrow, a column at a time, and
columns of simple types stay in Arrow. Small files, and every file in which Arrow finds something unexpected, are read
row by row: that reader is the definition of the format, and tells each mistake with its file, line, column, the type
expected and the text found.

A relation without columns has the line `()` for its one possible row.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

from tidelog.base import types
from tidelog.base.arguments import brief
from tidelog.base.errors import DataError
from tidelog.base.plain.plain import Plain
from tidelog.base.process.meter import ask, current, look
from tidelog.base.record import record
from tidelog.base.text.integers import show_integer
from tidelog.base.text.read import read_cell
from tidelog.base.text.write import show_cell
from tidelog.base.tuning.files import Files
from tidelog.base.tuning.table import DEFAULT
from tidelog.base.types import Field, Type
from tidelog.base.values import Value
from tidelog.plan.nodes import Relation
from tidelog.run.contract.engine import Row, Rows
from tidelog.session.formats.mistakes import Mistakes
from tidelog.session.formats.remarks import Header
from tidelog.session.frames.tabular import in_row_order

PIECE = 1 << 20
"""Bytes that are uncompressed between two looks at the limits."""
LOOKED_AT = 1000
"""Lines in which a first line that is a header does not occur again."""
WIDE = 1024
"""Bits up to which Python writes an integer at once."""
DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)
"""What uncompressing a damaged file raises."""
UNIT_LINE = "()"
QUOTE = '"'
_SPECIAL = re.compile('[",\r\n]').search


@record
class Dialect:
    """What separates cells, whether they may be quoted, and whether a header may have another order.

    `first` says whether the first line is a header: `yes`, `no`, or `auto` if it has the names of the columns.
    """

    separator: str
    quoted: bool
    any_order: bool = True
    first: Header = "auto"

    def header(self, cells: list[str], names: list[str]) -> list[str] | None:
        """Return the names of columns in the order that the first line gives them; None if it is not a header.

        >>> COMMA.header(["b", "a"], ["a", "b"]), COMMA.header(["a", "1"], ["a", "b"])
        (['b', 'a'], None)
        """
        if not names or self.first == "no":
            return None
        if cells == names or (self.any_order and sorted(cells) == sorted(names)):
            return cells
        return names if self.first == "yes" else None


COMMA = Dialect(",", quoted=True)
TAB = Dialect("\t", quoted=False)
FACTS = Dialect("\t", quoted=False, any_order=False)


def read_delimited(
    path: Path, relation: Relation, plain: Plain, dialect: Dialect, tuning: Files = DEFAULT.files
) -> Rows:
    """Return the rows of a file, or raise `DataError` with its mistakes."""
    if relation.columns and path.stat().st_size >= tuning.read_bytes:
        from tidelog.session.formats.delimited_arrow import read_columns  # noqa: PLC0415  (loads pyarrow)

        rows = read_columns(path, relation, plain, dialect, tuning)
        if rows is not None:
            return rows
    return read_rows(path, relation, plain, dialect)


def read_rows(path: Path, relation: Relation, plain: Plain, dialect: Dialect) -> list[Row]:
    """Read a file row by row."""
    mistakes = Mistakes(path)
    rows: list[Row] = []
    try:
        with open_text(path) as file, cells_of_any_size():
            for line, cells in _records(file, relation, dialect):
                row = _read_row(line, cells, relation, plain, mistakes)
                if row is not None:
                    rows.append(row)
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except (csv.Error, *DAMAGED) as error:
        raise DataError(f"{path}: {error}") from None
    mistakes.raise_if_any()
    return rows


@contextmanager
def cells_of_any_size() -> Iterator[None]:
    """Within the block Python's reader takes cells of any size: its limit, a setting of the process, is put aside."""
    global _readers, _limit  # noqa: PLW0603  (so is the limit)
    with _limiting:
        _readers += 1
        if _readers == 1:
            _limit = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        with _limiting:
            _readers -= 1
            if not _readers:
                csv.field_size_limit(_limit)


_limiting = threading.Lock()
_readers = _limit = 0


def suspected_header(path: Path, relation: Relation, dialect: Dialect) -> list[str] | None:
    """Return the first line's cells if they are read as a fact although they look like a header.

    In a relation of text alone nothing else would show that: each is a name, all are different, and none of them occurs
    in the lines that follow, of which there is at least one. In a `.facts` file headers are not usual.
    """
    if (
        dialect.first != "auto"
        or not dialect.any_order
        or {column.type for column in relation.columns} != {types.STRING}
    ):
        return None
    with open_text(path) as file, cells_of_any_size():
        first, *rest = [cells for _, cells in islice(_lines(file, relation, dialect), LOOKED_AT)] or [[]]
    names = [column.name for column in relation.columns]
    if not rest or len(first) != len(names) or dialect.header(first, names) is not None:
        return None
    named = all(re.sub("[ .-]", "_", cell).isidentifier() for cell in first) and len({*first}) == len(first)
    return first if named and {*first}.isdisjoint(cell for cells in rest for cell in cells) else None


def open_text(path: Path) -> TextIO:
    """Open a text file, uncompressing it if its name ends in `.gz`."""
    if path.suffix != ".gz":
        return path.open(encoding="utf-8-sig", newline="")
    if current.get() is None:
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    watched = io.BufferedReader(_Watched(gzip.open(path)), PIECE)  # noqa: SIM115  (whoever called closes it)
    return io.TextIOWrapper(watched, encoding="utf-8-sig", newline="")


class _Watched(io.RawIOBase):
    """A file that is uncompressed while limits are looked at: a small one may hold a huge text."""

    def __init__(self, file: gzip.GzipFile) -> None:
        self._file = file

    def readable(self) -> bool:
        """It can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Uncompress some more."""
        look()
        found = self._file.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def read_whole(file: Any) -> Any:
    """Return all bytes of a file, as far as limits allow: what they hold takes as much again, and more."""
    if current.get() is None:
        return file.read()
    pieces = []
    while piece := file.read(PIECE):
        ask(2 * len(piece))
        pieces.append(bytes(piece))
    ask(3 * sum(map(len, pieces)))
    return b"".join(pieces)


def _records(file: TextIO, relation: Relation, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each line after the header, with the number of the line they start on."""
    names = [column.name for column in relation.columns]
    places: list[int] = []
    for number, (line, cells) in enumerate(_lines(file, relation, dialect)):
        header = dialect.header(cells, names) if number == 0 else None
        if header is not None:
            places = [header.index(name) for name in names] if header != names else []
        elif places and len(cells) == len(names):
            yield line, [cells[place] for place in places]
        else:
            yield line, cells


def _lines(file: TextIO, relation: Relation, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    return _quoted(file, dialect) if dialect.quoted else _unquoted(file, relation, dialect)


def _quoted(file: TextIO, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(file, delimiter=dialect.separator, strict=True)
    start = 1
    for cells in reader:
        if cells:
            yield start, cells
        start = reader.line_num + 1


def _unquoted(file: TextIO, relation: Relation, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    # An empty line is a row only where one empty string can be meant.
    one_string = [column.type for column in relation.columns] == [types.STRING]
    for number, line in enumerate(file, 1):
        text = line.rstrip("\r\n")
        if text or one_string:
            yield number, text.split(dialect.separator)


def _read_row(line: int, cells: list[str], relation: Relation, plain: Plain, mistakes: Mistakes) -> Row | None:
    columns = relation.columns
    if not columns and cells == [UNIT_LINE]:
        return ()
    if len(cells) != len(columns):
        wanted = ", ".join(column.name for column in columns) if columns else f"the line {UNIT_LINE}"
        mistakes.add(line, f"expected {len(columns)} cells ({wanted}), found {len(cells)}: {brief(','.join(cells))}")
        return None
    values = []
    for column, text in zip(columns, cells, strict=True):
        try:
            values.append(read_text(text, column, plain))
        except DataError as error:
            mistakes.add(line, misfit(column, text, error))
    return tuple(values) if len(values) == len(columns) else None


def read_text(text: str, column: Field, plain: Plain) -> Value:
    """Read the text of one cell."""
    return read_cell(text, column.type, plain.definitions)


def misfit(column: Field, text: str, error: DataError) -> str:
    """Say what is wrong with a cell."""
    reason = f" ({error})" if isinstance(column.type, types.Tuple | types.Named) else ""
    return f"column `{column.name}`: expected {types.show(column.type)}, found {brief(text)}{reason}"


def write_csv(path: Path, rows: Rows, relation: Relation, plain: Plain, tuning: Files = DEFAULT.files) -> None:
    """Write a header and the rows in order; the file appears whole or not at all."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("w", encoding="utf-8", newline="") as file:
            write_rows(file, rows, relation.columns, plain, tuning)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_rows(
    file: TextIO | io.StringIO, rows: Rows, columns: tuple[Field, ...], plain: Plain, tuning: Files = DEFAULT.files
) -> None:
    """Write a header and the rows in order."""
    if not columns:
        file.write(f"{UNIT_LINE}\n" * len(rows))
        return
    file.write(_line([column.name for column in columns]))
    if hasattr(rows, "__arrow_c_stream__") or len(rows) >= tuning.written_rows:
        from tidelog.session.formats.delimited_arrow import sorted_lines  # noqa: PLC0415  (loads pyarrow)

        lines = sorted_lines(rows, columns, plain, tuning)
        if lines is not None:
            file.writelines(lines)
            return
    shows = [_show(column.type, plain) for column in columns]
    file.writelines(
        _line([show(value) for show, value in zip(shows, row, strict=True)]) for row in in_row_order(rows, columns)
    )


def _show(type: Type, plain: Plain) -> Callable[[Value], str]:
    """Return the function that writes the cells of a column."""
    if isinstance(type, types.BigInt) or (isinstance(type, types.Bit | types.Signed) and type.width > WIDE):
        return show_integer
    if isinstance(type, types.String | types.Bit | types.Signed):
        return str
    return lambda value: show_cell(value, type, plain.definitions)


def _line(cells: list[str]) -> str:
    # Not csv.writer, which quotes a carriage return in some versions of Python and not in others.
    if cells == [""]:
        return '""\n'
    return ",".join([f'"{cell.replace(QUOTE, QUOTE * 2)}"' if _SPECIAL(cell) else cell for cell in cells]) + "\n"
