"""Sources that the driver reads without Spark: files and tables of Delta Lake in which every value fits.

They are on this machine, or in an object store that the pipeline's file says how to reach.

This is the short way beside `reading`, which says what a source means. Whatever it does not know for sure to be the
same there, an option, a quoted cell, a value that does not fit, is left to Spark: it then returns None.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from tidelog.base import types as t
from tidelog.base.record import record
from tidelog.base.tuning.files import Pipelines
from tidelog.base.types import Type, is_simple
from tidelog.plan.nodes import Relation
from tidelog.session.frames.arrow import fit_column
from tidelog.session.pipeline.config import SourceTable
from tidelog.session.pipeline.paths import DELTA, WILD, local_path_of
from tidelog.session.pipeline.places.objects import found_at, is_stored
from tidelog.session.pipeline.places.place import Place
from tidelog.session.pipeline.state.cells import WEIGHT
from tidelog.session.pipeline.state.structured import DATE, OPTION, STRUCTURED

_NONE = frozenset[str]()
_OPTIONS = {"csv": {"sep", "header"}, "json": _NONE, "parquet": _NONE, DELTA: {"versionAsOf"}}
_INTEGER = "^-?[0-9]{1,18}$"
_REAL = r"^-?[0-9]{1,15}(\.[0-9]{1,15})?$"
_DATE = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_SIGNS = {"insert": 1, "delete": -1}


class UnsureError(Exception):
    """Spark is to look."""


def read_here(source: SourceTable, relation: Relation, tuning: Pipelines, *, signed: bool = False) -> pa.Table | None:
    """Return the relation's columns, and the weights of signed rows; None if Spark is to read the source."""
    try:
        _check_options(source)
        names = {column.name: source.columns.get(column.name, column.name) for column in relation.columns}
        if source.format == DELTA:
            found = _delta(source, [*names.values()], tuning)
        else:
            read = {"csv": _csv, "json": _json, "parquet": _parquet}[source.format]
            found = read(files_of(source, tuning), source, [*names.values()], signed)
        empty = source.format == "csv"
        columns = [_fitting(found.column(names[one.name]), one.type, empty=empty) for one in relation.columns]
        if signed:
            columns.append(_weights(found))
        return pa.Table.from_arrays(columns, [*names, *([WEIGHT] if signed else [])])
    except (UnsureError, OSError, KeyError, ValueError, pa.ArrowException):
        return None


def _check_options(source: SourceTable) -> None:
    if set(source.options) - _OPTIONS[source.format]:
        raise UnsureError


@record
class SourceFile:
    """A file of a source: its path below the source's, its size, and where it is."""

    parts: tuple[str, ...]
    size: int
    at: Path | Place

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return str(self.at) if isinstance(self.at, Path) else "/".join(self.parts)

    def content(self) -> bytes:
        """Return its bytes."""
        return self.at.read_bytes() if isinstance(self.at, Path) else self.at.read("/".join(self.parts))

    def table(self) -> Any:
        """Return what a reader of Parquet takes."""
        return self.at if isinstance(self.at, Path) else pa.BufferReader(self.content())


def files_of(source: SourceTable, tuning: Pipelines | None, *, compressed: bool = False) -> list[SourceFile]:
    """Return the files of a source as Spark lists them, if they are not large; perhaps also compressed ones."""
    below, every = _all_files(source)
    found = [one for one in every if not one.parts[-1].startswith((".", "_"))] if below else every
    if below and any("=" in part or len(one.parts) > 1 for one in every for part in one.parts):
        raise UnsureError  # columns in the names of folders
    endings = (".bz2", ".zst", ".lz4", ".snappy", ".deflate", *(() if compressed else (".gz",)))
    odd = any(one.parts[-1].endswith(endings) for one in found)
    if not found or odd or (tuning is not None and sum(one.size for one in found) > tuning.here_bytes):
        raise UnsureError
    return found


def _all_files(source: SourceTable) -> tuple[bool, list[SourceFile]]:
    """Tell whether a source is a folder, and return its files."""
    path = source.path
    if path is None or set(path) & WILD:
        raise UnsureError
    if source.storage is not None and is_stored(path, source.storage):
        store, objects = found_at(path, source.storage)
        files = [SourceFile(tuple(one.name.split("/")), one.size, store) for one in objects]
        return len(files) != 1 or not path.endswith(f"/{objects[0].name}"), files
    local = local_path_of(source)
    if local is None:
        raise UnsureError
    if not local.is_dir():
        return False, [SourceFile((local.name,), local.stat().st_size, local)]
    below = [one for one in sorted(local.rglob("*")) if one.is_file()]
    return True, [SourceFile(one.relative_to(local).parts, one.stat().st_size, one) for one in below]


# --- formats ---------------------------------------------------------------------------------------------------------


def _csv(files: Sequence[SourceFile], source: SourceTable, wanted: Sequence[str], signed: bool) -> pa.Table:
    separator = source.options.get("sep", ",")
    if source.options.get("header", "true") != "true" or len(separator) != 1:
        raise UnsureError
    tables = []
    for file in files:
        content = file.content()
        head, _, rows = content.partition(b"\n")
        if re.search(rb'["\\\r\0]|\n\n', content) or content[:1] in {b"\n", b"\xef"}:
            raise UnsureError
        names = head.decode().split(separator)
        if len(set(names)) < len(names) or not rows:
            raise UnsureError
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
            raise UnsureError
    return pa.concat_tables(tables)


