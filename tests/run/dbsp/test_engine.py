"""The strategy dbsp: like the reference engine on random histories, rules included; what it refuses, what it undoes."""

from __future__ import annotations

from random import Random

import pytest

from tests.generate.checking import follow
from tests.generate.pipeline import answers, plan_text
from tidelog import Database, Externs, LimitError, Limits, UserError
from tidelog.base.errors import EvaluationError
from tidelog.run.contract.engine import Delta, Engine, Fallback
from tidelog.run.dbsp.engine import DbspEngine
from tidelog.run.reference.engine import ReferenceEngine
from tidelog.session.soak.histories import random_history

CLOSURE = """
input relation Edge(a: u8, b: u8)
output relation Path(a: u8, b: u8)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
"""


@pytest.mark.parametrize("seed", range(8))
def test_random_histories(seed: int) -> None:
    follow(random_history(Random(seed), 15), lambda plan: DbspEngine(plan, indexed=seed % 4 > 0))


def test_facts_without_a_fitting_group() -> None:
    """History 129: facts, but none with the constant of the aggregated atom."""
    follow(random_history(Random(129), 20), DbspEngine)


def test_a_rule_change_is_a_step_not_a_restart() -> None:
    db = Database(CLOSURE, strategy="dbsp")
    with db.transaction() as tx:
        tx.insert("Edge", [(i, i + 1) for i in range(100)])
    with db.transaction() as tx:
        tx.add_rules("Path(a, a) :- Edge(a, _).")
    (work,) = tx.result.profile
    assert work.strategy == "dbsp"
    assert work.reason == "1 rules in, 0 out"
    # 100 edges, and the 100 loops: they are new paths, each followed by one edge.
    assert work.derivations == 100 + 100 + 100
    assert len(list(tx.result.changes["Path"])) == 100
    db.verify()


def test_pairs_that_never_were_are_not_evaluated() -> None:
    """The divisor 0 comes as the only number that would be divided by it goes."""
    text = """
        input relation A(k: u8, n: u8)
        input relation B(k: u8, n: u8)
        output relation C(n: u8)
        C(n / m) :- A(k, n), B(k, m).
    """
    db = Database(text, strategy="dbsp")
    with db.transaction() as tx:
        tx.insert("A", [(1, 8)])
        tx.insert("B", [(1, 2)])
    with db.transaction() as tx:
        tx.delete("A", [(1, 8)])
        tx.insert("A", [(2, 9)])
        tx.insert("B", [(1, 0), (2, 3)])
    assert list(tx.result.changes["C"]) == [((3,), 1), ((4,), -1)]
    with pytest.raises(EvaluationError, match="division by zero"), db.transaction() as tx:
        tx.insert("A", [(1, 5)])
    assert db.relation("C").rows() == [(3,)]
    db.verify()


def test_negations_that_appear_and_vanish_change_levels() -> None:
    start = """
        input relation Node(a: u8)
        input relation Edge(a: u8, b: u8)
        output relation Path(a: u8, b: u8)
        output relation Apart(a: u8, b: u8)
        output relation Alone(a: u8)
        Path(a, b) :- Edge(a, b).
        Path(a, c) :- Path(a, b), Edge(b, c).
        Alone(a) :- Node(a), not Linked(a).
        output relation Linked(a: u8)
        Linked(a) :- Apart(a, _).
    """
    rules = [
        "Apart(a, b) :- Node(a), Node(b), not Path(a, b).",
        "Path(a, a) :- Node(a), not Edge(a, a).",
        "Apart(1, 2).",
    ]
    engines: list[Engine] = [DbspEngine(plan_text(start)), ReferenceEngine(plan_text(start))]
    facts = {"Node": Delta([(i,) for i in range(4)]), "Edge": Delta([(0, 1), (1, 2), (3, 3)])}
    random = Random(5)
    held: list[str] = []
    for number in range(20):
        rule = random.choice(rules)
        held = [other for other in held if other != rule] if rule in held else [*held, rule]
        plan = plan_text(start + "\n".join(held))
        edge = (random.randrange(4), random.randrange(4))
        change = facts if number == 0 else {"Edge": Delta([edge] if number % 2 else (), () if number % 2 else [edge])}
        found = [engine.update(change, plan).changes for engine in engines]
        assert answers(engines[0]) == answers(engines[1])
        sets = [{name: (set(c.inserted), set(c.deleted)) for name, c in changes.items()} for changes in found]
        assert sets[0] == sets[1]
        assert engines[0].verify() == []


def test_a_relation_declared_anew() -> None:
    first = plan_text("input relation R(x: u8)")
    engines: list[Engine] = [DbspEngine(first), ReferenceEngine(first)]
    plans = [
        "input relation R(x: u8)  output relation S(x: u8)  S(x) :- R(x).",
        "input relation R(x: string)  output relation S(x: string)  S(x) :- R(x).",
        "input relation R(x: u8, y: u8)  output relation S(x: u8)  S(x) :- R(x, _).  R(1, 1).",
        "input relation R(x: u8)  output relation S(x: u8)  S(x) :- R(x).",
    ]
    rows: list[list[tuple[object, ...]]] = [[(1,), (2,)], [("a",)], [(1, 2), (3, 4)], [(2,)]]
    for text, inserted in zip(plans, rows, strict=True):
        found = [engine.update({"R": Delta(inserted)}, plan_text(text)).changes for engine in engines]
        assert answers(engines[0]) == answers(engines[1])
        sets = [{name: (set(c.inserted), set(c.deleted)) for name, c in changes.items()} for changes in found]
        assert sets[0] == sets[1]


