"""The dynamic interpreter as a circuit (paper 000, sections 4.2 and 4.3): rules and facts are streams alike.

    rewrites = S_0 + product(gatekeep(z^-1 rewrites, directions), index(z^-1 facts, join orders))
    facts    = distinct(E + ground(rewrites, signals))

in a loop, whose inner time counts iterations. `gatekeep` sends each rewrite along every direction that starts at its
provenance, `product` extends it by the facts that fit the atom there, `ground` turns those that have come to the end of
a rule into facts. All three are bilinear, so a change of rules costs what the rules have to do with it, like a change
of facts. `index` arranges facts by the columns that the join orders name; without it (`indexed=False`) product tries
each rewrite on all facts of the relation, which is what figure 4 of the paper compares.

Stratified negation goes beyond the paper. A negated atom passes the rewrites that no fact fits: the rewrites minus
their join with the facts, which is bilinear, too. The facts must be complete by then, so rules have levels, and the
empty rewrite of level k enters the loop not at inner time 0 but at `start(k)`, which no iteration of the levels below
reaches. Then so does everything that is derived from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tidelog.base.tuning.plans import Traces
from tidelog.base.tuning.table import DEFAULT
from tidelog.run.dbsp.circuits.circuit import Circuit
from tidelog.run.dbsp.circuits.operators import Distinct, Stateless
from tidelog.run.dbsp.circuits.tagged import Tagged, Tagwise, TurnedWeights, Weighted
from tidelog.run.dbsp.rewriting.aggregates import Aggregates
from tidelog.run.dbsp.rewriting.ground import Ground
from tidelog.run.dbsp.rewriting.kit import Clause, Gather, Kit, start
from tidelog.run.dbsp.rewriting.parts import Expressions
from tidelog.run.dbsp.rewriting.product import Product
from tidelog.run.dbsp.rewriting.rewrites import Gatekeep, History, Index
from tidelog.run.dbsp.zsets.zset import ZSet


class Interpreter:
    """Rules and facts in codes, and everything that follows from them."""

    def __init__(
        self, *, indexed: bool = True, expressions: Expressions | None = None, tuning: Traces = DEFAULT.traces
    ) -> None:
        self.kit = Kit()
        self.index = Index(tuning)
        self.history = History(tuning)
        self.product = Product(self.index, expressions, indexed=indexed, tuning=tuning)
        self.ground = Ground(self.history, expressions, tuning)
        self.circuit = self._build(expressions, tuning, indexed=indexed)
        self._seeded = Weighted()
        self.on_facts: Callable[[int], None] | None = None
        """What is called in each iteration with the number of facts that were not there in the one before."""

    def _build(self, expressions: Expressions | None, tuning: Traces, *, indexed: bool) -> Circuit:
        circuit = Circuit()
        nothing, few = Tagged(), Weighted()
        rules = circuit.input("rules", zero=few)
        given = circuit.input("facts", zero=nothing)
        seeds = circuit.input("S_0", zero=few)
        kit = self.kit
        orders_of = kit.join_orders if indexed else _no_orders(kit)
        directions, signals, orders, gathers = (
            circuit.lift(function, rules, label=label).then("distinct", TurnedWeights())
            for function, label in (
                (kit.directions, "dir"),
                (kit.signals, "sig"),
                (orders_of, "jorder"),
                (kit.gathers, "aggregates"),
            )
        )
        with circuit.loop() as self.loop:
            empty = self.loop.introduce(seeds, self._enter, nothing)
            arrived, moves, ends = map(self.loop.introduce, (given, directions, signals))
            needed, groups = map(self.loop.introduce, (orders, gathers))
            known = self.loop.feedback(zero=nothing)
            before = self.loop.feedback(zero=nothing)
            indexes = known.then("index" if indexed else "arrange", self.index, [needed])
            past = before.then("arrange", self.history)
            candidates = past.then("gatekeep", Gatekeep(self.history), [moves])
            extended = candidates.then("product", self.product, [indexes])
            rewrites = empty + extended
            grounded = rewrites.then("ground", self.ground, [ends])
            reduced = indexes.then("aggregate", Aggregates(self.index, expressions), [groups])
            apart = Tagwise(lambda _, columns: Distinct(columns, tuning))
            facts = (arrived + grounded + reduced).then("distinct", apart)
            facts = facts.then("facts", Stateless(self._tell))
            known.connect(facts)
            before.connect(rewrites)
        circuit.output("facts", self.loop.eliminate(facts))
        return circuit

    def _tell(self, facts: Tagged) -> Tagged:
        if self.on_facts is not None:
            self.on_facts(max(0, sum(int(change.weights.sum()) for _, change in facts)))
        return facts

    def _enter(self, levels: Weighted) -> list[tuple[int, Any]]:
        one = ZSet(np.empty((0, 1), np.uint64), np.ones(1, np.int64))
        return [(start(level), Tagged({self.kit.root(level): one})) for level, _ in levels]

    def step(self, facts: Mapping[str, ZSet], rules: Mapping[Clause | Gather, int]) -> Mapping[str, ZSet]:
        """Change facts and rules, and return the changes of all relations; weights 1 and -1.

        The facts given are sets, too: one that is there must not be added again. After a failure, `restore`.
        """
        levels = {clause.level for clause, weight in rules.items() if weight > 0}
        seeds = Weighted({level: 1 for level in levels if level not in self._seeded.weights})
        self._seeded += seeds
        found: Tagged = self.circuit.advance(facts=Tagged(facts), rules=Weighted(rules), S_0=seeds)["facts"]
        return found.parts

    def snapshot(self) -> Any:
        """Return the state between two steps."""
        return self._seeded, self.kit.numbers, self.circuit.snapshot()

    def restore(self, state: Any) -> None:
        """Go back to a state, also from within a step that failed."""
        self._seeded, self.kit.numbers, held = state
        self.circuit.restore(held)


def _no_orders(kit: Kit) -> Any:
    """Return the join orders of a circuit without indexes: nothing of a fact is known beforehand."""

    def orders(rules: Weighted) -> Weighted:
        total = Weighted()
        for rule, weight in rules:
            for (relation, positions), count in kit.join_orders(Weighted({rule: weight})):
                total += Weighted({(relation, positions if isinstance(rule, Gather) else ()): count})
        return total

    return orders
