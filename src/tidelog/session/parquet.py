"""Rows in a Parquet file, whose columns are those of the relation, in any order."""

from __future__ import annotations

import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tidelog.base.errors import DataError
from tidelog.plan.nodes import Relation
from tidelog.run.contract import Rows
from tidelog.session.arrow import read_table
from tidelog.session.delimited import DAMAGED
from tidelog.session.plain import Plain


def read_parquet(path: Path, relation: Relation, plain: Plain) -> Rows:
    """Return the rows of a file, or raise `DataError`."""
    try:
        source = pa.BufferReader(gzip.decompress(path.read_bytes())) if path.suffix == ".gz" else path
        table = pq.read_table(source)
    except (pa.ArrowInvalid, *DAMAGED) as error:
        raise DataError(f"{path}: not a Parquet file: {error}") from None
    try:
        return read_table(table, relation, plain)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
