"""What a scan sees in each phase of an update: `run.contract.Phase` as views of a relation."""

from __future__ import annotations

from tidelog.plan.nodes import Version
from tidelog.run.columnar.batch import ALIVE, DYING, REMOVED
from tidelog.run.columnar.relation import View
from tidelog.run.contract import Phase

BEFORE = View(REMOVED)
MIDDLE = View(ALIVE)
AFTER = View(ALIVE, inserted=True)
BOTH = View(REMOVED, inserted=True)
"""Before and what was inserted: the middle under a negation."""
DELETED = View(deleted=True)
INSERTED = View(inserted=True)
DELTA = View(delta=True)
WITH_DELTA = View(ALIVE, inserted=True, delta=True)
WITH_DYING = View(DYING)


def view_below(phase: Phase, version: Version, *, negated: bool) -> View:
    """Return what is seen of a relation of a stratum below; `negated` for the scan of an anti-join."""
    match phase:
        case Phase.BOOT | Phase.INSERT:
            return AFTER
        case Phase.DELETE | Phase.REDERIVE:
            return BOTH if negated else MIDDLE
        case Phase.LOSE if version is Version.NEW:
            return BOTH if negated else MIDDLE
        case Phase.LOSE:
            return BEFORE
        case _ if version is Version.OLD:
            return BOTH if negated else MIDDLE
        case _:
            return AFTER


def delta_below(phase: Phase, *, negative: bool) -> View:
    """Return the delta of a relation below, `negative` if the delta occurrence is negated in its rule."""
    return DELETED if (phase is Phase.LOSE) != negative else INSERTED


def view_aggregated(phase: Phase) -> View:
    """Return what is seen of an aggregated relation, of a stratum below: all of its groups are of one moment."""
    return BEFORE if phase is Phase.LOSE else AFTER


def view_own(phase: Phase, version: Version) -> View:
    """Return what is seen of a relation of the stratum at work."""
    match phase:
        case Phase.BOOT | Phase.INSERT:
            return DELTA if version is Version.DELTA else AFTER if version is Version.OLD else WITH_DELTA
        case Phase.DELETE:
            return DELTA if version is Version.DELTA else WITH_DYING if version is Version.OLD else MIDDLE
        case Phase.REDERIVE:
            return DELETED if version is Version.DELTA else MIDDLE
        case _:
            return AFTER