def _json(files: Sequence[SourceFile], _: SourceTable, wanted: Sequence[str], signed: bool) -> pa.Table:
    rows = [json.loads(line) for file in files for line in file.content().decode("utf-8").split("\n") if line.strip()]
    names = _needed([*rows[0]] if rows and isinstance(rows[0], dict) else [], wanted, signed=signed)
    return pa.table({name: pa.array([_text(row[name]) for row in rows], pa.string()) for name in names})


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int):
        return str(value)
    raise UnsureError


def _parquet(
    files: Sequence[SourceFile],
    _: SourceTable,
    wanted: Sequence[str],
    signed: bool,
) -> pa.Table:
    schemas = [pq.read_schema(file.table()) for file in files]
    names = _needed(schemas[0].names, wanted, signed=signed)
    return pa.concat_tables([pq.read_table(file.table(), columns=names, partitioning=None) for file in files])


def _delta(source: SourceTable, wanted: Sequence[str], tuning: Pipelines) -> pa.Table:
    from deltalake import DeltaTable  # noqa: PLC0415  (slow to load)
    from deltalake.exceptions import DeltaError  # noqa: PLC0415  (slow to load)

    if local_path_of(source) is None and not is_stored(source.path, source.storage):
        raise UnsureError
    version = source.options.get("versionAsOf")
    try:
        options = dict(source.storage or {})
        table = DeltaTable(str(source.path), None if version is None else int(version), options)
        sizes = pa.table(table.get_add_actions(flatten=True)).column("size_bytes").to_pylist()
        if sum(sizes) > tuning.here_bytes or set(wanted) - {one.name for one in table.schema().fields}:
            raise UnsureError
        return table.to_pyarrow_table(columns=[*dict.fromkeys(wanted)])
    except DeltaError:
        raise UnsureError from None


def _needed(given: Sequence[str], wanted: Sequence[str], *, signed: bool) -> list[str]:
    sign = [name for name in ("op", "weight") if name in given][:1] if signed else []
    if (signed and not sign) or set(wanted) - set(given):
        raise UnsureError
    return [*dict.fromkeys([*wanted, *sign])]


# --- values ----------------------------------------------------------------------------------------------------------


def _fitting(array: Any, type: Type, *, empty: bool = False) -> Any:
    """Return a column whose values all fit, or texts that the language is to read; `empty` ones may be none."""
    if isinstance(type, t.Named) and type.name in STRUCTURED:
        return _structured(array, type, empty=empty)
    if array.null_count:
        raise UnsureError
    if not is_simple(type):
        if not pa.types.is_string(array.type):
            raise UnsureError
        return array
    if pa.types.is_string(array.type) and type != t.STRING:
        array = _parsed(array, type)
    fitted = fit_column(array, type)
    if fitted is None:
        raise UnsureError
    return fitted


def _structured(array: Any, type: t.Named, *, empty: bool) -> Any:
    """Return a column of an Option, a Date or a DateTime as `sources.values` has it; texts of the language stay."""
    text = pa.types.is_string(array.type)
    if text and not array.null_count and pc.all(pc.match_substring(array, "{")).as_py():
        return array
    if type.name == OPTION:
        return _optional(array, type.arguments[0], empty=empty)
    if array.null_count:
        raise UnsureError
    if type.name == DATE:
        return _date(_matching(array, _DATE).cast(pa.date32()) if text else array)
    if not pa.types.is_timestamp(array.type) or array.type.tz is not None:
        raise UnsureError
    within = pc.multiply(pc.cast(pc.subsecond(pc.cast(array, pa.timestamp("us"))), pa.float64()), 1e6)
    nanoseconds = pc.multiply(pc.cast(pc.round(within), pa.int64()), 1000)
    time = {"hour": pc.hour(array), "minute": pc.minute(array), "second": pc.second(array), "nanosecond": nanoseconds}
    return _struct({"date": _date(array), "time": _struct(time)})


def _optional(array: Any, inner: Type, *, empty: bool) -> Any:
    """Return a column in which null is None, and what is `empty`, if that is how null is written."""
    if not is_simple(inner):
        raise UnsureError
    given = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if pa.types.is_string(given.type):
        if pc.any(pc.match_substring_regex(given, r"^\s*(std::)?(None|Some)\b")).as_py():
            raise UnsureError
        given = pc.if_else(pc.equal(given, ""), pa.scalar(None, pa.string()), given) if empty else given
    there = _fitting(given.drop_null(), inner)
    return pc.replace_with_mask(pa.nulls(len(given), there.type), given.is_valid(), there)


def _date(array: Any) -> Any:
    return _struct({"year": pc.year(array), "month": pc.month(array), "day": pc.day(array)})


def _struct(fields: Mapping[str, Any]) -> Any:
    parts = [one.combine_chunks() if isinstance(one, pa.ChunkedArray) else one for one in fields.values()]
    return pa.StructArray.from_arrays(parts, [*fields])


def _parsed(array: Any, type: Type) -> Any:
    match type:
        case t.Bool():
            lower = pc.utf8_lower(array)
            if not pc.all(pc.is_in(lower, pa.array(["true", "false"]))).as_py() and len(array):
                raise UnsureError
            return pc.equal(lower, "true")
        case t.Float() | t.Double():
            return _matching(array, _REAL).cast(pa.float64())
        case _:
            return _matching(array, _INTEGER).cast(pa.int64())


def _matching(array: Any, pattern: str) -> Any:
    if len(array) and not pc.all(pc.match_substring_regex(array, pattern)).as_py():
        raise UnsureError
    return array


def _weights(found: pa.Table) -> Any:
    if "op" in found.column_names:
        signs = [_SIGNS[text] for text in found.column("op").to_pylist()]
        return pa.array(signs, pa.int64())
    column = found.column("weight")
    return _fitting(column, t.Signed(64))
