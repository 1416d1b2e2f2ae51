"""Rows in a Parquet file, whose columns are those of the relation, in any order."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tidelog.base.errors import DataError
from tidelog.base.plain.plain import Plain
from tidelog.base.process.meter import ask, current
from tidelog.plan.nodes import Relation
from tidelog.run.contract.engine import Rows
from tidelog.session.formats.delimited import DAMAGED, read_whole
from tidelog.session.frames.arrow import read_table


def read_parquet(path: Path, relation: Relation, plain: Plain) -> Rows:
    """Return the rows of a file, or raise `DataError`."""
    try:
        source: Any = path
        if path.suffix == ".gz":
            with gzip.open(path) as file:
                source = pa.BufferReader(read_whole(file))
        if current.get() is not None:
            about = pq.read_metadata(source)
            ask(2 * sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups)))
        table = pq.read_table(source)
    except (pa.ArrowInvalid, *DAMAGED) as error:
        raise DataError(f"{path}: not a Parquet file: {error}") from None
    try:
        return read_table(table, relation, plain)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
