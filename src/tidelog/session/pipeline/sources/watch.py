"""Following a folder, and streams: each batch that arrives becomes a version, exactly once.

Spark keeps how far it has read in checkpoints below the state: of a folder which files were there (not their content),
of a stream what its source says. A batch that it hands over again after a failure is known by the version it made,
whose commit has the number of the batch. Files must come into the folder whole, by a rename. The program is read again
at each batch, so an edit of it is applied with the next one. Batches of several streams become versions one by one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextvars import copy_context
from pathlib import Path
from threading import Lock
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from tidelog.base.errors import TidelogError
from tidelog.base.record import record
from tidelog.session.pipeline.config import SourceTable
from tidelog.session.pipeline.paths import TABLE
from tidelog.session.pipeline.places.addresses import address, local_path, spark_address
from tidelog.session.pipeline.state.versions import Batch, StateFolder
from tidelog.session.pipeline.told import told

LISTED = "path string, modificationTime timestamp, length long, content binary"
INTERVAL = "1 second"
LOOK = 1
"""Seconds between two looks at whether a query has ended."""


@record
class Followed:
    """What is followed: a name that its checkpoint is found by, the stream, and what is done with a batch of it."""

    name: str
    frame: DataFrame
    apply: Callable[[DataFrame, Batch], None]
    what: str


def files_of(spark: SparkSession, folder: Path, apply: Callable[[list[str], Batch], None]) -> Followed:
    """Return the files that are in a folder and arrive in it."""

    def take(batch: DataFrame, number: Batch) -> None:
        apply(sorted(local_path(row["path"]) for row in batch.collect()), number)

    files = spark.readStream.format("binaryFile").schema(LISTED).option("recursiveFileLookup", "true")
    return Followed(str(folder.resolve()), files.load(address(folder)).select("path"), take, f"watching {folder}")


def rows_of(spark: SparkSession, stream: SourceTable, apply: Callable[[DataFrame, Batch], None]) -> Followed:
    """Return the stream that a pipeline's file describes."""
    with told(stream):
        reader: Any = spark.readStream.options(**stream.options)
        if stream.format == TABLE:
            frame = reader.table(str(stream.path))
        else:
            if "schema" in stream.options:  # what files hold is not looked at: the first may come later
                reader = reader.schema(stream.options["schema"])
            reader = reader.format(stream.format)
            frame = reader.load(address(stream.path)) if stream.path is not None else reader.load()
    return of_frame(stream, frame, apply)


def of_frame(stream: SourceTable, frame: DataFrame, apply: Callable[[DataFrame, Batch], None]) -> Followed:
    """Return a stream whose rows somebody has described."""
    known = repr((stream.relation, stream.format, stream.path, sorted(stream.options.items())))
    return Followed(known, frame, apply, f"following {stream}")


def follow(streams: Sequence[Followed], state: StateFolder, *, once: bool) -> None:
    """Apply batch by batch what is there, then what arrives if not `once`."""
    failures: list[TidelogError] = []
    turn = Lock()
    queries: list[StreamingQuery] = []
    try:
        for one in streams:
            with told(one.what):
                queries.append(_started(one, state, failures, turn, once=once))
        _wait(queries, streams, failures)
    finally:
        for query in queries:
            query.stop()


def _started(
    one: Followed, state: StateFolder, failures: list[TidelogError], turn: Lock, *, once: bool
) -> StreamingQuery:
    place = state.place.below("stream", hashlib.sha256(one.name.encode()).hexdigest()[:12])
    context = copy_context()  # Spark calls back in another thread, where nobody follows progress

    def handle(batch: DataFrame, number: int) -> None:
        with turn:
            try:
                query = str(json.loads(place.read("metadata"))["id"])
                context.run(one.apply, batch, Batch(query, number))
            except TidelogError as error:
                failures.append(error)
                raise

    writer = one.frame.writeStream.foreachBatch(handle)
    writer = writer.option("checkpointLocation", spark_address(place.address))
    return (writer.trigger(availableNow=True) if once else writer.trigger(processingTime=INTERVAL)).start()


def _wait(queries: Sequence[StreamingQuery], streams: Sequence[Followed], failures: list[TidelogError]) -> None:
    """Wait for all queries, or for the first that fails."""
    waiting = list(zip(queries, streams, strict=True))
    while waiting:
        query, one = waiting.pop(0)
        try:
            with told(one.what):
                if not query.awaitTermination(LOOK):
                    waiting.append((query, one))
        except TidelogError:
            if failures:
                raise failures[0] from None
            raise
