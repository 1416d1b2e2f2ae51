"""Minima and maxima in recursion: every engine and strategy does what the reference engine says."""

from __future__ import annotations

import os
import random
from functools import partial

import pytest

import tidelog
from tests.generate.bounds import draw, follow
from tidelog.base.tuning.table import Tuning, all_paths
from tidelog.base.tuning.thresholds import Paths
from tidelog.session.engines import EngineName, StrategyName

HISTORIES = int(os.environ.get("TIDELOG_BOUNDS", "500"))
WAYS: tuple[tuple[EngineName, StrategyName], ...] = (
    ("tuples", "ranked"),
    ("tuples", "dred"),
    ("tuples", "dred-c"),
    ("tuples", "elastic"),
    ("tuples", "modular"),
    ("tuples", "recompute"),
    ("columnar", "auto"),
    ("columnar", "ranked"),
    ("columnar", "dred"),
    ("columnar", "dred-c"),
    ("columnar", "elastic"),
    ("columnar", "modular"),
    ("columnar", "recompute"),
)
DISTANCES = """
input relation E(x: u8, y: u8, w: u64)
#[demand]
output relation Q(x: u8, y: u8, min d: u64)
Q(x, y, w) :- E(x, y, w).
Q(x, z, d + w) :- Q(x, y, d), E(y, z, w).
#[demand]
output relation L(x: u8, min y: u8)
L(x, y) :- E(x, y, _).
L(x, y) :- E(x, z, _), L(z, y).
"""
GOALS = ("Q(1, y, d)", "Q(1, 2, d)", "Q(x, 2, d)", "Q(1, y, 3)", "L(1, y)", "L(x, 2)", "Q(1, y, d), d < 4, L(y, z)")


@pytest.mark.long(reason="500 histories")
@pytest.mark.parametrize(("engine", "strategy"), WAYS)
def test_histories(engine: EngineName, strategy: StrategyName) -> None:
    """Each history on one of the ways to follow it; `TIDELOG_BOUNDS` is how many there are in all."""
    paths, made = Paths(), partial(tidelog.Database, engine=engine, strategy=strategy)
    for seed in range(WAYS.index((engine, strategy)), HISTORIES, len(WAYS)):
        make = partial(made, tuning=Tuning.drawn(random.Random(seed), paths)) if seed % 2 else made
        follow(draw(seed), [partial(tidelog.Database, engine="reference"), make])
    ways = {path for path in all_paths(elsewhere=True) if path[0].startswith("doors.")}
    assert engine != "columnar" or strategy not in ("auto", "ranked") or ways <= paths.taken.keys()


@pytest.mark.parametrize("engine", ["tuples", "columnar"])
def test_goals_by_demand(engine: EngineName) -> None:
    """The distance of one pair is asked for without all others; also by goals that stay."""
    rnd = random.Random(engine)
    asked, whole = tidelog.Database(DISTANCES, engine=engine), tidelog.Database(DISTANCES.replace("#[demand]\n", ""))
    view = asked.watch("Q(1, y, d)")
    facts: set[tuple[int, int, int]] = set()
    for _ in range(12):
        plus = {(rnd.randrange(5), rnd.randrange(5), rnd.choice((0, 1, 2, 5))) for _ in range(3)}
        minus = set(rnd.sample(sorted(facts), min(len(facts), 2))) - plus
        facts = (facts | plus) - minus
        for db in (asked, whole):
            with db.transaction() as tx:
                tx.delete("E", sorted(minus))
                tx.insert("E", sorted(plus))
        for goal in GOALS:
            assert sorted(asked.query(goal).rows()) == sorted(whole.query(goal).rows()), goal
        assert sorted(view.rows()) == sorted(whole.query("Q(1, y, d)").rows())
        asked.verify()
    view.close()


def test_dominated_bounds_hold_nothing_up() -> None:
    """What stands on a bound that was overtaken goes with it: `P` and the distance 5 do not hold each other up."""
    for engine, strategy in WAYS:
        text = """
            input relation S(d: u64)
            output relation D(x: u8, min d: u64)
            output relation P(x: u8)
            D(1, d) :- S(d).
            P(x) :- D(x, d), d < 10.
            D(x, 5) :- P(x).
        """
        db = tidelog.Database(text, engine=engine, strategy=strategy, facts={"S": [(9,)]})
        assert (sorted(db["D"]), sorted(db["P"])) == ([(1, 5)], [(1,)])
        with db.transaction() as tx:
            tx.delete("S", [(9,)])
        assert (sorted(db["D"]), sorted(db["P"])) == ([], [])
        assert {name: sorted(tx.result.changes[name]) for name in "DP"} == {"D": [((1, 5), -1)], "P": [((1,), -1)]}


def test_what_does_not_follow_refuses() -> None:
    """No wrong answer: a strategy that has no doors says so."""
    with pytest.raises(tidelog.UserError, match="`dbsp` does not follow minima and maxima, and `L` keeps one"):
        tidelog.Database(DISTANCES, strategy="dbsp")
    none_on_the_driver = Tuning().having({"spark.driver_rows": 0})
    with pytest.raises(tidelog.UserError, match="raise `spark"):
        tidelog.Database(DISTANCES, engine="spark", tuning=none_on_the_driver)
    db = tidelog.Database(DISTANCES, facts={"E": [(1, 2, 3)]})
    with pytest.raises(tidelog.UserError, match="use another strategy"):
        db.set_strategy("dbsp")
    assert db.query("Q(1, 2, d)").rows() == [(3,)]


@pytest.mark.parametrize(("engine", "strategy"), WAYS)
def test_a_relation_is_declared_anew(engine: EngineName, strategy: StrategyName) -> None:
    """With `max` in place of `min`, and without either; what it had of before is of no use."""
    facts: dict[str, list[tuple[int, ...]]] = {"E": [(1, 2), (1, 5), (2, 3), (3, 1)]}
    rules = ("D(x, w) :- E(x, w).", "D(y, w) :- D(x, w), E(x, y).")
    text = "\n".join(("input relation E(x: u8, w: u8)", "output relation D(x: u8, {}w: u8)", *rules))
    db = tidelog.Database(text.format("min "), engine=engine, strategy=strategy, facts=facts)
    for word in ("max ", "", "min ", "max "):
        with db.transaction() as tx:
            for rule in rules:
                tx.remove_rules(rule)
            tx.remove("D")
            tx.add(text.format(word).partition("\n")[2])
        expected = tidelog.Database(text.format(word), engine="reference", facts=facts)
        assert sorted(db["D"]) == sorted(expected["D"])
        db.verify()
