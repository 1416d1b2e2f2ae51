"""Random Z-sets and streams of them, as hypothesis strategies."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from tidelog.run.dbsp.zsets.stream import Stream, Streams, ZSets
from tidelog.run.dbsp.zsets.zset import ZSet

PAIRS = ZSets(2)
LENGTH = 4


def zsets(columns: int = 2, span: int = 2, *, positive: bool = False) -> st.SearchStrategy[ZSet]:
    """Z-sets of few rows over few values, so that sums cancel and joins meet."""
    rows = st.tuples(*[st.integers(0, 3)] * columns)
    weights = st.integers(1, span) if positive else st.integers(-span, span)
    return st.dictionaries(rows, weights, max_size=5).map(lambda found: ZSet.of(found, columns))


def streams(columns: int = 2) -> st.SearchStrategy[Stream[ZSet]]:
    """Streams that are zero after a few steps."""
    values = st.lists(zsets(columns), min_size=LENGTH, max_size=LENGTH)
    return values.map(lambda found: Stream.of(ZSets(columns), *found))


def nested(columns: int = 2) -> st.SearchStrategy[Stream[Stream[ZSet]]]:
    """Nested streams, outer times first."""
    group = Streams(ZSets(columns))
    return st.lists(streams(columns), min_size=LENGTH, max_size=LENGTH).map(lambda found: Stream.of(group, *found))


def same(a: Stream[ZSet], b: Stream[ZSet], length: int = LENGTH + 2) -> bool:
    """Tell whether two streams agree at first."""
    return a.take(length) == b.take(length)


def same_nested(a: Stream[Stream[ZSet]], b: Stream[Stream[ZSet]], length: int = LENGTH + 2) -> bool:
    """Tell whether two nested streams agree at first."""
    return all(same(x, y, length) for x, y in zip(a.take(length), b.take(length), strict=True))


def grid(stream: Stream[Stream[ZSet]], outer: int, inner: int) -> Sequence[Sequence[ZSet]]:
    """The values of a nested stream at first."""
    return [stream[t].take(inner) for t in range(outer)]
