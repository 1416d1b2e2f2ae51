"""The algorithms and examples of "Modular Materialisation of Datalog Programs" (Hu, Motik, Horrocks), by their numbers.

The modules of the twin (`modular`) are held against the paper's definitions in each of their calls, and the strategy
`modular` against the twin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb
from random import Random

import pytest

from tests.papers.modular import (
    NOTHING,
    Consequences,
    Counter,
    Facts,
    Materialisation,
    Module,
    SymmetricTransitive,
    Transitive,
    closure,
    over_deleted,
    rederivable,
    symmetric_transitive,
    transitive,
)
from tidelog import Database
from tidelog.session.engines import EngineName

MODULES: dict[str, tuple[Callable[[], Module], Consequences]] = {
    "transitive": (Transitive, transitive),
    "symmetric-transitive": (SymmetricTransitive, symmetric_transitive),
}
RULES = {
    "transitive": "R(x, z) :- R(x, y), R(y, z).",
    "symmetric-transitive": "R(x, z) :- R(x, y), R(y, z).  R(x, y) :- R(y, x).",
}
FED = "input relation E(x: u32, y: u32)  output relation R(x: u32, y: u32)  R(x, y) :- E(x, y).\n"


@dataclass
class Checked:
    """A module whose every call is held against the definition it must capture."""

    module: Module
    rules: Consequences

    @property
    def considered(self) -> int:
        return self.module.considered

    def add(self, facts: Facts, delta: Facts) -> Facts:
        found = self.module.add(facts, delta)
        assert found == closure(self.rules, facts, delta)
        return found

    def delete(self, facts: Facts, delta: Facts, counter: Counter) -> Facts:
        found = self.module.delete(facts, delta, counter)
        least, most = (over_deleted(self.rules, facts, delta, by) for by in (counter, lambda _: 0))
        assert least <= found <= most
        return found

    def rederive(self, facts: Facts, delta: Facts) -> Facts:
        found = self.module.rederive(facts, delta)
        assert found == rederivable(self.rules, facts, delta)
        return found


def changes(random: Random, nodes: int, steps: int) -> Iterator[tuple[Facts, Facts]]:
    """Random edges to delete and to insert, the first of them only to insert."""
    edges = [(u, v) for u in range(nodes) for v in range(nodes)]
    for step in range(steps):
        yield (
            frozenset(random.sample(edges, nodes * nodes // 3)) if step else NOTHING,
            frozenset(random.sample(edges, random.randrange(1, nodes))),
        )


def whole(rules: Consequences, explicit: Facts) -> Facts:
    """The materialisation by its definition."""
    return explicit | closure(rules, explicit, explicit)


@pytest.mark.parametrize("kind", MODULES)
def test_theorems_9_and_10_the_modules_capture_their_rules(kind: str) -> None:
    make, rules = MODULES[kind]
    for seed in range(60):
        random = Random(seed)
        (_, first), *others = changes(random, random.randrange(2, 7), 6)
        held = Materialisation(Checked(make(), rules), first)
        assert held.facts == whole(rules, first)
        for deleted, inserted in others:
            explicit = (held.explicit - deleted) | inserted
            held.update(deleted, inserted)
            assert held.explicit == explicit
            assert held.facts == whole(rules, explicit)


@pytest.mark.parametrize("kind", MODULES)
@pytest.mark.parametrize("engine", ["columnar", "tuples"])
def test_the_strategy_gives_the_same(kind: str, engine: EngineName) -> None:
    for seed in range(6):
        held = Materialisation(MODULES[kind][0](), NOTHING)
        database = Database(FED + RULES[kind], strategy="modular", engine=engine)
        for step, (deleted, inserted) in enumerate(changes(Random(seed), 6, 6)):
            held.update(deleted, inserted)
            with database.transaction() as tx:
                tx.delete("E", deleted)
                tx.insert("E", inserted)
            assert database.relation("R").rows() == sorted(held.facts)
            done = {work.strategy for work in tx.result.profile if work.relations == ("R",)}
            if step:
                assert done <= {"closure" if engine == "columnar" else "modular"}
        database.verify()


def test_a_fact_that_is_rederived_and_inserted_is_external() -> None:
    """Why line 39 must not leave it out: when what it was rederived from goes, facts still follow from it."""
    held = Materialisation(Checked(Transitive(), transitive), frozenset({(0, 1), (1, 2), (0, 2)}))
    held.update(frozenset({(0, 2)}), NOTHING)
    assert (0, 2) in held.facts
    held.update(frozenset(), frozenset({(2, 3)}))
    # 0 to 3 by way of 4 as well, so that the fact from 0 to 2 is over-deleted with 0 to 1 and found again
    held.update(NOTHING, frozenset({(0, 4), (4, 2)}))
    held.update(frozenset({(0, 1)}), frozenset({(0, 2)}))
    held.update(frozenset({(0, 4), (2, 3)}), NOTHING)
    held.update(NOTHING, frozenset({(2, 5)}))
    assert held.facts == whole(transitive, frozenset({(1, 2), (4, 2), (0, 2), (2, 5)}))


def instances(facts: Facts) -> int:
    """How many instances of rule (1) are applicable; semi-naive evaluation (Algorithm 1) considers each."""
    return sum(v == x for _, v in facts for x, _ in facts)


@pytest.mark.parametrize("n", [2, 5, 12])
def test_example_1_a_chain_takes_n_squared_rule_instances(n: int) -> None:
    chain = frozenset((i, i + 1) for i in range(n))
    held = Materialisation(Transitive(), chain)
    assert held.facts == {(i, j) for i in range(n + 1) for j in range(i + 1, n + 1)}
    assert instances(held.facts) == comb(n + 1, 3)
    assert held.module.considered == comb(n, 2)


@pytest.mark.parametrize("n", [2, 5, 12])
def test_example_2_a_cycle_takes_n_squared_facts(n: int) -> None:
    cycle = frozenset((i, (i + 1) % n) for i in range(n))
    held = Materialisation(SymmetricTransitive(), cycle)
    assert held.facts == {(i, j) for i in range(n) for j in range(n)}
    assert instances(held.facts) == n**3
    assert held.module.considered == n**2


@pytest.mark.parametrize("kind", MODULES)
def test_examples_1_and_2_in_the_engine(kind: str) -> None:
    """The closure's work, edges walked and words written, is that of the n edges, not of the n squared facts."""
    n = 60
    edges = [(i, (i + 1) % n) for i in range(n)]
    database = Database(FED + RULES[kind], strategy="modular")
    with database.transaction() as tx:
        tx.insert("E", edges)
    assert len(database.relation("R").rows()) == n * n
    assert sum(work.derivations for work in tx.result.profile) < 10 * n


