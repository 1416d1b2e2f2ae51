"""A small delta that meets nothing is told at once, and one that does is not left out."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import tidelog
from tidelog.base.tuning.table import DEFAULT
from tidelog.run.columnar.rules import evaluate
from tidelog.run.columnar.rules.sieve import Sieve

KINDS = 20
PROGRAM = "\n".join(
    [
        "input relation Port(id: u32, network: u32)",
        "input relation Feature(port: u32, kind: u32, value: string)",
        "output relation Flow(port: u32, value: string)",
        *(f"output relation On{k}(port: u32, value: string)" for k in range(KINDS)),
        *(f"On{k}(p, v) :- Feature(p, {k}, v), Port(p, _)." for k in range(KINDS)),
        *(f"Flow(p, v) :- On{k}(p, v), Port(p, n), n > 0." for k in range(KINDS)),
    ]
)


def test_rules_that_a_change_does_not_reach_are_not_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    run, evaluated = evaluate.Pipeline._go, [0]

    def counted(self: evaluate.Pipeline, *given: Any) -> None:
        evaluated[0] += 1
        run(self, *given)

    monkeypatch.setattr(evaluate.Pipeline, "_go", counted)
    database = tidelog.Database(PROGRAM)
    with database.transaction() as tx:
        tx.insert("Port", [(port, port % 3) for port in range(100)])
        tx.insert("Feature", [(port, port % KINDS, f"v{port}") for port in range(60)])
    evaluated[0] = 0
    for port, kinds in ((7, 1), (80, 0)):
        for change in ("delete", "insert"):
            with database.transaction() as tx:
                getattr(tx, change)("Port", [(port, port % 3)])
            assert len(tx.result.profile) == 2 * kinds, "strata that nothing reaches are not said to be followed"
        assert len(database.relation("Flow").rows()) == 40
    assert 0 < evaluated[0] < 4 * KINDS, "a rule that finds something takes a few steps, the others none"


def test_what_is_sieved_changes_no_result() -> None:
    tuning = DEFAULT.having({"joins.asked": 1, "joins.tiny": 3, "small_rounds.delta": -1})
    for seed in range(4):
        random = Random(seed)
        ports = [(port, random.randrange(3)) for port in range(8)]
        features = list({(random.randrange(8), random.randrange(KINDS), random.choice("abc")) for _ in range(12)})
        databases = [tidelog.Database(PROGRAM, tuning=tuning), tidelog.Database(PROGRAM, engine="tuples")]
        for database in databases:
            with database.transaction() as tx:
                tx.insert("Feature", features)
        for _ in range(12):
            relation, rows = random.choice((("Port", ports), ("Feature", features)))
            some, others = random.sample(rows, 2), random.sample(rows, 1)
            changes = []
            for database in databases:
                with database.transaction() as tx:
                    tx.delete(relation, some)
                    tx.insert(relation, others)
                changes.append({name: sorted(tx.result.changes[name]) for name in ("Flow", "On3")})
            assert changes[0] == changes[1]
            databases[0].verify()


def test_no_batch_has_sets_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """To find the values of many rows costs more than a join: they have to be asked for often enough."""
    found: list[bool] = []
    may_pass = Sieve.may_pass

    def noted(self: Sieve, *given: Any) -> bool:
        found.append(may_pass(self, *given))
        return found[-1]

    monkeypatch.setattr(Sieve, "may_pass", noted)
    database = tidelog.Database(PROGRAM, tuning=DEFAULT.having({"joins.asked": 10}))
    with database.transaction() as tx:
        tx.insert("Feature", [(port, 3, f"v{port}") for port in range(100)])
    for port in (200, 201):
        found.clear()
        with database.transaction() as tx:
            tx.insert("Port", [(port, 1)])
        assert found.count(True) == (9 if port == 200 else 0)
