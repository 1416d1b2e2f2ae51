"""The parts of the table of thresholds that sessions choose by: rows and files in and out, and pipelines.

See `table` for all of them.
"""

from __future__ import annotations

from tidelog.base.record import record
from tidelog.base.tuning.thresholds import threshold


@record
class Rows:
    """How rows given by a user are checked, and how rows that were read are kept (`session.frames.rows`)."""

    array_rows: int = threshold(64, draws=(1, 3), fitted="updates")
    """From this number of rows on, numbers are checked as an array, which an engine can use again."""
    kept_rows: int = threshold(100_000, draws=(0, 3), fitted="loading")
    """From this number of rows on, what was read of a relation is kept in Arrow: worth loading it."""


@record
class Files:
    """How files are read and written (`session.formats.delimited`)."""

    read_bytes: int = threshold(1 << 18, draws=(0, 40), fitted="loading")
    """A file of this many bytes is worth loading Arrow, which takes as long as reading them row by row."""
    block_bytes: int = threshold(1 << 24, draws=(16, 100), fitted="loading", kernel=True)
    """Bytes of a file that Arrow parses at a time, in parallel; best for files of 100 MB on two cores."""
    written_rows: int = threshold(100_000, draws=(0, 3), fitted="loading")
    """From this number of rows on Arrow writes faster, the time to load it included."""
    slice_rows: int = threshold(1 << 18, draws=(1, 2), fitted="loading", kernel=True)
    """Rows that become text at a time: enough for Arrow, few enough for memory."""


@record
class Pipelines:
    """Where the tables of a pipeline are read and written (`session.pipeline`)."""

    driver_rows: int = threshold(100_000, draws=(0, 2), fitted="none: like the engine's `driver_rows`")
    """Up to this number of rows the driver reads and writes a source or a table of the state, without jobs."""
    here_rows: int = threshold(4_000_000, draws=(0, 3), fitted="none: a million rows take a second and some 100 MB")
    """Up to this number of input rows a pipeline is evaluated in the driver's own process, without Spark."""
    here_bytes: int = threshold(1 << 28, draws=(0, 60), fitted="none: a second or two")
    """Up to this size the driver reads files of a source by itself, if it knows their form."""
    file_rows: int = threshold(100_000, draws=(0, 2), fitted="none: like the engine's `driver_rows`")
    """Up to this number of rows a sink is one file; more are written by all executors at once."""
    key_rows: int = threshold(1_000, draws=(0, 2), fitted="none: an index is asked for each, in some microseconds")
    """Up to this number of changed rows each is looked for by the key of its sink; beyond, all keys are counted."""
    change_files: int = threshold(32, draws=(0, 2), fitted="none: a small file takes a millisecond to open")
    """A table of the state with this many files of changes gets one in their place."""
    change_share: float = threshold(0.5, draws=(0.0, 2.0), fitted="none: what is read is at most half as much again")
    """A table of the state whose changes have more than this share of its rows is written anew."""
