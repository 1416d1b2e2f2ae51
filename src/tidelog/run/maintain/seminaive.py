"""Semi-naive evaluation of one stratum from scratch: the batch path, and the yardstick of the update algorithms.

In each round a rule is evaluated once for every body atom that has a delta, with that atom reading the delta, the
atoms before it the old and those after it the new tuples, so that no derivation is found twice:

    delta(1)   = the rules that read nothing of this stratum
    delta(k+1) = derivations that use a tuple of delta(k), minus what is known

A tuple first derived in round k gets rank k, and its derivations in that round are its support: each uses a tuple of
rank k - 1 and none above. Assumes that all strata below are complete and the stratum's relations are empty. Promises
that they then hold the least model.
"""

from __future__ import annotations

from collections.abc import Callable

from tidelog.plan.nodes import Stratum
from tidelog.run.contract.backend import Backend
from tidelog.run.contract.phase import Phase
from tidelog.run.limits import Watch
from tidelog.run.maintain.rounds import touched


def bootstrap(backend: Backend, stratum: Stratum, watch: Watch, finish: Callable[[int], bool] | None = None) -> int:
    """Evaluate a stratum from scratch; return the number of rounds.

    An engine that knows a better way for the rounds left may be asked after each to `finish` the stratum.
    """
    members, batched = stratum.members, backend.batched
    backend.enter(Phase.BOOT, members)
    watch.begin_round(stratum, 1)
    jobs = [(rule, rule.full.tree) for rule in stratum.rules if not members.intersection(rule.reads)]
    rounds = 1
    while jobs or backend.waits:
        done = batched.go_on(stratum.rules, watch.rounds_left()) if batched and rounds > 1 else 0
        if not done:
            backend.absorb(stratum.relations, backend.derive(jobs) if jobs else {})
        rounds += done or 1
        jobs = touched(backend, stratum.rules, members)
        if jobs and finish is not None and finish(rounds - 1):
            break
        if jobs or backend.waits:
            watch.begin_round(stratum, rounds)
    return rounds - 1
