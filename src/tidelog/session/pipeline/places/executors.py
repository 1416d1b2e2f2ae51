"""Executors read and write files of Parquet in a place by themselves, as the driver does: Spark only moves the rows.

So what Spark knows of file systems does not matter: no connector is needed, nothing is renamed, and the driver hears
what each file holds. A file is written once, under a name that no other attempt has, and is part of nothing before a
commit names it; what a failed attempt has left goes with `vacuum`.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tidelog.session.pipeline.places.addresses import address
from tidelog.session.pipeline.places.data_file import DataFile, described
from tidelog.session.pipeline.places.local import Local
from tidelog.session.pipeline.places.place import Place

PART_ROWS = 500_000
"""The most rows of a file that one task reads."""
_FOUND = pa.schema([("path", pa.string()), ("size", pa.int64()), ("rows", pa.int64()), ("ranges", pa.string())])


def write(frame: Any, place: Place, folder: str, schema: pa.Schema | None = None, **options: Any) -> list[DataFile]:
    """Let executors write the rows of a DataFrame in a folder of a place, in the types of a schema if there is one."""

    def written(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        tables = (pa.Table.from_batches([batch]) for batch in batches if batch.num_rows)
        rows = tables if schema is None else (table.cast(schema) for table in tables)
        found = _written(place, f"{folder}/part-{uuid.uuid4()}.parquet".lstrip("/"), rows, options)
        told = [
            {"path": one.path, "size": one.size, "rows": one.rows, "ranges": json.dumps([one.least, one.most])}
            for one in found
        ]
        yield pa.RecordBatch.from_pylist(told, _FOUND)

    done = frame.mapInArrow(written, "path string, size long, rows long, ranges string").collect()
    return [DataFile(row["path"], row["size"], row["rows"], *json.loads(row["ranges"])) for row in done]


def _written(place: Place, path: str, tables: Iterator[pa.Table], options: dict[str, Any]) -> list[DataFile]:
    """Write the rows of a task, if there are any."""
    first = next(tables, None)
    if first is None:
        return []
    footers: list[Any] = []
    with place.output(path) as output:
        with pq.ParquetWriter(output, first.schema, metadata_collector=footers) as writer:
            writer.write_table(first, **options)
            for table in tables:
                writer.write_table(table, **options)
        size = output.tell()
    return [described(path, size, footers[0])]


def read_all(spark: Any, place: Place) -> Any:
    """Return the rows of all files in a place, of which there is one at least, as a DataFrame."""
    found = [one for one in place.files() if one.name.endswith(".parquet")]
    files = [described(one.name, one.size, pq.read_metadata(place.opened(one.name))) for one in found]
    return read(spark, place, files, pq.read_schema(place.opened(found[0].name)).remove_metadata())


def read(spark: Any, place: Place, files: Sequence[DataFile], schema: pa.Schema) -> Any:
    """Return the rows of files as a DataFrame."""
    from pyspark.sql.pandas.types import from_arrow_schema

    if isinstance(place, Local):
        return spark.read.schema(from_arrow_schema(schema)).parquet(*[address(place.path / one.path) for one in files])
    parts = [(one.path, -(-one.rows // PART_ROWS)) for one in files]
    units = [(path, part, number) for path, number in parts for part in range(number)]

    def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for unit in batch.to_pylist():
                file = pq.ParquetFile(place.opened(unit["path"]))
                groups = [*range(file.num_row_groups)][unit["part"] :: unit["parts"]]
                for one in file.iter_batches(row_groups=groups, columns=schema.names):
                    yield from pa.Table.from_batches([one]).cast(schema).to_batches()

    listed = spark.createDataFrame(units, "path string, part long, parts long")
    return listed.repartition(max(1, len(units))).mapInArrow(rows_of, from_arrow_schema(schema))
