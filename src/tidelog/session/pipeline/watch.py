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
from pathlib import Path
from typing import Any

from tidelog.base.errors import TidelogError, UserError
from tidelog.session.pipeline.reading import local_path, told
from tidelog.session.pipeline.run import Outcome, Pipeline
from tidelog.session.pipeline.state import Batch

LISTED = "path string, modificationTime timestamp, length long, content binary"
INTERVAL = "1 second"


def watch(pipeline: Pipeline, folder: Path, tell: Callable[[Outcome], None], *, once: bool = False) -> None:
    """Apply what is in the folder, and unless it is only for once, what arrives in it until somebody interrupts."""
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder} to follow")
    if pipeline.state.last() is None:
        for outcome in pipeline.run():
            tell(outcome)
    place = pipeline.state.folder / "stream" / hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]
    failures: list[TidelogError] = []

    def apply(batch: Any, number: int) -> None:
        try:
            paths = sorted(local_path(row.path) for row in batch.collect())
            query = str(json.loads((place / "metadata").read_text())["id"])
            tell(pipeline.apply(paths, "batch", Batch(query, number), lenient=True))
        except TidelogError as error:
            failures.append(error)
            raise

    files = pipeline.spark.readStream.format("binaryFile").schema(LISTED).option("recursiveFileLookup", "true")
    writer = files.load(str(folder)).select("path").writeStream.foreachBatch(apply)
    writer = writer.option("checkpointLocation", str(place))
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
