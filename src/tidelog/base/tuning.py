"""The table of thresholds: every constant that chooses how something is computed, with the reason for its value.

What is computed does not depend on any of them, only how, and how fast. A `Tuning` is passed down from the database to
whatever chooses; nothing else decides by a number of its own. Tests draw all of them at random (`Tuning.drawn`), small
enough that tiny data takes every path, and see which were taken (`thresholds`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field, field, fields
from random import Random
from typing import Any

from tidelog.base.record import record
from tidelog.base.thresholds import Number, Path, Paths, threshold
from tidelog.base.tuning_files import Files, Pipelines, Rows
from tidelog.base.tuning_plans import Planning, Traces, Tuples
from tidelog.base.tuning_spark import Spark


@record
class Closures:
    """How transitive closures are kept, from scratch and under changes (`run.closure`)."""

    sample: int = threshold(
        32,
        draws=(1, 2, 4),
        reason="Nodes searched from to estimate what searching from all of them would cost.",
        fitted="closures",
    )


@record
class Tuning:
    """The table, in parts."""

    closures: Closures = field(default_factory=Closures)
    planning: Planning = field(default_factory=Planning)
    traces: Traces = field(default_factory=Traces)
    tuples: Tuples = field(default_factory=Tuples)
    spark: Spark = field(default_factory=Spark)
    rows: Rows = field(default_factory=Rows)
    files: Files = field(default_factory=Files)
    pipelines: Pipelines = field(default_factory=Pipelines)

    @staticmethod
    def drawn(random: Random, paths: Paths) -> Tuning:
        """Return a table drawn at random; comparisons with its thresholds are noted in `paths`.

        >>> from random import Random
        >>> Tuning.drawn(Random(1), Paths()).closures.sample in (1, 2, 4, 32)
        True
        """
        parts = {
            part.name: type(getattr(DEFAULT, part.name))(
                **{
                    one.name: paths.drawn(f"{part.name}.{one.name}", _draw(random, one))
                    for one in fields(getattr(DEFAULT, part.name))
                }
            )
            for part in fields(Tuning)
        }
        return Tuning(**parts)


def _draw(random: Random, one: Field[Any]) -> Number:
    values: list[Any] = [*one.metadata["draws"], one.default]
    drawn: Number = random.choice(values)
    return drawn


def all_thresholds() -> Iterator[tuple[str, Field[Any]]]:
    """Yield the full name of every threshold, and its field, whose metadata has the reason and the draws."""
    for part in fields(Tuning):
        for one in fields(getattr(DEFAULT, part.name)):
            yield f"{part.name}.{one.name}", one


ELSEWHERE = frozenset(("files", "pipelines", "spark"))
"""The parts that a database in this process has nothing to do with: tests of files and of Spark draw these."""


def all_paths(*, elsewhere: bool = False) -> set[Path]:
    """Return every path that tests must take: both ways at each threshold, or each value drawn for a kernel.

    Those of a database in this process, or those `elsewhere`.
    """
    return {
        (name, way)
        for name, one in all_thresholds()
        if (name.partition(".")[0] in ELSEWHERE) == elsewhere
        for way in ([f"= {value}" for value in one.metadata["draws"]] if one.metadata["kernel"] else ("under", "over"))
    }


DEFAULT = Tuning()
"""The table as it is in use."""
