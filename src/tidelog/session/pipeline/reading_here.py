"""Sources that the driver reads without Spark: local files of tables in which every value fits.

This is the short way beside `reading`, which says what a source means. Whatever it does not know for sure to be the
same there, an option, a quoted cell, a value that does not fit, is left to Spark: it then returns None.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from tidelog.base import types as t
from tidelog.base.tuning.files import Pipelines
from tidelog.base.types import Type
from tidelog.plan.nodes import Relation
from tidelog.session.frames.arrow import fit_column, is_simple
from tidelog.session.pipeline.config import SourceTable
from tidelog.session.pipeline.paths import WILD, local_path_of
from tidelog.session.pipeline.state.cells import WEIGHT

_OPTIONS = {"csv": {"sep", "header"}, "json": frozenset[str](), "parquet": frozenset[str]()}
_INTEGER = "^-?[0-9]{1,18}$"
_REAL = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"
_SIGNS = {"insert": 1, "delete": -1}


class _Unsure(Exception):  # noqa: N818  (never leaves this module)
    """Spark is to look."""


def read_here(source: SourceTable, relation: Relation, tuning: Pipelines, *, signed: bool = False) -> pa.Table | None:
    """Return the relation's columns, and the weights of signed rows; None if Spark is to read the source."""
    try:
        files = _files(source, tuning)
        names = {column.name: source.columns.get(column.name, column.name) for column in relation.columns}
        read = {"csv": _csv, "json": _json, "parquet": _parquet}[source.format]
        found = read(files, source, [*names.values()], signed)
        columns = [_fitting(found.column(names[one.name]), one.type) for one in relation.columns]
        if signed:
            columns.append(_weights(found))
        return pa.Table.from_arrays(columns, [*names, *([WEIGHT] if signed else [])])
    except (_Unsure, OSError, KeyError, ValueError, pa.ArrowException):
        return None


def _files(source: SourceTable, tuning: Pipelines) -> list[Path]:
    """Return the files of a source as Spark lists them."""
    path = local_path_of(source)
    if path is None or set(str(path)) & WILD or set(source.options) - _OPTIONS[source.format]:
        raise _Unsure
    files = [path]
    if path.is_dir():
        below = [one for one in sorted(path.rglob("*")) if one.is_file()]
        parts = {one: one.relative_to(path).parts for one in below}
        if any("=" in part or len(found) > 1 for found in parts.values() for part in found):
            raise _Unsure  # columns in the names of folders
        files = [one for one in below if not one.name.startswith((".", "_"))]
    odd = any(one.suffix in {".gz", ".bz2", ".zst", ".lz4", ".snappy", ".deflate"} for one in files)
    if not files or odd or sum(one.stat().st_size for one in files) > tuning.here_bytes:
        raise _Unsure
    return files


# --- formats ---------------------------------------------------------------------------------------------------------


def _csv(files: Sequence[Path], source: SourceTable, wanted: Sequence[str], signed: bool) -> pa.Table:
    separator = source.options.get("sep", ",")
    if source.options.get("header", "true") != "true" or len(separator) != 1:
        raise _Unsure
    tables = []
    for file in files:
        content = file.read_bytes()
        head, _, rows = content.partition(b"\n")
        if re.search(rb'["\\\r\0]|\n\n', content) or content[:1] in {b"\n", b"\xef"}:
            raise _Unsure
        names = head.decode().split(separator)
        if len(set(names)) < len(names) or not rows:
            raise _Unsure
        tables.append(
            pyarrow.csv.read_csv(
                pa.py_buffer(content),
                parse_options=pyarrow.csv.ParseOptions(delimiter=separator, quote_char=False),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    include_columns=_needed(names, wanted, signed=signed),
                    strings_can_be_null=False,
                ),
            )
        )
        if tables[-1].column_names != tables[0].column_names:
            raise _Unsure
    return pa.concat_tables(tables)


def _json(files: Sequence[Path], _: SourceTable, wanted: Sequence[str], signed: bool) -> pa.Table:
    rows = [json.loads(line) for file in files for line in file.read_text("utf-8").split("\n") if line.strip()]
    names = _needed([*rows[0]] if rows and isinstance(rows[0], dict) else [], wanted, signed=signed)
    return pa.table({name: pa.array([_text(row[name]) for row in rows], pa.string()) for name in names})


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int):
        return str(value)
    raise _Unsure


def _parquet(
    files: Sequence[Path],
    _: SourceTable,
    wanted: Sequence[str],
    signed: bool,
) -> pa.Table:
    schemas = [pq.read_schema(file) for file in files]
    names = _needed(schemas[0].names, wanted, signed=signed)
    return pa.concat_tables([pq.read_table(file, columns=names, partitioning=None) for file in files])


def _needed(given: Sequence[str], wanted: Sequence[str], *, signed: bool) -> list[str]:
    sign = [name for name in ("op", "weight") if name in given][:1] if signed else []
    if (signed and not sign) or set(wanted) - set(given):
        raise _Unsure
    return [*dict.fromkeys([*wanted, *sign])]


# --- values ----------------------------------------------------------------------------------------------------------


def _fitting(array: Any, type: Type) -> Any:
    """Return a column whose values all fit, or texts that the language is to read."""
    if array.null_count:
        raise _Unsure
    if not is_simple(type):
        if not pa.types.is_string(array.type):
            raise _Unsure
        return array
    if pa.types.is_string(array.type) and type != t.STRING:
        array = _parsed(array, type)
    fitted = fit_column(array, type)
    if fitted is None:
        raise _Unsure
    return fitted


def _parsed(array: Any, type: Type) -> Any:
    match type:
        case t.Bool():
            lower = pc.utf8_lower(array)
            if not pc.all(pc.is_in(lower, pa.array(["true", "false"]))).as_py() and len(array):
                raise _Unsure
            return pc.equal(lower, "true")
        case t.Float() | t.Double():
            return _matching(array, _REAL).cast(pa.float64())
        case _:
            return _matching(array, _INTEGER).cast(pa.int64())


def _matching(array: Any, pattern: str) -> Any:
    if len(array) and not pc.all(pc.match_substring_regex(array, pattern)).as_py():
        raise _Unsure
    return array


def _weights(found: pa.Table) -> Any:
    if "op" in found.column_names:
        signs = [_SIGNS[text] for text in found.column("op").to_pylist()]
        return pa.array(signs, pa.int64())
    column = found.column("weight")
    return _fitting(column, t.Signed(64))