FROM_SOURCES = """
input relation Source(x: u32)  input relation E(x: u32, y: u32)  output relation Reached(x: u32)
Reached(x) :- Source(x).  Reached(y) :- Reached(x), E(x, y).
"""
NOT_A_CLOSURE = """
input relation E(x: u32, y: u32)  input relation F(x: u32, y: u32)  output relation R(x: u32, y: u32)
R(x, y) :- E(x, y).  R(x, y) :- F(x, y).  R(x, z) :- R(x, y), R(y, z), x != z.
"""


@pytest.mark.parametrize("engine", ["columnar", "tuples"])
def test_over_deletion_stops_at_nonrecursive_derivations(engine: EngineName) -> None:
    """A fact that E and F derive and that E derives no more is not over-deleted by DRed^c, but by DRed."""
    found = {}
    for strategy in ("dred", "modular"):
        database = Database(NOT_A_CLOSURE, strategy=strategy, engine=engine)
        with database.transaction() as tx:
            tx.insert("E", [(i, i + 1) for i in range(20)])
            tx.insert("F", [(10, 11)])
        with database.transaction() as tx:
            tx.delete("E", [(10, 11)])
        (work,) = tx.result.profile
        assert work.strategy == strategy
        assert len(database.relation("R").rows()) == comb(21, 2)
        database.verify()
        found[strategy] = work.derivations
    assert found["modular"] == 1
    assert found["dred"] > 100


@pytest.mark.parametrize("engine", ["columnar", "tuples"])
def test_facts_that_only_derive_each_other_go(engine: EngineName) -> None:
    """Recursive derivations do not keep a fact, however many it has: in a cycle that is cut off all go."""
    database = Database(FROM_SOURCES, strategy="modular", engine=engine)
    with database.transaction() as tx:
        tx.insert("Source", [(0,), (7,)])
        tx.insert("E", [(0, 1), (1, 2), (2, 3), (3, 1), (2, 1), (7, 3)])
    with database.transaction() as tx:
        tx.delete("Source", [(0,)])
    assert {x for (x,) in database.relation("Reached").rows()} == {1, 2, 3, 7}
    assert [work.strategy for work in tx.result.profile] == ["modular"]
    database.verify()
    with database.transaction() as tx:
        tx.delete("E", [(7, 3)])
    assert database.relation("Reached").rows() == [(7,)]
    database.verify()
