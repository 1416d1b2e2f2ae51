"""Small files written by the driver, as Spark would write them; what might look otherwise is left to Spark."""

from __future__ import annotations

import csv
import io
import json
import re
import uuid
from collections.abc import Callable, Mapping

import pyarrow as pa

from tidelog.session.pipeline.config import Sink
from tidelog.session.pipeline.places.place import Place

_PLAIN = re.compile(r"(?:[^\"\\#\s\x00-\x1f](?:[^\"\\\x00-\x1f]*[^\"\\\s\x00-\x1f])?)?")
"""Texts that every writer of CSV writes in the same way, but for quotes around commas."""


def write_here(sink: Sink, table: pa.Table, place: Place) -> bool:
    """Write a folder with one file; tell whether that was possible."""
    if not _alike(sink, table):
        return False
    name = f"part-00000-{uuid.uuid4()}.{sink.format}"
    if sink.format == "parquet":
        place.write_table(name, table)
    else:
        place.write(name, _TEXTS[sink.format](table, sink.options).encode())
    return True


def _alike(sink: Sink, table: pa.Table) -> bool:
    """Tell whether what is written here is what Spark would write."""
    if sink.format not in {"parquet", *_TEXTS} or set(sink.options) - _OPTIONS.get(sink.format, set()):
        return False
    if sink.format == "parquet":
        return True
    if any(pa.types.is_floating(field.type) for field in table.schema):
        return False  # Java writes reals in a way of its own
    if sink.format != "csv":
        return True
    texts = [column for column in table.columns if pa.types.is_string(column.type)]
    return all(_PLAIN.fullmatch(text) for column in texts for text in column.unique().to_pylist())


def _csv(table: pa.Table, options: Mapping[str, str]) -> str:
    separator, text = options.get("sep", ","), io.StringIO()
    if options.get("header", "true") == "true":
        csv.writer(text, delimiter=separator, lineterminator="\n").writerow(table.column_names)
    for row in zip(*[column.to_pylist() for column in table.columns], strict=True):
        text.write(separator.join(_cell(value, separator) for value in row) + "\n")
    return text.getvalue()


def _cell(value: object, separator: str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    return f'"{text}"' if not text or separator in text else text


def _json(table: pa.Table, _: Mapping[str, str]) -> str:
    columns = [
        [int(value) for value in column.to_pylist()] if pa.types.is_decimal(column.type) else column.to_pylist()
        for column in table.columns
    ]
    rows = (dict(zip(table.column_names, row, strict=True)) for row in zip(*columns, strict=True))
    return "".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows)


_TEXTS: dict[str, Callable[[pa.Table, Mapping[str, str]], str]] = {"csv": _csv, "json": _json}
_OPTIONS = {"csv": {"header", "sep"}}
"""The options that are known here."""
