"""Delete and rederive (Shapiro, section 4; Gupta, Mumick and Subrahmanian): nothing is kept beside the tuples.

    over-deletion   everything is deleted that has a derivation from something deleted, whatever else derives it
    alternatives    of the deleted tuples those come back that a rule derives from what is left
    insertion       semi-naive from what came back and what is new

The first two are programs of their own (`plan.rewrite.overdelete` and `plan.rewrite.derive_again` make them, for
people)

    -TC(x, z) :- -Edge(x, y), TC(y, z).           one for each body atom           (example 4.1)
    +TC(x, z) :- -TC(x, z), Edge(x, y), TC(y, z). one for each rule                (example 4.2)

What runs are their plans: the delta variants of a rule are its over-deletion rules, and `plan.rewrite.rederive` gives
its alternative-derivation rule. Alternatives are looked for once, over what over-deletion left; those that need a tuple
which itself comes back are found by the insertion that follows.

Assumes relations of `Support.NONE`, whose backend removes every head of a lost derivation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tidelog.plan.nodes import Rule, Stratum
from tidelog.run.contract.backend import Backend
from tidelog.run.limits import Watch
from tidelog.run.maintain.rounds import backwards, delete, gain, insert, lose, some


def update(backend: Backend, stratum: Stratum, removed: Sequence[Rule], added: Sequence[Rule], watch: Watch) -> int:
    """Bring a stratum up to date with the changes below it and of its rules; return the number of rounds."""
    kept = tuple(rule for rule in stratum.rules if rule not in added)
    watch.begin_round(stratum, 1)
    lost, regrouped = lose(backend, stratum, kept, removed)
    rounds = 1
    alternatives: Mapping[str, Any] = {}
    if some(lost):
        rounds = delete(backend, stratum, kept, lost, watch, 1)
        alternatives = backwards(backend, stratum, kept)
    gained = backend.unite([alternatives, regrouped, gain(backend, stratum, kept, added)])
    return insert(backend, stratum, gained, watch, rounds) if some(lost, gained) else rounds
