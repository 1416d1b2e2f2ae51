"""The table of thresholds: every constant that chooses how something is computed, with the reason for its value.

What is computed does not depend on any of them, only how, and how fast. A `Tuning` is passed down from the database to
whatever chooses; nothing else decides by a number of its own. Tests draw all of them at random (`Tuning.drawn`), small
enough that tiny data takes every path, and see which were taken (`thresholds`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import Field, field, fields, replace
from typing import TYPE_CHECKING, Any

from tidelog.base.record import record
from tidelog.base.tuning.columnar import Batches, Estimates, Filters, Joins, Maps, Sorting
from tidelog.base.tuning.files import Files, Pipelines, Rows
from tidelog.base.tuning.plans import Planning, Traces, Tuples
from tidelog.base.tuning.rounds import Counting, Doors, SmallRounds, Threads
from tidelog.base.tuning.spark import Spark
from tidelog.base.tuning.thresholds import Number, Path, Paths
from tidelog.base.tuning.updates import Budgets, Closures, Compiling

if TYPE_CHECKING:
    from random import Random

VARIABLE = "TIDELOG_COMPILE_AT"
"""The environment variable that sets another number of rows, and of edges, from which on kernels are used.

With 0 they are used from the first row on, as a soak should do, whose inputs are small.
"""


@record
class Tuning:
    """The table, in parts."""

    compiling: Compiling = field(default_factory=Compiling)
    closures: Closures = field(default_factory=Closures)
    planning: Planning = field(default_factory=Planning)
    traces: Traces = field(default_factory=Traces)
    tuples: Tuples = field(default_factory=Tuples)
    spark: Spark = field(default_factory=Spark)
    rows: Rows = field(default_factory=Rows)
    files: Files = field(default_factory=Files)
    pipelines: Pipelines = field(default_factory=Pipelines)
    budgets: Budgets = field(default_factory=Budgets)
    sorting: Sorting = field(default_factory=Sorting)
    batches: Batches = field(default_factory=Batches)
    joins: Joins = field(default_factory=Joins)
    maps: Maps = field(default_factory=Maps)
    filters: Filters = field(default_factory=Filters)
    estimates: Estimates = field(default_factory=Estimates)
    threads: Threads = field(default_factory=Threads)
    counting: Counting = field(default_factory=Counting)
    doors: Doors = field(default_factory=Doors)
    small_rounds: SmallRounds = field(default_factory=SmallRounds)

    def having(self, values: Mapping[str, Number]) -> Tuning:
        """Return the table with other values of some thresholds, by their full names.

        >>> Tuning().having({"closures.sample": 2, "joins.few": 0}).closures.sample
        2
        """
        parts: dict[str, dict[str, Number]] = {}
        for name, value in values.items():
            part, _, one = name.partition(".")
            parts.setdefault(part, {})[one] = value
        return replace(self, **{part: replace(getattr(self, part), **some) for part, some in parts.items()})

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
    """Yield the full name of every threshold, and its field, whose metadata has the draws."""
    for part in fields(Tuning):
        for one in fields(getattr(DEFAULT, part.name)):
            yield f"{part.name}.{one.name}", one


ELSEWHERE = frozenset(("doors", "files", "pipelines", "spark"))
"""The parts that programs of a soak have nothing to do with: tests of minima, of files and of Spark draw these."""


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


def in_use() -> Tuning:
    """Return the table with what the environment wants."""
    wanted = os.environ.get(VARIABLE)
    if wanted is None:
        return Tuning()
    if not wanted.isdecimal():
        raise ValueError(f"the environment variable {VARIABLE} should be a number of rows, and is {wanted!r}")
    return Tuning().having({"compiling.rows": int(wanted), "compiling.edges": int(wanted)})


DEFAULT = in_use()
"""The table as it is in use."""
