"""Closing a cycle: the rows of one relation that match bindings and have the same code as matches in another.

    Triangle(x, y, z) :- Edge(x, y), Edge(y, z), Edge(x, z).      the z after y that also stand after x

Both scans bind the same one variable, and have its column last in the order they are probed in. So the matches of a
binding are two sorted runs, which are walked through together: a step of a worst-case-optimal join (Ngo et al.), which
writes nothing but what is in both.
"""

from __future__ import annotations

import numpy as np

from tidelog.base.record import record
from tidelog.run.columnar.arrays.narrow import Runs
from tidelog.run.columnar.arrays.table import Mask, Places, Words
from tidelog.run.columnar.rules.bindings import Table
from tidelog.run.columnar.rules.join import Matches, Output


@record
class Meeting(Matches):
    """Matches in one relation, and those of the same bindings in a second one that they must meet."""

    second: Matches

    def counts(self) -> Places:
        """Return the most matches that each row can have."""
        return np.minimum(Matches.counts(self), self.second.counts())

    def examined(self) -> Places:
        """Return how many matches of either scan are walked through for each row, to find which meet."""
        return Matches.counts(self) + self.second.counts()

    def part(self, start: int, end: int) -> Meeting:
        """Return the matches of some of the rows."""
        return meeting(Matches.part(self, start, end), self.second.part(start, end))

    def chosen(self, keep: Mask) -> Meeting:
        """Return the matches of the rows where the mask is true."""
        return meeting(Matches.chosen(self, keep), self.second.chosen(keep))

    def emit(
        self, output: Output, *, few_times: bool = False, bits: Words | None = None, counted: bool = False
    ) -> Table:
        """Return one row for each match in both, or only those whose bit was not set."""
        table = self.seen.arrays(self.table.count)
        rows = table.move(self.table.rows, output.left, output.constant)
        outs = [
            table.emit_meeting(rows, first, second, output.right)
            for first in _runs(self)
            for second in _runs(self.second)
        ]
        made = np.concatenate(outs, axis=1) if len(outs) > 1 else outs[0]
        if bits is not None:
            made = (table.unknown if counted else table.fresh)(made, bits)
        return Table(output.layout, made)


def meeting(first: Matches, second: Matches) -> Meeting:
    """Return where the matches of the same bindings in two relations meet."""
    total = int(np.minimum(Matches.counts(first), second.counts()).sum())
    return Meeting(first.table, first.seen, first.batches, first.low, first.high, total, second)


def can_meet(matches: Matches) -> bool:
    """Tell whether runs of these matches can be walked through: rows of one word, all of which hold."""
    plain = matches.table.rank is None and all(batch.mark is None for batch, _ in matches.batches)
    return plain and matches.seen.order.layout.words == 1


def _runs(matches: Matches) -> list[Runs]:
    """Return the runs in each batch, and the code of a row: that of the last column."""
    fields = matches.seen.order.layout.fields
    last = fields[matches.seen.order.columns[-1]]
    field = np.array((last.shift if last.bits else 0, (1 << last.bits) - 1, last.base), np.uint64)
    pairs = zip(matches.low, matches.high, matches.batches, strict=True)
    codes = matches.seen.relation.observed[matches.seen.order.columns[-1]]
    return [Runs(low, high, batch.rows, field, codes.low, codes.high) for low, high, (batch, _) in pairs]


def changes(matches: Matches) -> int:
    """Return how often the matches of a binding are not those of the one before."""
    return sum(int(np.count_nonzero(np.diff(low))) for low in matches.low)
