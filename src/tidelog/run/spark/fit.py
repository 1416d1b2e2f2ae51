"""In which ways strata can be evaluated, and on how many partitions: by bytes, of tuples and of memory.

Sizes are measured when tuples are written (`Relation.width`), memory is known from the settings (`cluster.memory`).
Here are no rules, relations or sessions: sizes go in, ways come out, best first. Any but the last may give up: a
partition stops before it holds more than it may.

| way | where it fits | what a worker holds, and when it is too much |
| --- | --- | --- |
| one partition | strata read at most half of what a worker may hold | all: each stratum in its own way |
| driver | few rows and few bytes | all: the next way |
| by key | half of what a worker may hold is enough for what all get | its keys: more partitions |
| exchanging | the same | its tuples: rounds |
| rounds | everywhere: Spark spills | a batch of rows |

Where an executor has run out of memory already, one partition is out of the question, and there are more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from tidelog.base.record import record
from tidelog.base.tuning.spark import Spark
from tidelog.run.limits import MANY

How = Literal["one partition", "driver", "by key", "exchanging", "rounds"]


@record
class Size:
    """Tuples, and their bytes."""

    rows: int = 0
    bytes: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(self.rows + other.rows, self.bytes + other.bytes)

    def __str__(self) -> str:
        return f"{self.rows:,} rows" + (f", {_megabytes(self.bytes)}" if self.bytes >> 20 else "")


@record
class Capacity:
    """The bytes of tuples that a worker may hold and why, the partitions, and how often memory has been short."""

    bytes: int
    reason: str
    partitions: int
    lost: int = 0

    def rows(self, width: float, beside: int = 0) -> int:
        """Return how many tuples of a width a worker may hold beside other bytes."""
        return max(1, int((self.bytes - beside) / max(1.0, width)))

    def holds(self, size: Size) -> bool:
        """Tell whether half of a worker's bytes are enough: what is derived from tuples needs the rest."""
        return 2 * size.bytes <= self.bytes

    def __str__(self) -> str:
        return f"a worker may hold {_megabytes(self.bytes)} ({self.reason})"


@record
class Shape:
    """What of a stratum decides: what it reads, what of that all need, what it had, and the ways its rules allow."""

    given: Size
    everywhere: Size
    own: Size
    width: float
    """Bytes of a tuple that it derives."""
    recursive: bool = True
    by_key: str = ""
    """The column that its rules keep, if they keep one."""
    exchanging: bool = False


@record
class Fit:
    """A way, the number of its partitions, the tuples that one may derive, and the reason.

    `room` is a factor of what is given, and what comes on top.
    """

    how: How
    reason: str
    room: tuple[int, int]
    partitions: int = 0


def whole(given: Size, own: Size, capacity: Capacity, tuning: Spark) -> Fit | None:
    """Return how one partition evaluates strata together that read, and have, so much; None if it is too much."""
    width = given.bytes / max(1, given.rows)
    room = tuning.whole_growth * given.rows + min(tuning.whole_rows, tuning.replicate_rows)
    if capacity.lost or not 0 < given.rows <= tuning.whole_rows or given.rows > tuning.replicate_rows:
        return None
    if not capacity.holds(given) or own.rows > room or own.bytes > capacity.bytes:
        return None
    return Fit("one partition", f"they read {given}", (0, min(room, capacity.rows(width, given.bytes))), 1)


def fits(shape: Shape, capacity: Capacity, room: int, tuning: Spark) -> Iterator[Fit]:
    """Yield the ways in which a stratum can be evaluated from scratch; `room` is that of the driver, in rows."""
    if shape.recursive and shape.given.rows <= room and shape.given.bytes <= tuning.driver_bytes:
        yield Fit("driver", f"it reads {shape.given}", (0, room))
    everywhere = f"{shape.everywhere} are sent to all"
    if shape.everywhere.rows <= tuning.replicate_rows and capacity.holds(shape.everywhere):
        most = capacity.rows(shape.width, shape.everywhere.bytes)
        if shape.by_key:
            reason = f"rules keep {shape.by_key}, {everywhere}"
            for count in _counts(shape.own + shape.given, capacity, tuning):
                yield Fit("by key", reason, (0, most), count)
        elif shape.exchanging:
            count = max(capacity.partitions, _pieces(shape.own + shape.given, capacity))
            room = min(tuning.replicate_rows, most)
            yield Fit("exchanging", everywhere, (int(tuning.spread_growth), room), count)
    large = shape.recursive and not (capacity.holds(shape.everywhere) and capacity.holds(shape.given))
    yield Fit("rounds", f"it reads {shape.given}, {capacity}" if large else "", (0, MANY), capacity.partitions)


def _counts(size: Size, capacity: Capacity, tuning: Spark) -> Iterator[int]:
    """Yield numbers of partitions to try: what keys there will be is not known, so each time more."""
    count = max(capacity.partitions, _pieces(size, capacity))
    yield count
    while (count := count * int(tuning.more_partitions)) <= tuning.most_partitions:
        yield count


def _pieces(size: Size, capacity: Capacity) -> int:
    """Return into how many pieces tuples must be cut that each is half of what a worker may hold."""
    return -(-2 * size.bytes // max(1, capacity.bytes))


def partitions_for(largest: int, tuning: Spark) -> int:
    """Return into how many partitions a relation of a size in bytes is cut: executors move and spill one as a whole."""
    return min(tuning.most_partitions, -(-largest // int(tuning.partition_bytes)))


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MB" if size >= 10 << 20 else f"{size / (1 << 20):,.1f} MB"
