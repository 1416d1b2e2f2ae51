"""Room in which `kernels.rounds` works, lent from one call to the next.

A call needs some twenty arrays of which a small update uses little. To ask the system for them costs more, for each
page, than such an update writes there.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from tidelog.base.record import record
from tidelog.run.columnar.arrays.table import Words
from tidelog.run.columnar.machine.instructions import Numbers
from tidelog.run.columnar.machine.kernels import operands as lines


@record
class Shape:
    """How many members a stratum has, and orders; words of a row; variables of a variant, and words of a key.

    There is room for so many recent tuples of a member, for the derivations of a round, and for rows that it looks at.
    """

    members: int
    orders: int
    width: int
    names: int
    wide: int
    room: int
    largest: int
    visits: int


class Workbench:
    """The arrays for calls of one shape. Nothing is known of what they hold."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        visits, most = shape.visits, max(shape.largest, shape.room)
        self.rows = np.empty((shape.members, shape.width, shape.room), np.uint64)
        """Recent tuples of each member, as they came."""
        self.ranks, self.support, self.every = np.empty((3, shape.members, shape.room), np.int64)
        self.sorted = np.empty((shape.orders, shape.width + 1, shape.room), np.uint64)
        """Recent tuples in each order, with their places behind them."""
        self.where = np.empty((shape.orders, shape.room, 2), np.int64)
        """The batch and the place of tuples in each order."""
        numbers = np.empty((9, most), np.int64)
        numbers[2] = 1
        self.arrays: tuple[Words | Numbers, ...] = (
            np.empty((2, visits, shape.names), np.uint64),
            np.empty((visits, shape.wide), np.uint64),
            np.empty((6, visits), np.int64),
            numbers,
            np.empty((2, most, shape.width), np.uint64),
            np.empty(1 << lines.PLACES, np.int64),
        )
        """What the kernel takes, as `kernels.rounds` lays it out; a derivation is made once."""


_spare: deque[Workbench] = deque(maxlen=4)


def lend(shape: Shape) -> Workbench:
    """Return a workbench of a shape that nobody else has."""
    for _ in range(len(_spare)):
        try:
            found = _spare.popleft()
        except IndexError:  # others have taken them
            break
        if found.shape == shape:
            return found
        _spare.append(found)
    return Workbench(shape)


def give_back(bench: Workbench) -> None:
    """Let others have a workbench."""
    _spare.append(bench)
