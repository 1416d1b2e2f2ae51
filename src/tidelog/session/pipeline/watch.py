"""Following a folder: each batch of files that arrives becomes a version, exactly once.

The stream has no state of its own: Spark lists the files that are new since its last checkpoint (not their content),
and hands them over batch by batch. A batch that it hands over again after a failure is known by the version it made.
Files must come into the folder whole, by a rename. The program is read again at each batch, so an edit of it is applied
with the next one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from tidelog.base.errors import TidelogError
from tidelog.session.pipeline.addresses import address, local_path
from tidelog.session.pipeline.state.versions import Batch, StateFolder
from tidelog.session.pipeline.told import told

LISTED = "path string, modificationTime timestamp, length long, content binary"
INTERVAL = "1 second"


def follow(
    spark: SparkSession, folder: Path, state: StateFolder, apply: Callable[[list[str], Batch], None], *, once: bool
) -> None:
    """Hand the files of a folder to `apply` batch by batch: those that are there, then what arrives if not `once`."""
    place = state.folder / "stream" / hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]
    failures: list[TidelogError] = []
    context = copy_context()  # Spark calls back in another thread, where nobody is told of progress

    def handle(batch: DataFrame, number: int) -> None:
        try:
            paths = sorted(local_path(row["path"]) for row in batch.collect())
            query = str(json.loads((place / "metadata").read_text())["id"])
            context.run(apply, paths, Batch(query, number))
        except TidelogError as error:
            failures.append(error)
            raise

    files = spark.readStream.format("binaryFile").schema(LISTED).option("recursiveFileLookup", "true")
    writer = files.load(address(folder)).select("path").writeStream.foreachBatch(handle)
    writer = writer.option("checkpointLocation", address(place))
    query = (writer.trigger(availableNow=True) if once else writer.trigger(processingTime=INTERVAL)).start()
    try:
        with told(f"watching {folder}"):
            query.awaitTermination()
    except TidelogError:
        if failures:
            raise failures[0] from None
        raise
    finally:
        query.stop()
