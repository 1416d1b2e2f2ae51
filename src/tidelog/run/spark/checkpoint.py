"""Computing a DataFrame once: the one place where jobs of the round loop start.

`settle` runs the query, keeps its rows in the executors (on disk when memory is short) and returns a DataFrame that
knows nothing of how they were computed, so that plans do not grow from round to round. Counts are observed by the same
job; a second one would cost as much as many a round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as f

from tidelog.base.errors import EvaluationError
from tidelog.run.spark.worker import failure


@dataclass(frozen=True, slots=True)
class Part:
    """Rows that are computed, their number, and whether they are where a shuffle by the tuple would put them."""

    frame: DataFrame
    count: int
    placed: bool = True


def settle(frame: DataFrame, **wanted: Column) -> tuple[Part, dict[str, int]]:
    """Compute a DataFrame; return it with its number of rows, and the other counts wanted (0 where there is none)."""
    observation = Observation()
    watched = frame.observe(observation, f.count(f.lit(1)).alias("rows"), *[c.alias(n) for n, c in wanted.items()])
    try:
        found = watched.localCheckpoint(eager=True)
    except Exception as error:
        raise told(error) from error
    counts = {name: int(count or 0) for name, count in observation.get.items()}
    return Part(found, counts["rows"]), counts


def collect(frame: DataFrame) -> Any:
    """Return the rows of a DataFrame as an Arrow table."""
    try:
        return frame.toArrow()
    except Exception as error:
        raise told(error) from error


def told(error: Exception) -> Exception:
    """Return the failure of an expression for what it was, and any other error as it is."""
    text = failure(error)
    return error if text is None else EvaluationError(text)