def test_a_preview_and_an_excess_leave_no_trace() -> None:
    db = Database(CLOSURE, strategy="dbsp")
    with db.transaction() as tx:
        tx.insert("Edge", [(1, 2), (2, 3)])
    with db.transaction() as tx:
        tx.insert("Edge", [(3, 1)])
        tx.add_rules("Path(a, a) :- Edge(a, _).")
        assert len(list(tx.preview()["Path"])) == 6
        tx.rollback()
    excess = r"stratum 0 \(Path\) took more than 5 rounds"
    with pytest.raises(LimitError, match=excess), db.transaction(limits=Limits(rounds=5)) as tx:
        tx.insert("Edge", [(i, i + 1) for i in range(3, 30)])
    with pytest.raises(LimitError, match="more than 50 new tuples"), db.transaction(limits=Limits(tuples=50)) as tx:
        tx.insert("Edge", [(i, i + 1) for i in range(3, 30)])
    assert db.relation("Path").rows() == [(1, 2), (1, 3), (2, 3)]
    with db.transaction() as tx:
        tx.insert("Edge", [(3, 4)])
    assert len(db.relation("Path").rows()) == 6
    db.verify()


def test_functions_with_side_effects_are_refused() -> None:
    text = """
        #[has_side_effects]
        extern function roll(n: u8): u8
        function twice(n: u8): u8 { roll(n) + roll(n) }
        input relation In(n: u8)
        output relation Out(n: u8)
    """
    externs = Externs()
    externs.register("roll")(lambda n: n)
    with pytest.raises(UserError, match=r"cannot follow the rule `Out\(twice\(n\)\) :- In\(n\)\.` .* calls `roll`"):
        Database(text + "Out(twice(n)) :- In(n).", strategy="dbsp", externs=externs)
    db = Database(text, strategy="dbsp", externs=externs)
    with pytest.raises(UserError, match="use another strategy"), db.transaction() as tx:
        tx.add_rules("Out(m) :- In(n), var m = roll(n).")
    with db.transaction() as tx:
        tx.insert("In", [(1,)])
        tx.add_rules("Out(n) :- In(n).")
    assert db.relation("Out").rows() == [(1,)]


def test_wrong_indexes_are_found() -> None:
    engine = DbspEngine(plan_text(CLOSURE))
    engine.update({"Edge": Delta([(1, 2), (2, 3)])})
    assert engine.verify() == []
    trace = engine.interpreter.index.traces["Edge", (0,)]
    trace.batches = ()
    assert engine.verify() == ["Edge: the index on columns (0,) has other facts than the relation"]


def test_the_strategy_has_no_options() -> None:
    with pytest.raises(UserError, match="the strategy `dbsp` has no option `fallback`"):
        Database(CLOSURE, strategy="dbsp", fallback=Fallback(0.2))


def test_rules_that_are_gone_leave_nothing() -> None:
    """Rules that come and go for ever do not fill the memory, and an older snapshot still stands."""
    db = DbspEngine(plan_text(CLOSURE))
    db.update({"Edge": Delta([(1, 2), (2, 3)])})
    token, numbers = db.snapshot(), dict(db.interpreter.kit.numbers)
    for i in range(5):
        db.update({}, plan_text(CLOSURE + f"Path(a, {i}) :- Edge(a, b), Path(b, {i + 1}), a < b."))
    db.update({}, plan_text(CLOSURE))
    assert db.interpreter.kit.numbers == numbers
    assert len(db.interpreter.product.snapshot()) == 3
    state = answers(db)
    db.restore(token)
    db.update({}, plan_text(CLOSURE + "Path(a, 2) :- Edge(a, b), Path(b, 3), a < b."))
    db.update({}, plan_text(CLOSURE))
    assert answers(db) == state
    assert db.verify() == []


def test_an_aggregate_whose_facts_come_to_a_lower_level() -> None:
    """Random history 360: D loses its only rule, so the groups of D need not wait for those of A any more."""
    text = """
        input relation A(x: bit<8>, y: bit<8>)
        output relation D(x: bit<8>, y: bit<8>)
        output relation E(n: bit<8>)
        E(n) :- D(x, y), var n = y.group_by(x).count() as bit<8>.
    """
    more = "D(n, n) :- A(x, y), var g = FlatMap([x, x]), var n = y.group_by(g).min()."
    engines: list[Engine] = [DbspEngine(plan_text(text + more)), ReferenceEngine(plan_text(text + more))]
    steps: list[tuple[dict[str, Delta], str | None]] = [
        ({"A": Delta([(1, 3)])}, None),
        ({}, text),
        ({"A": Delta([(5, 5), (3, 1)])}, text + more),
        ({"A": Delta((), [(5, 5)])}, text),
        ({"A": Delta([(5, 5)])}, text + more),
    ]
    for facts, program in steps:
        plan = plan_text(program) if program is not None else None
        found = [engine.update(facts, plan).changes for engine in engines]
        sets = [{name: (set(c.inserted), set(c.deleted)) for name, c in changes.items()} for changes in found]
        assert sets[0] == sets[1]
        assert answers(engines[0]) == answers(engines[1])
        assert engines[0].verify() == []
