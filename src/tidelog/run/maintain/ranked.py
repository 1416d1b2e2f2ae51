"""Ranked support: the default update algorithm.

Every derived tuple has a rank, and a derivation *supports* its head if every body tuple of the same stratum has a lower
rank. The support count of a tuple is the number of its supporting derivations, and it is above zero. So every tuple
stands on strictly lower ground: a count that stays above zero needs no check even under recursion, and nothing is
removed that still stands. Unlike the elastic encoding (Zhao et al.) a rank need not be the first iteration: a later,
shorter derivation moves nothing.

    delete    take away the derivations that used what is gone; tuples left without support are gone
    rederive  removed tuples that have derivations from what is left come back, above their derivations
    insert    semi-naive from what came back and what is new; a derivation of a present tuple counts if it supports it

A backend may count all derivations of a tuple beside the supporting ones, also while it is removed. Then nothing has
to be found again: a removed tuple that has derivations left comes back above every tuple there is, so that it stands on
all of them, and how many they are is known. Otherwise rules are evaluated backwards, and it comes back just above its
derivations. The first costs nothing then, and gives little away: either way tuples that stayed do not stand on one that
came back higher than they are. But a bootstrap has to find all derivations for it, also those of tuples that it has.
Where these are many times as many as the tuples it costs several times as much as one that finds just the support.

Where a backend does not know whether a tuple that has lost its support has derivations left, it may *lift* it
(`LazySupport.lift`): to a rank just above its own, which no other tuple has. Derivations from its own rank support it
there, and everything that stands on it still does; so neither it nor what it supports has to go and come back. What it
has there is counted, by rules evaluated backwards, and if that is nothing it goes. Ranks need room between them for it.

A bootstrap may also leave the support of tuples uncounted, and give them just their ranks. Every tuple has some then;
how much is found, by evaluating rules backwards, when a tuple first loses a derivation of lower rank
(`rounds.delete`). What is gained in the meantime need not be noted.

A relation of bounds (`plan.bounds`) has a door: a candidate is admitted only if it is better than all bounds of its key
that are there, and of one round only the best. Bounds that are dominated stay, for others may stand on them: with
`P <- D(k, 9)` and `D(k, 5) <- P`, dropping `D(k, 9)` would leave `P` and `D(k, 5)` holding each other up. What was not
admitted is not known. So for each key that lost a bound its rules are evaluated backwards, with the key bound, and all
candidates that are not there are offered again; a key that lost nothing needs nothing, since its candidates only
became fewer.

In a stratum without recursion all ranks are 1 and this is plain counting, with nothing to rederive. Assumes relations
of `Support.RANKED`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tidelog.plan.nodes import Rule, Stratum
from tidelog.run.contract.backend import Backend
from tidelog.run.limits import Watch
from tidelog.run.maintain.rounds import delete, gain, insert, left_over, lose, some


def update(backend: Backend, stratum: Stratum, removed: Sequence[Rule], added: Sequence[Rule], watch: Watch) -> int:
    """Bring a stratum up to date with the changes below it and of its rules; return the number of rounds."""
    kept = tuple(rule for rule in stratum.rules if rule not in added)
    watch.begin_round(stratum, 1)
    lost, regrouped = lose(backend, stratum, kept, removed)
    rounds = 1
    again: Mapping[str, Any] = {}
    if some(lost):
        rounds = delete(backend, stratum, kept, lost, watch, 1)
        again = left_over(backend, stratum, kept)
    gained = backend.unite([again, regrouped, gain(backend, stratum, kept, added)])
    return insert(backend, stratum, gained, watch, rounds) if some(lost, gained) else rounds
