"""Ranks of ranked support: numbers of which only the order counts, with room between them.

The rank of a round of a bootstrap, and the one that a tuple gets above its derivations, is a *level*. Levels are far
apart. So a tuple that has lost its support, but has derivations from its own level, can be *lifted* above that, to a
rank that no other tuple has: for all others it stands where it stood, above the same and below the same, and it stands
on these derivations. Each time that tuples of a level are lifted they come below those that were lifted from it
before. A tuple is lifted once: between levels there is no room above a rank. There is none from `TOP` on either, where
levels are side by side, so that there are enough of them.

Functions of a rank take integers, arrays of them, or the integers of kernels, as they say.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from tidelog.run.kernel_types import Places

Number = TypeVar("Number", int, npt.NDArray[np.signedinteger])
Lowest = Places
"""For each of the first levels the lowest rank above it that a tuple was lifted to; the next level if none was."""

ROOM = 1 << 22
"""How far levels are apart."""
APART = 1 << 8
"""How many of them are."""
TOP = ROOM * APART
NONE_LIFTED: Lowest = np.arange(1, APART + 1) * ROOM


def level(number: int) -> int:
    """Return the rank of a round of a bootstrap, counted from 1. For integers and kernels."""
    return min(number, APART) * ROOM + max(number - APART, 0)


def number_of(rank: Number) -> Number:
    """Return the round of a bootstrap that has a rank. For integers and arrays."""
    step = 1 + (rank < TOP) * (ROOM - 1)
    number: Number = rank // step - (rank >= TOP) * (TOP - APART)
    return number


def above(rank: Number) -> Number:
    """Return the lowest level above a rank. For integers, arrays and kernels."""
    step = 1 + (rank < TOP) * (ROOM - 1)
    found: Number = (rank // step + 1) * step
    return found


def lifted(rank: int, lowest: Lowest) -> int:
    """Return the rank to which tuples of a rank can be lifted; the same rank if there is none. For kernels, too."""
    found: int = rank
    if rank < TOP and rank % ROOM == 0:
        found = max(rank, lowest[rank // ROOM] - 1)
    return found


def lowest_of(those: Iterable[Lowest]) -> Lowest:
    """Return what was lifted in several relations."""
    found: Lowest = np.minimum.reduce(list(those))
    return found


def note_lifted(rank: int, lowest: Lowest) -> None:
    """Note a rank that a tuple has, unless it is a level. For kernels, too."""
    if rank < TOP and rank % ROOM != 0:
        lowest[rank // ROOM] = min(lowest[rank // ROOM], rank)
