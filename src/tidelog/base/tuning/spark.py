"""The part of the table of thresholds that the engine on Spark chooses by (`run.spark`).

A session's settings `spark.tidelog.*` come before those of the same name here; see `table` for all of them.
"""

from __future__ import annotations

from tidelog.base.record import record
from tidelog.base.tuning.thresholds import threshold


@record
class Spark:
    """Where rows are held and joined on Spark, and who evaluates a stratum (`run.spark`)."""

    alone_rows: int = threshold(
        10_000_000,
        draws=(0, 3, 20),
        fitted="reach from 5 sources over 3 million edges: 2 s of processor time, 10 to 13",
    )
    """Up to this number of tuples in all the columnar engine does everything on the driver, without jobs."""
    alone_bytes: int = threshold(
        128 << 20, draws=(0, 400), fitted="the same: 110 MB of tuples, with indexes 0.6 GB of memory"
    )
    """Bytes of tuples up to which it does, and a sixteenth of the machine's memory."""
    driver_rows: int = threshold(100_000, draws=(0, 3, 20), fitted="race-spark")
    """A stratum that reads at most this number of tuples is evaluated on the driver; with 0 nothing ever is."""
    broadcast_rows: int = threshold(
        100_000, draws=(0, 3), fitted="none: about a megabyte, well below Spark's own 10 MB"
    )
    """A side of a join with at most this number of rows is sent to all executors; the other is not shuffled."""
    replicate_rows: int = threshold(5_000_000, draws=(0, 2, 10), fitted="race-spark")
    """Up to this number of rows, what a stratum reads goes whole to every executor that evaluates a piece."""
    whole_rows: int = threshold(1_000_000, draws=(0, 2, 50), fitted="race-spark")
    """Strata that read at most this number of rows are evaluated together by one executor: jobs take longer."""
    whole_growth: int = threshold(10, draws=(0, 1), fitted="race-spark")
    """How many times its input one executor may derive, and `whole_rows` more, before it gives up."""
    spread_growth: int = threshold(4, draws=(0, 1), fitted="race-spark", kernel=True)
    """How many times its input a partition may derive, and `replicate_rows` more, before it gives up."""
    driver_state: int = threshold(10, draws=(1, 3), fitted="race-spark")
    """How many times `driver_rows` the driver may hold to take over the rest of a stratum's evaluation."""
    driver_share: int = threshold(10, draws=(1, 2), fitted="race-spark")
    """A round that finds at most this part of `driver_rows` is left to the driver, and all after it."""
    update_rounds: int = threshold(4, draws=(0, 1), fitted="race-spark")
    """Rounds of an update that cost less than to evaluate the stratum anew on the driver."""
    most_parts: int = threshold(
        30,
        draws=(1, 3),
        fitted="none: found by long recursions, where a union of hundreds of tables was planned in every round",
    )
    """The tables a relation consists of at most: more make plans long, fewer are merged, and copied, often."""
    gone_rows: int = threshold(100, draws=(0, 3), fitted="none: a condition that is looked at for every tuple read")
    """A table is written anew when more of its tuples are gone: until then they are remembered beside it."""
    gone_layers: int = threshold(6, draws=(0, 1), fitted="none: each is looked up for every tuple that is read")
    """It is also written anew when tuples went, and others came, more often than that in turn."""
    arrow_rows: int = threshold(200_000, draws=(1, 3), fitted="race-spark", kernel=True)
    """Rows in an Arrow batch; Spark's default of 10,000 costs a round trip to Python too often."""
    parcel_bytes: int = threshold(
        4 << 20, draws=(1, 40), fitted="race-spark; Spark holds several cells at a time, each in one piece", kernel=True
    )
    """Bytes of tuples in a parcel, which is a cell: less costs the cell's own bytes, more the memory of executors."""
    worker_bytes: int = threshold(
        1 << 40, draws=(100, 2000, 1 << 20), fitted="none: the settings of the session say what a worker may take"
    )
    """Bytes of tuples that one Python worker holds at most, where its share of the executor is not less."""
    worker_copies: int = threshold(
        4, draws=(1, 8), fitted="none: counted are parcels, Arrow columns, packed words, and these sorted", kernel=True
    )
    """Bytes of memory that a worker takes for a byte of tuples."""
    driver_bytes: int = threshold(64 << 20, draws=(0, 100), fitted="none: what the driver takes without being asked")
    """Bytes of tuples that the driver holds at most; rows may be wide."""
    partition_bytes: int = threshold(
        32 << 20,
        draws=(100, 1000),
        fitted="none: executors of 1 GB hold some blocks of this size",
        kernel=True,
    )
    """Bytes of a relation in one partition: relations that outgrow it are cut into more."""
    more_partitions: int = threshold(
        8, draws=(2, 4), fitted="none: the closure of SF went through after one attempt in vain", kernel=True
    )
    """How many times more partitions there are after one could not hold its keys."""
    most_partitions: int = threshold(1024, draws=(4, 16), fitted="none: each costs a task")
    """Partitions there are at most because of the size of data."""
    derivation: int = threshold(20, draws=(1, 1000), fitted="none: that of the columnar engine", kernel=True)
    """Units of work of a derivation, as `run.maintain` budgets an update; that rounds cost more is not told."""
