"""Rows in a file of JSON lines: each an array in column order, or an object by column name.

Values have the plain form of `base.plain.plain`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tidelog.base.errors import DataError
from tidelog.base.plain.misfit import Misfit
from tidelog.base.plain.plain import Plain
from tidelog.base.text.integers import read_integer
from tidelog.plan.nodes import Relation
from tidelog.run.contract.engine import Row
from tidelog.session.formats.delimited import DAMAGED, open_text
from tidelog.session.formats.mistakes import Mistakes
from tidelog.session.frames.rows import RowReader


def read_jsonlines(path: Path, relation: Relation, plain: Plain) -> list[Row]:
    """Return the rows of a file, or raise `DataError` with its mistakes."""
    reader = RowReader.of(relation, plain)
    mistakes = Mistakes(path)
    rows: list[Row] = []
    try:
        with open_text(path) as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    row = _read_line(number, line, reader, mistakes)
                    if row is not None:
                        rows.append(row)
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except DAMAGED as error:
        raise DataError(f"{path}: {error}") from None
    mistakes.raise_if_any()
    return rows


def _read_line(number: int, line: str, reader: RowReader, mistakes: Mistakes) -> Row | None:
    try:
        given = reader.values(_parse(line.strip()), "a line")
    except json.JSONDecodeError as error:
        mistakes.add(number, f"not JSON: {error.msg} (column {error.colno})")
        return None
    except (DataError, RecursionError) as error:
        mistakes.add(number, str(error))
        return None
    values = []
    for column, read, value in zip(reader.relation.columns, reader.readers, given, strict=True):
        try:
            values.append(read(value))
        except Misfit as misfit:
            mistakes.add(number, f"column `{column.name}`: {misfit}")
    return tuple(values) if len(values) == len(given) else None


def _parse(line: str) -> Any:
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        raise
    except ValueError:
        # An integer with more digits than Python reads at once.
        return json.loads(line, parse_int=read_integer)
