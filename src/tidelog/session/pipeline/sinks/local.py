"""Small files written by the driver, as Spark would write them; what might look otherwise is left to Spark."""

from __future__ import annotations

import csv
import json
import re
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tidelog.session.pipeline.config import Sink

_PLAIN = re.compile(r"(?:[^\"\\#\s\x00-\x1f](?:[^\"\\\x00-\x1f]*[^\"\\\s\x00-\x1f])?)?")
"""Texts that every writer of CSV writes in the same way, but for quotes around commas."""


def write_here(sink: Sink, table: pa.Table, folder: Path) -> bool:
    """Write a folder with one file; tell whether that was possible."""
    write = _FORMATS.get(sink.format)
    if write is None or set(sink.options) - _OPTIONS.get(sink.format, set()) or not _alike(sink.format, table):
        return False
    folder.mkdir(parents=True, exist_ok=True)
    name = f"part-00000-{uuid.uuid4()}.{sink.format}"
    write(table, folder / name, sink.options)
    (folder / "_SUCCESS").touch()
    return True


def _alike(kind: str, table: pa.Table) -> bool:
    if kind == "parquet":
        return True
    if any(pa.types.is_floating(field.type) for field in table.schema):
        return False  # Java writes reals in a way of its own
    if kind != "csv":
        return True
    texts = [column for column in table.columns if pa.types.is_string(column.type)]
    return all(_PLAIN.fullmatch(text) for column in texts for text in column.unique().to_pylist())


def _csv(table: pa.Table, path: Path, options: Mapping[str, str]) -> None:
    separator = options.get("sep", ",")
    with path.open("w", encoding="utf-8", newline="") as file:
        if options.get("header", "true") == "true":
            csv.writer(file, delimiter=separator, lineterminator="\n").writerow(table.column_names)
        for row in zip(*[column.to_pylist() for column in table.columns], strict=True):
            file.write(separator.join(_cell(value, separator) for value in row) + "\n")


def _cell(value: object, separator: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    return f'"{text}"' if not text or separator in text else text


def _json(table: pa.Table, path: Path, _: Mapping[str, str]) -> None:
    columns = [
        [int(value) for value in column.to_pylist()] if pa.types.is_decimal(column.type) else column.to_pylist()
        for column in table.columns
    ]
    with path.open("w", encoding="utf-8") as file:
        for row in zip(*columns, strict=True):
            told = dict(zip(table.column_names, row, strict=True))
            file.write(json.dumps(told, ensure_ascii=False, separators=(",", ":")) + "\n")


def _parquet(table: pa.Table, path: Path, _: Mapping[str, str]) -> None:
    pq.write_table(table, path)


_FORMATS: dict[str, Callable[[pa.Table, Path, Mapping[str, str]], None]] = {
    "csv": _csv,
    "json": _json,
    "parquet": _parquet,
}
_OPTIONS = {"csv": {"header", "sep"}}
"""The options that are known here."""
