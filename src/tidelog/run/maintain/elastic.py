"""Elastic incremental evaluation (Zhao et al.): each tuple has its first iteration, and its derivations in it.

Bootstrap, the paper's Algorithm 2, is `seminaive`: round and rank are the iteration k of a tuple, and its support the
count of the multiset N#(k). This is Update, Algorithm 3. It goes through the iterations, with the facts deleted and
inserted below as iteration 0, and leaves what Bootstrap would on the new facts, counts and iterations included
(Theorem 3.5). o marks what was before the update, I(k) is the union of N(0) to N(k), and I-(k) = Io(k) \\ I(k),
I+(k) = I(k) \\ Io(k) are what is missing and what is ahead after iteration k:

    N#(k) = No#(k) - P#[Io(k-1) | No(k-1) | I-(k-1), I+(0)] \\ Io(k-1)           deletion
                   + P#[I(k-1) | N(k-1) | I+(k-1), I-(0)] \\ I(k-1)              insertion
                   + I-(k-1) & P#[Io(k-1) & I(k-1) | N(k-1)]                    re-discovery
                   without I+(k-1)                                              sparsification

P#[I | N | D, D'] counts derivations from I that use a tuple of N, and one of D or, negated, of D'.

A derivation belongs to the iteration after the greatest rank in its body. So a term need not be evaluated anew in each
iteration on what is then missing or ahead: a derivation is scheduled when a tuple of it enters or leaves I- or I+, for
the iteration in which the term has it. That happens to a tuple at most twice, which makes the work one of the change, and
iterations in which nothing is due cost nothing.

    deletion        a tuple leaves its iteration: it has no derivation left in it, or has come in an earlier one. The
                    derivations that used it, with its old rank, are scheduled to be lost.
    insertion       a tuple comes in an iteration. The derivations that use it are scheduled to be gained.
    re-discovery    of a tuple that leaves and is nowhere else, rules are evaluated backwards once: its derivations from
                    what is left are scheduled to be gained.
    sparsification  a derivation of a later iteration than its head's is not scheduled, or when due has no effect.

The differences I- and I+ are eager (section 4.2): an iteration leaves only tuples that really left and came. That costs
nothing here, where the counts are changed for all tuples of an iteration at once. Assumes `Support.FIRST`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tidelog.plan.nodes import Rule, Stratum
from tidelog.run.contract import Iterations, Phase
from tidelog.run.limits import Watch
from tidelog.run.maintain.rounds import gain, lose, rederivation, touched

LOST, GAINED = -1, 1


def update(backend: Iterations, stratum: Stratum, removed: Sequence[Rule], added: Sequence[Rule], watch: Watch) -> int:
    """Bring a stratum up to date with the changes below it and of its rules; return the number of iterations."""
    members = frozenset(stratum.relations)
    kept = tuple(rule for rule in stratum.rules if rule not in added)
    # A tuple that leaves an iteration has no derivation in it or before, so none without a tuple of this stratum.
    recursive = [rule for rule in stratum.rules if members.intersection(rule.reads)]

    def schedule(bags: Mapping[str, Any], sign: int) -> None:
        for relation, bag in bags.items():
            backend.schedule(relation, bag, sign)

    watch.begin_round(stratum, 0)
    lost, regrouped = lose(backend, stratum, kept, removed)
    gained = gain(backend, stratum, kept, added)
    schedule(lost, LOST)
    schedule(backend.unite([regrouped, gained]), GAINED)
    iterations = 1
    while (iteration := backend.due(stratum.relations)) is not None:
        iterations += 1
        watch.begin_round(stratum, iteration)
        for relation in stratum.relations:
            backend.advance(relation, iteration)
        backend.enter(Phase.RETRACT, members)
        schedule(backend.derive(touched(backend, stratum.rules, members)), LOST)
        gone = {relation for relation in stratum.relations if backend.turn(relation)}
        backend.enter(Phase.REDISCOVER, members)
        schedule(backend.derive([(rule, rederivation(rule)) for rule in recursive if rule.head in gone]), GAINED)
        backend.enter(Phase.INSERT, members)
        schedule(backend.derive(touched(backend, stratum.rules, members)), GAINED)
    for relation in stratum.relations:
        backend.conclude(relation)
    return iterations
