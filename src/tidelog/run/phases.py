"""What a scan sees in each phase of an update: `contract.Phase` as views of a relation, for every engine.

During an update a relation keeps apart what changes. Rows that are removed keep their place among the *settled* ones
and are marked; rows that become true stand in *inserted*, those of the current round in the *delta*; *deleted* are the
rows whose removal others are to see.
"""

from __future__ import annotations

from tidelog.base.record import record
from tidelog.plan.nodes import Rule, Scan, Version
from tidelog.run.contract.phase import Phase

ALIVE, DYING, REMOVED, GARBAGE = 0, 1, 2, 3
"""A row holds; is removed in this round; was removed earlier in this update; was removed in an earlier update."""


@record
class View:
    """What a scan sees: settled rows with a mark up to `limit` (below 0: none), inserted rows, the delta, deletions."""

    limit: int = -1
    inserted: bool = False
    delta: bool = False
    deleted: bool = False


BEFORE = View(REMOVED)
MIDDLE = View(ALIVE)
AFTER = View(ALIVE, inserted=True)
BOTH = View(REMOVED, inserted=True)
"""Before and what was inserted: the middle under a negation."""
DELETED = View(deleted=True)
INSERTED = View(inserted=True)
DELTA = View(delta=True)
CURRENT = View(ALIVE, inserted=True, delta=True)
"""The tuples there are now."""
WITH_DYING = View(DYING, inserted=True)


def view_of(scan: Scan, rule: Rule, phase: Phase, members: frozenset[str], *, negated: bool) -> View:
    """Return what a scan of a rule sees in a phase of the stratum of some relations; `negated` if it is anti-joined."""
    if scan.relation in members:
        return view_own(phase, scan.version)
    if scan.version is Version.DELTA:
        return delta_below(phase, negative=rule.negated[scan.occurrence])
    if rule.aggregated[scan.occurrence]:
        return view_aggregated(phase)
    return view_below(phase, scan.version, negated=negated)


def view_below(phase: Phase, version: Version, *, negated: bool) -> View:
    """Return what is seen of a relation of a stratum below; `negated` for the scan of an anti-join."""
    match phase:
        case Phase.BOOT | Phase.INSERT | Phase.RETRACT | Phase.REDISCOVER:
            return AFTER
        case Phase.DELETE | Phase.COUNT | Phase.REDERIVE:
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
            return DELTA if version is Version.DELTA else AFTER if version is Version.OLD else CURRENT
        case Phase.DELETE | Phase.RETRACT:
            return DELTA if version is Version.DELTA else WITH_DYING if version is Version.OLD else AFTER
        case Phase.COUNT:
            return DELETED if version is Version.DELTA else WITH_DYING
        case Phase.REDERIVE | Phase.REDISCOVER:
            return DELETED if version in (Version.DELTA, Version.PART) else AFTER
        case _:
            return AFTER
