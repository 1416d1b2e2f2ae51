"""What this engine's operations cost in work, which decides when an update gives way (`contract.Fallback`).

A unit is some 25 ns of processor time. The weights were fitted by hand to evaluations from scratch and to updates of 10
to 1,000 facts, by stratum: those of a text editor (CRDT), of Andersen's analysis, of LUBM and of closures. Of 90 that
took more than 5 ms, 49 from scratch and 41 updates, 78 are predicted within a factor of 1.3, the others up to 1.6 times
too high, or too low: by four times at worst, where a deletion counts support in many small rounds.

What an evaluation from scratch took is what the one would take that an update may give way to, which does not count
(`LazySupport`). So rows that only counting has to look at weigh less, and comparing with what there was is a part of
it. A deletion may leave less to evaluate than there was: no weight can tell.
"""

from __future__ import annotations

from tidelog.base.record import record
from tidelog.run.contract.phase import Phase


@record
class Weights:
    """Units for a row matched, a tuple added and one removed, a relation in a round and a rule that is evaluated."""

    match: float
    added: float
    removed: float
    round: float
    rule: float


BOOT = Weights(0.8, 5, 0, 4_000, 4_000)
"""From scratch, where nothing is counted."""
COUNTED = Weights(1.6, 8, 0, 4_000, 4_000)
"""From scratch, where all derivations are."""
FIRST = Weights(0.8, 1, 0, 4_000, 4_000)
"""In the first round from scratch, counted or not: there is nothing yet to merge with."""
SUPPORTED = Weights(0.3, 5, 0, 4_000, 4_000)
"""From scratch, where only support is counted, as most rows are of tuples that are there: what uncounted ones take."""
UPDATE = Weights(2.2, 8, 8, 5_000, 2_000)
COUNTING = Weights(2.2, 8, 8, 40_000, 4_000)
"""In an update, where support that nobody has counted is."""
SIFTED = 0.15
"""For a row matched that is left out at once, since it is known (`known`) or has just been made."""
GROUPED = 4
"""For a tuple of a group that is looked at: it is sorted among the others."""
CHECKED = 2
"""For a binding that is held against a relation under a negation: it is sorted among the others."""
SHORT = Weights(2.5, 8, 8, 45, 0)
"""In a round of few tuples that a kernel does (`small_rounds`); `match` is for a row it looks at."""
SHIFTED = 0.28
"""For a word of a recent tuple that makes room for another there."""


COMPARED = 1.5
"""For a tuple that is compared with what there was, after an evaluation in the place of an update."""


def weights(phase: Phase, *, counted: bool) -> Weights:
    """Return what counts in a phase; `counted` tells whether all derivations are in a bootstrap."""
    match phase:
        case Phase.BOOT:
            return COUNTED if counted else BOOT
        case Phase.COUNT:
            return COUNTING
        case _:
            return UPDATE
