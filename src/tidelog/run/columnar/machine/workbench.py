"""Memory in which the virtual machine works, lent from one call to the next.

A call needs some thirty arrays of which a small update uses little. To ask the system for them costs more, for each
page, than such an update writes there.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from tidelog.base.record import record
from tidelog.run.columnar.machine.kernels import operands as op
from tidelog.run.columnar.machine.kernels.state import Bench, Derivations, Lookup, Recent, Registers


@record
class Shape:
    """Sizes of a stratum, and how much there is room for."""

    members: int
    orders: int
    width: int
    """Words of a row."""
    registers: int
    wide: int
    """Words of a key."""
    room: int
    """Recent tuples of a member."""
    largest: int
    """Derivations of a round."""
    visits: int
    """Bindings, and rows that a round looks at."""


class Workbench:
    """The arrays for calls of one shape. Nothing is known of what they hold."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        members, visits, most = shape.members, shape.visits, max(shape.largest, shape.room)
        rows = np.empty((members, shape.width, shape.room), np.uint64)
        ordered = np.empty((shape.orders, shape.width + 1, shape.room), np.uint64)
        begun, end, before = np.zeros((3, members), np.int64)
        ranks, support, every = np.empty((3, members, shape.room), np.int64)
        self.recent = Recent(rows, ranks, support, every, ordered, begun, end)
        derived, found = np.empty((2, most, shape.width), np.uint64)
        body_ranks, heads, times, batches, places, *lookup = np.empty((9, most), np.int64)
        times[:] = 1
        left, right = np.empty((2, visits, shape.registers), np.uint64)
        left_rank, right_rank, choice, low, key_of, met = np.empty((6, visits), np.int64)
        keys, last = np.empty((visits, shape.wide), np.uint64), np.empty(1 << op.PLACES, np.int64)
        buckets = 1 << (2 * (members * shape.room + shape.largest) - 1).bit_length()
        self.bench = Bench(
            Derivations(derived, body_ranks, heads, times),
            batches,
            places,
            Lookup(found, *lookup),
            Registers(left, right, left_rank, right_rank, choice, keys, low, key_of, met, last),
            np.empty((shape.orders, shape.room, 2), np.int64),
            np.empty(buckets, np.int64),
            np.empty((1, shape.width), np.uint64),
            before,
            np.empty((2, members), np.int64),
        )


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
