"""Elastic incremental evaluation (Zhao et al.): each tuple has its first iteration, and its derivations in it.

Bootstrap, the paper's Algorithm 2, is `seminaive`: the round is the iteration k and the rank of the tuples first
derived in it, and their support makes the multiset N#(k). This is Update, Algorithm 3. It goes through the iterations,
with the facts deleted and inserted below as iteration 0, and leaves what Bootstrap would on the new facts, counts and
iterations included (Theorem 3.5). `o` marks what was before the update; I(k) is the union of N(0) to N(k); after
iteration k, I-(k) = Io(k) - I(k) is missing and I+(k) = I(k) - Io(k) ahead. P#[I | N | D, D'] counts derivations from I
that use a tuple of N, and one of D or, negated, of D'.

    N#(k) = No#(k) - P#[Io(k-1) | No(k-1) | I-(k-1), I+(0)] outside Io(k-1)      deletion
                   + P#[I(k-1) | N(k-1) | I+(k-1), I-(0)] outside I(k-1)         insertion
                   + P#[Io(k-1) and I(k-1) | N(k-1)] inside I-(k-1)              re-discovery
            outside I+(k-1)                                                      sparsification

A derivation belongs to the iteration after the greatest rank in its body. So no term is evaluated anew in each
iteration on all that is missing or ahead: when a tuple comes to be missing or ahead, or ceases to, the derivations that
use it are scheduled for the iterations they belong to. That happens to a tuple at most twice, so the work is that of
the change, and an iteration for which nothing is scheduled costs nothing.

    deletion        a tuple leaves its iteration: it has no derivation left in it, or has come in an earlier one. The
                    derivations that use it, with its old rank, will be lost.
    insertion       a tuple comes in an iteration. The derivations that use it will be gained.
    re-discovery    a tuple has left and is nowhere now. Its derivations from what is left will be gained: rules are
                    evaluated backwards, once, for all iterations to come.
    sparsification  a derivation of a later iteration than its head's is not scheduled, or has no effect when due.

Of section 4.2, differences are eager: tuples leave and come when all counts of their iteration are known. Lazy ones,
which look at a tuple where a rule finds it, looked three to six times as often and took up to 1.5 times as long. The
filter of the re-discovery rules is whole (`plan.rewrite.rederive`: the tuples that left come first, and each is looked
up) or divided by variable (`plan.rewrite.rediscover`: their projections filter what the atoms match). Neither is always
better. Divided, matches are not repeated for each of many tuples that left with the same x; whole, only tuples that
left are looked up, where the divided filter also goes through those that stayed, of the same x. So the backend chooses.
Re-discovery remains the dearest term, since of the tuples that left nothing tells which have other derivations
(`ranked` counts them all for that reason). Assumes relations of `Support.FIRST`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tidelog.plan.nodes import Rule, Stratum
from tidelog.run.contract.backend import Backend
from tidelog.run.contract.optional import Iterations
from tidelog.run.contract.phase import Phase
from tidelog.run.limits import Watch
from tidelog.run.maintain.rounds import gain, lose, touched

LOST, GAINED = -1, 1


def update(backend: Backend, stratum: Stratum, removed: Sequence[Rule], added: Sequence[Rule], watch: Watch) -> int:
    """Bring a stratum up to date with the changes below it and of its rules; return the number of iterations."""
    iterations = backend.iterations
    assert iterations is not None, "an engine without them does not offer the strategy"
    kept = tuple(rule for rule in stratum.rules if rule not in added)
    watch.begin_round(stratum, 0)
    lost, regrouped = lose(backend, stratum, kept, removed)
    gained = gain(backend, stratum, kept, added)
    _schedule(iterations, lost, LOST)
    _schedule(iterations, backend.unite([regrouped, gained]), GAINED)
    rounds = 1
    while (iteration := iterations.due(stratum.relations)) is not None:
        rounds += 1
        watch.begin_round(stratum, iteration)
        _iterate(backend, iterations, stratum, iteration)
    for relation in stratum.relations:
        backend.conclude(relation)
    return rounds


def _iterate(backend: Backend, iterations: Iterations, stratum: Stratum, iteration: int) -> None:
    """Settle an iteration, and schedule what the tuples that leave and come in it do to later ones."""
    members = frozenset(stratum.relations)
    for relation in stratum.relations:
        iterations.advance(relation, iteration)
    if jobs := touched(backend, stratum.rules, members):
        backend.enter(Phase.RETRACT, members)
        _schedule(iterations, backend.derive(jobs), LOST)
    gone = {relation for relation in stratum.relations if iterations.turn(relation)}
    # A tuple that has left has no derivation of its iteration or before, so none without a tuple of this stratum.
    again = [rule for rule in stratum.rules if rule.head in gone and members.intersection(rule.reads)]
    if again:
        backend.enter(Phase.REDISCOVER, members)
        _schedule(iterations, backend.derive([(rule, iterations.rediscovery(rule)) for rule in again]), GAINED)
    if jobs := touched(backend, stratum.rules, members):
        backend.enter(Phase.INSERT, members)
        _schedule(iterations, backend.derive(jobs), GAINED)


def _schedule(iterations: Iterations, bags: Mapping[str, Any], sign: int) -> None:
    for relation, bag in bags.items():
        iterations.schedule(relation, bag, sign)
