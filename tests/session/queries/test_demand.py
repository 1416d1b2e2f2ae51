"""Relations of which only what is asked for is computed: what is answered, and what is not told."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.session.graph import GRAPH, Open, edges
from tidelog import Database, UserError
from tidelog.session.engines import EngineName
from tidelog.session.soak.draw.closures import Closures
from tidelog.session.soak.draw.grow import Grower, grow
from tidelog.session.soak.histories import Step, history_of
from tidelog.session.soak.spec import Goal, Program
from tidelog.session.transaction import Transaction

GOALS = 1000
"""How many random goals a run of tests asks."""


def play(tx: Transaction, step: Step) -> None:
    for relation, rows in step.deleted.items():
        tx.delete(relation, sorted(rows, key=repr))
    for relation, rows in step.inserted.items():
        tx.insert(relation, sorted(rows, key=repr))
    for rule in step.rules_removed:
        tx.remove_rules(str(rule))
    for rule in step.rules_added:
        tx.add_rules(str(rule))


def drawn(random: Random) -> tuple[Program, Grower]:
    whole = Closures(random, mixed=random.random() < 0.3).program() if random.random() < 0.5 else grow(random)
    kinds = dict.fromkeys(kind for relation in whole.relations for kind in relation.kinds)
    return whole, Grower(random, (*kinds,), None)


def asked(database: Database, goal: Goal) -> list[Any]:
    return database.query(str(goal), dict(goal.given)).rows()


def partly(program: Program, random: Random) -> str:
    """Return a program's text with some relations, those that are computed by demand."""
    lines = str(program).split("\n")
    return "\n".join(
        f"#[demand]\n{line}" if line.startswith("output relation") and random.random() < 0.6 else line for line in lines
    )


@pytest.mark.long(reason="a thousand goals, on programs that change")
def test_random_goals() -> None:
    """Goals have the answers of the reference engine: by demand, of what is kept, and of some of either."""
    done, seed = 0, 0
    engines: tuple[EngineName, ...] = ("columnar", "tuples", "reference", "columnar")
    while done < GOALS:
        random = Random(seed)
        whole, grower = drawn(random)
        history = history_of(whole, random, 6)
        text, engine = str(history.start), engines[seed % 4]
        wanted = Database(text, engine="reference")
        found = [
            Database(text, engine=engine, demand=True),
            Database(partly(history.start, random), engine=engine),
            Database(text, engine=engine),
        ]
        views: list[Any] = []
        for number, step in enumerate(history.steps):
            for database in (wanted, *found):
                with database.transaction() as tx:
                    play(tx, step)
            for goal, view, feed, told in views:
                for change in feed:
                    assert told.isdisjoint(change.inserted)
                    assert told.issuperset(change.deleted)
                    told.difference_update(change.deleted)
                    told.update(change.inserted)
                assert view.rows() == asked(wanted, goal), f"seed {seed}, step {number}: watched {goal}"
                assert told == set(view.rows()), f"seed {seed}, step {number}: changes of {goal}"
                done += 1
            if number in (1, 2):
                goal = grower.goal(whole.relations)
                for database in (found[0], found[2]):
                    view = database.watch(str(goal), dict(goal.given))
                    views.append((goal, view, view.changes(), set(view.rows())))
            if number == 4:
                views.pop(0)[1].close()
            for goal in [grower.goal(whole.relations) for _ in range(5 if number % 2 else 0)]:
                rows = asked(wanted, goal)
                for database in found[seed % 2 : 2] if number < 4 else found[:1] + found[2:]:
                    where = f"seed {seed}, step {number}: {goal} with {dict(goal.given)}"
                    assert asked(database, goal) == rows, where
                    done += 1
        for database in found[: 1 + seed % 3]:
            database.verify()
        for relation in whole.relations:
            assert found[1][relation.name].rows() == wanted[relation.name].rows(), (seed, relation)
        seed += 1


DEMAND = GRAPH.replace("output relation Reach", "#[demand] output relation Reach")


def test_what_is_there(opened: Open) -> None:
    db = opened(DEMAND)
    edges(db, (1, 2), (2, 3), (3, 4))
    reach = db["Reach"]
    assert (reach.rows(), len(reach), (1, 4) in reach, (4, 1) in reach) == (
        [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)], 6, True, False,
    )  # fmt: skip
    assert reach.where(b=3).rows() == [(1, 3), (2, 3)]
    with db.transaction() as tx:
        tx.delete("Edge", [(2, 3)])
        assert tx.query("Reach(1, x)").rows() == [(2,)]
    assert reach.rows() == [(1, 2), (3, 4)]
    db.verify()


def test_changes_are_not_told(opened: Open) -> None:
    db = opened(DEMAND)
    edges(db, (1, 2))
    with pytest.raises(UserError, match="follow one with `watch`"):
        db.subscribe("Reach", print)
    with db.transaction() as tx:
        tx.insert("Edge", [(2, 3)])
    assert "Reach" not in tx.result.changes
    with pytest.raises(UserError, match="nobody knows all changes of Reach"):
        tx.result.changes["Reach"]


def test_relations_ask_for_what_they_read(opened: Open) -> None:
    db = opened(DEMAND + "input relation Home(a: u32)  output relation Near(b: u32)  Near(b) :- Home(a), Reach(a, b).")
    edges(db, (1, 2), (2, 3), (7, 8))
    heard: list[Any] = []
    db.subscribe("Near", lambda change: heard.append([*change]))
    with db.transaction() as tx:
        tx.insert("Home", [(2,)])
    edges(db, (3, 4))
    assert db["Near"].rows() == [(3,), (4,)]
    assert heard == [[((3,), 1)], [((4,), 1)]]
    assert "Reach#for.a" in str(db.plan)
    assert db.query("Reach(7, x)").rows() == [(8,)]
    assert db.query("Reach(x, 3)").rows() == [(1,), (2,)]
    db.verify()


def test_a_recursion_that_would_not_end() -> None:
    db = Database("""
        input relation Start(n: bigint)
        relation Number(n: bigint)
        Number(n) :- Start(n).
        Number(n + 1) :- Number(n), n < 10.
        relation Broken(n: bigint, m: bigint)
        Broken(n, 1 / n) :- Start(n).
    """, facts={"Start": [(0,), (1,)]}, demand=True)  # fmt: skip
    assert db.query("Broken(1, x)").rows() == [(1,)]
    with pytest.raises(Exception, match="division by zero"):
        db.query("Broken(0, x)")
    assert len(db.query("Number(x)")) == 11


def test_the_plan_of_a_goal() -> None:
    db = Database(GRAPH, demand=True)
    assert "Reach#asked.a" in str(db.query("Reach(1, x)").plan)
    assert "by demand" in str(db.query("Reach(1, x)").plan)
    with pytest.raises(UserError, match="there is no plan"):
        db["Reach"].where(a=1).plan  # noqa: B018


def test_arguments() -> None:
    with pytest.raises(TypeError, match="demand: expected True or False"):
        Database(GRAPH, demand="yes")  # type: ignore[arg-type]
