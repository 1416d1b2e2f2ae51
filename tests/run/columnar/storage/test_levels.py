"""Ranks: levels in order, far apart as long as there is room, and what lies between them."""

from __future__ import annotations

import numpy as np
import pytest

from tidelog.base.tuning.table import DEFAULT
from tidelog.run.columnar.kernels.ranks import (
    APART,
    NONE_LIFTED,
    ROOM,
    TOP,
    above,
    level,
    lifted,
    note_lifted,
    number_of,
)

NUMBERS = [0, 1, 2, 100, APART - 1, APART, APART + 1, APART + 1000]


def test_levels_are_in_order_and_known_by_their_numbers() -> None:
    levels = [level(number) for number in NUMBERS]
    assert levels == sorted(set(levels))
    assert [number_of(rank) for rank in levels] == NUMBERS
    assert number_of(np.array(levels)).tolist() == NUMBERS
    assert max(levels) < DEFAULT.counting.highest_rank < 1 << 31


@pytest.mark.parametrize("number", NUMBERS)
def test_the_next_level_is_above_everything_between(number: int) -> None:
    rank, following = level(number), level(number + 1)
    between = [rank, following - 1, *([rank + 1, rank + ROOM // 2] if rank < TOP else [])]
    assert [above(one) for one in between] == [following] * len(between)
    assert above(np.array(between)).tolist() == [following] * len(between)


def test_tuples_are_lifted_below_those_lifted_before_until_there_is_no_room() -> None:
    lowest = NONE_LIFTED.copy()
    first = lifted(level(3), lowest)
    assert level(3) < first < level(4)
    note_lifted(first, lowest)
    second = lifted(level(3), lowest)
    assert level(3) < second < first
    assert lifted(level(2), lowest) == level(3) - 1, "other levels are not touched"
    note_lifted(level(3) + 1, lowest)
    assert lifted(level(3), lowest) == level(3)
    assert lifted(first, lowest) == first, "between levels there is no room"
    assert lifted(TOP, lowest) == TOP
    assert NONE_LIFTED[3] == level(4), "what is shared is not changed"
