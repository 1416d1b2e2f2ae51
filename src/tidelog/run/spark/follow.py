"""The strata that a change reaches, brought up to date as `choose_way` says; the profile tells how, and why."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from tidelog.plan.nodes import Rule, Stratum
from tidelog.run.contract.engine import Work
from tidelog.run.limits import Watch
from tidelog.run.maintain.choose import Strategy, maintain, strategy_of
from tidelog.run.maintain.cost import NOTHING, Costs
from tidelog.run.maintain.rounds import reads_change
from tidelog.run.maintain.seminaive import bootstrap
from tidelog.run.spark.choose_way import Choice, Chooser, affected
from tidelog.run.spark.fit import Fit
from tidelog.run.spark.frames.grouped import grouped
from tidelog.run.spark.partitions.by_key import refresh
from tidelog.run.spark.partitions.components import connect
from tidelog.run.spark.partitions.driver import finish_on_driver, on_driver
from tidelog.run.spark.partitions.fixpoint import Fixpoint
from tidelog.run.spark.store import Store

LAST_ON_DRIVER = "rounds, the last on the driver"
STRATEGY = {"driver": "on the driver", "rounds": "recompute"}
"""What the profile calls a way, if not by its name."""


@dataclass(slots=True)
class Follower:
    """Brings strata up to date. `how` tells for the strata evaluated from scratch by which way."""

    store: Store
    chooser: Chooser
    how: dict[int, Fit] = field(default_factory=dict)
    _tail: int = 0
    """The rounds that the driver has taken of the stratum at work; below 0: they were too many."""

    def follow(self, strata: Iterator[Stratum], costs: Costs) -> Iterable[Work | None]:
        """Bring the strata that a change reaches up to date, all at once if one partition is to evaluate them."""
        work = self._together()
        return (self._maintain(stratum, costs) for stratum in strata) if work is None else work

    def _together(self) -> list[Work] | None:
        store, start = self.store, time.perf_counter()
        strata = affected(store, store.plan, self.chooser.earlier) if store.tuning.spark.whole_rows else []
        fit, reasons = self.chooser.together(strata)
        if fit is None:
            return None
        heads = [name for stratum in strata for name in stratum.relations]
        store.begin()
        for name in heads:
            store.reset(name)
        made = Fixpoint(store, store.watch)
        if not made.one(strata, fit.room[1]):
            store.drop()
            return None
        found = {name: store.count(name) for name in heads}
        store.compare_all(heads)
        share = (time.perf_counter() - start) / len(strata)
        return [
            Work(
                stratum.number,
                stratum.relations,
                fit.how,
                f"{reason}; {fit.reason}",
                max(made.rounds[name] for name in stratum.relations),
                sum(found[name] for name in stratum.relations),
                share,
            )
            for stratum, reason in zip(strata, reasons, strict=True)
        ]

    def _maintain(self, stratum: Stratum, costs: Costs) -> Work | None:
        """Bring a stratum up to date; one that is empty is evaluated from scratch, which costs fewer jobs."""
        store, chooser = self.store, self.chooser
        rules = chooser.components(stratum)
        if rules is not None:
            return self._connect(stratum, rules)
        pieces = chooser.pieces(stratum)
        if pieces is not None:
            lost, gained = chooser.earlier.changes(stratum)
            if not lost and not gained and not any(reads_change(store, rule) for rule in stratum.rules):
                return None
            start, spent = time.perf_counter(), store.derivations
            assert pieces.way is not None, "it decomposes"
            rounds = refresh(store, stratum, pieces.way, (lost, gained), pieces.fit)
            if rounds is not None:
                used, seconds = store.derivations - spent, time.perf_counter() - start
                reason = f"only the pieces touched; {pieces.fit.reason}"
                return Work(stratum.number, stratum.relations, pieces.fit.how, reason, rounds, used, seconds)
        reason = chooser.from_scratch(stratum)
        store.patience = None if reason else chooser.patience(stratum)
        name = "recompute" if reason else strategy_of(stratum, store.plan, chooser.strategy)
        strategy = Strategy(name, None, store.tuning.budgets)
        done = maintain(store, stratum, chooser.earlier, costs, store.watch, strategy, self._evaluate)
        if store.is_left_to_driver:
            reason = f"the update took more than {store.tuning.spark.update_rounds} rounds"
            members = frozenset(stratum.relations)  # how many rounds it takes the size of a change does not tell
            costs[members] = replace(costs[members], past=NOTHING.past)
        fit = self.how.get(stratum.number)
        if done is None or fit is None:
            return done
        why = "; ".join(filter(None, (reason or done.reason, fit.reason)))
        how = LAST_ON_DRIVER if self._tail > 0 else STRATEGY.get(fit.how, fit.how)
        return replace(done, strategy=how, reason=why)

    def _connect(self, stratum: Stratum, rules: Sequence[Rule]) -> Work | None:
        """Bring components up to date, if a change reaches them."""
        store, known = self.store, (frozenset(stratum.relations), stratum.recursive) in self.chooser.earlier.strata
        changed = any(self.chooser.earlier.changes(stratum)) or any(reads_change(store, rule) for rule in stratum.rules)
        (name,) = stratum.relations
        if known and not changed and (grouped(store.relation(name).settled) or not store.count(name)):
            return None
        start, spent = time.perf_counter(), store.derivations
        rounds = connect(store, stratum, rules)
        used, seconds = store.derivations - spent, time.perf_counter() - start
        reason = f"{name} is read by groups only"
        return Work(stratum.number, stratum.relations, "components", reason, rounds, used, seconds)

    def _evaluate(self, store: Store, stratum: Stratum, watch: Watch) -> int:
        """Evaluate a stratum from scratch in the first way that does not give up; return the number of rounds."""
        for choice in self.chooser.scratch(stratum):
            self.how[stratum.number] = choice.fit
            rounds = self._by(choice, store, stratum, watch)
            if rounds:
                return rounds
        raise AssertionError("the round loop does not give up")

    def _by(self, choice: Choice, store: Store, stratum: Stratum, watch: Watch) -> int:
        """Evaluate a stratum in one way; 0: it has given up."""
        self._tail = 0
        made, fit = Fixpoint(store, watch), choice.fit
        match fit.how:
            case "driver":
                return on_driver(store, stratum, fit.room[1], tracked=self.chooser.strategy != "recompute")
            case "by key":
                assert choice.way is not None, "it decomposes"
                done = made.by_key(stratum, choice.way, fit)
            case "exchanging":
                done = made.exchanging(stratum, fit)
            case _:
                finish = self._finish(stratum) if store.tuning.spark.driver_rows else None
                return max(1, bootstrap(store, stratum, watch, finish) + max(0, self._tail))
        return max(made.rounds.values()) if done else 0

    def _finish(self, stratum: Stratum) -> Callable[[int], bool]:
        def finish(rounds: int) -> bool:
            fit = None if self._tail < 0 else self.chooser.last_rounds(stratum)
            if fit is not None:
                self._tail = finish_on_driver(self.store, stratum, rounds, fit.room[1])
            return fit is not None and self._tail >= 0

        return finish
