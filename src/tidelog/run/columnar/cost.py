"""What this engine's operations cost in work, which decides when an update gives way (`run.contract.Switch`).

A unit is what a row costs that a join matches in an evaluation from scratch, some 25 ns of processor time. The weights
were fitted to evaluations from scratch and updates of 1 to 1,000 facts of a dense and a sparse closure and of LUBM, and
rounded by hand. Of those 39 that took more than 10 ms, 36 are told within a factor of two and 27 within 1.3; the others
are a first evaluation, which loads kernels, and two deletions of 10 facts, told at a fifth and at under a half of what
they took. By derivations alone 13 are told within a factor of two. Since then rounds of an update have become cheaper:
on CRDT, with thousands of rounds of a few tuples, one costs as much as a round from scratch. Rows that are left out at
once were fitted to Andersen's analysis, where most are: from scratch a unit is 21 ns there, in an update 15.
"""

from __future__ import annotations

from tidelog.base.record import record
from tidelog.run.contract import Phase


@record
class Weights:
    """Units for a row matched, for a tuple added and for one removed, and for a relation in a round."""

    match: float
    added: float
    removed: float
    round: float


BOOT = Weights(1, 10, 0, 4_000)
UPDATE = Weights(3.5, 10, 15, 5_000)
SIFTED = 0.15
"""For a row matched that is left out at once, since it is known (`known`) or has just been made."""
SHORT = Weights(4, 10, 20, 20)
"""In a round of few tuples that a kernel does (`small_rounds`); `match` is for a row it looks at."""


def weights(phase: Phase) -> Weights:
    """Return what counts in a phase: rows have ranks and marks in all but a bootstrap."""
    return BOOT if phase is Phase.BOOT else UPDATE
