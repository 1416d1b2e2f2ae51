"""What jobs of Spark have done: how many there were, the records that their tasks read, and the bytes they spilled.

A record is what Spark counts as one: a row of a table or of what a shuffle moved, or a parcel. Rows that the driver
collects were read by a task before. Spark's own books say it, which are none of its public classes (`internals`).
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import SparkSession

from tidelog.base.record import record
from tidelog.run.spark.frames.internals import internals_of


@record
class Account:
    """Jobs, records read from storage and by shuffles, and bytes spilled to disk."""

    jobs: int = 0
    records: int = 0
    spilled: int = 0


def opened_account(session: SparkSession) -> Callable[[], Account | None]:
    """Return a function that says what was done since; nothing where Spark's own classes are not used."""
    internals = internals_of(session)
    if internals is None:
        return lambda: None
    before = {job for job, _ in internals.jobs()}

    def account() -> Account:
        done = {job: stages for job, stages in internals.jobs() if job not in before}
        stages = {stage for found in done.values() for stage in found}
        read = [internals.stage(stage) for stage in stages]
        return Account(len(done), sum(records for records, _ in read), sum(spilled for _, spilled in read))

    return account
