"""Live goals: rows and exact changes, whoever else watches, whatever rules, strategies and errors come between."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from tests.engines import IN_PROCESS
from tests.session.graph import GRAPH, Open, edges
from tidelog import Database, DataError, ProgramError, SubscriptionWarning, UserError
from tidelog.session import live_goals

REACH = "Reach($from, x)"


@pytest.fixture(params=[False, True], ids=["kept", "by demand"])
def graph(opened: Open, request: pytest.FixtureRequest) -> Database:
    db = opened(demand=request.param)
    edges(db, (1, 2), (2, 3), (7, 8))
    return db


def told(changes: Any) -> list[Any]:
    return [(change.commit, [*change]) for change in changes]


def test_rows_and_changes(graph: Database) -> None:
    heard: list[Any] = []
    one = graph.watch(REACH, {"from": 1}, heard.append)
    two = graph.watch(REACH, {"from": 7})
    feed = two.changes()
    assert (one.rows(), two.rows(), one.columns) == ([(2,), (3,)], [(8,)], {"x": "bit<32>"})
    edges(graph, (3, 4))
    with graph.transaction() as tx:
        tx.delete("Edge", [(1, 2)])
        tx.insert("Edge", [(8, 9)])
    assert told(heard) == [(2, [((4,), 1)]), (3, [((2,), -1), ((3,), -1), ((4,), -1)])]
    assert told(feed) == [(3, [((9,), 1)])]
    assert (one.rows(), two.rows(), len(two), (9,) in two.rows()) == ([], [(8,), (9,)], 2, True)
    assert heard[0].relation == REACH
    graph.verify()


def test_those_who_watch_the_same_share_its_rules(graph: Database) -> None:
    views = [graph.watch(REACH, {"from": node}) for node in (1, 2, 7, 1)]
    assert [view.rows() for view in views] == [[(2,), (3,)], [(3,)], [(8,)], [(2,), (3,)]]
    assert str(graph.plan).count("goal#1(") == str(graph.plan).count("give goal#1(")
    assert "goal#2" not in str(graph.plan)
    views[0].close()
    edges(graph, (3, 4))
    assert views[3].rows() == [(2,), (3,), (4,)]
    graph.verify()


def test_closed_views_hear_nothing(graph: Database) -> None:
    heard: list[Any] = []
    with graph.watch(REACH, {"from": 1}, heard.append) as view:
        edges(graph, (3, 4))
    assert (len(heard), view.active) == (1, False)
    edges(graph, (3, 5))
    assert len(heard) == 1
    with pytest.raises(UserError, match="is closed"):
        view.rows()
    view.close()
    again = graph.watch(REACH, {"from": 1}, heard.append)
    assert again.rows() == [(2,), (3,), (4,), (5,)]
    edges(graph, (5, 6))
    assert told(heard)[1:] == [(4, [((6,), 1)])]
    graph.verify()


def test_rules_and_strategies_change(graph: Database) -> None:
    view = graph.watch(REACH, {"from": 1})
    feed = view.changes()
    with graph.transaction() as tx:
        tx.remove_rules("step")
        assert tx.query("Reach(1, x)").rows() == []
    with graph.transaction() as tx:
        tx.add_rules("Reach(a, b) :- Edge(b, a).")
    edges(graph, (5, 1))
    assert told(feed) == [(2, [((2,), -1), ((3,), -1)]), (4, [((n,), 1) for n in (1, 2, 3, 5)])]
    graph.set_strategy("recompute")
    edges(graph, (6, 5))
    assert view.rows() == graph.query(REACH, {"from": 1}).rows()
    graph.verify()


def test_what_is_rolled_back_is_not_told(graph: Database) -> None:
    view = graph.watch(REACH, {"from": 1})
    feed = view.changes()
    with graph.transaction() as tx:
        tx.insert("Edge", [(3, 4)])
        tx.preview()
        tx.rollback()
    assert (told(feed), view.rows()) == ([], [(2,), (3,)])


def test_groups_alternatives_and_no_variables(graph: Database) -> None:
    count = graph.watch("Edge(x, _), x > $least, var n = x.group_by(()).count()", {"least": 1})
    either = graph.watch("(Edge($a, x); Edge(x, $b))", {"a": 1, "b": 8})
    holds = graph.watch("Reach(1, 4)")
    feeds = [view.changes() for view in (count, either, holds)]
    assert [count.rows(), either.rows(), bool(holds.rows())] == [[(2,)], [(2,), (7,)], False]
    edges(graph, (3, 4))
    assert [told(feed) for feed in feeds] == [[(2, [((3,), 1), ((2,), -1)])], [], [(2, [((), 1)])]]
    graph.verify()


def test_mistakes(graph: Database) -> None:
    with pytest.raises(ProgramError, match="unknown relation"):
        graph.watch("Rech(1, x)")
    with pytest.raises(DataError, match="expected bit<32>"):
        graph.watch(REACH, {"from": "a"})
    with pytest.raises(TypeError, match="callback"):
        graph.watch("Edge(x, y)", callback=5)  # type: ignore[arg-type]
    with graph.transaction(), pytest.raises(UserError, match="transaction open already"):
        graph.watch("Edge(x, y)")
    edges(graph, (3, 4))
    graph.verify()


def test_a_callback_may_fail_watch_and_commit(graph: Database) -> None:
    seen: list[Any] = []

    def hear(change: Any) -> None:
        if change.commit == 2:
            with graph.transaction() as tx:
                tx.insert("Edge", [(4, 5)])
            seen.append(graph.watch(REACH, {"from": 4}).rows())
            raise ValueError("no")

    view = graph.watch(REACH, {"from": 1}, hear)
    with pytest.warns(SubscriptionWarning, match="ValueError"):
        edges(graph, (3, 4))
    assert seen == [[(5,)]]
    assert view.rows() == [(2,), (3,), (4,), (5,)]


def test_feeds_that_nobody_has_are_dropped() -> None:
    db = Database(GRAPH)
    view = db.watch("Edge(x, y)")
    view.changes()
    gc.collect()
    assert not view._feeds
    feed = view.changes()
    edges(db, (1, 2))
    assert (len(feed), repr(view)) == (1, "<View of Edge(x, y)>")


@pytest.mark.parametrize("engine", IN_PROCESS)
def test_rules_that_go_change_what_a_goal_keeps_beside_it(engine: Any) -> None:
    """The relation of a shared prefix gets other columns when the join order changes."""
    program = """
    input relation A3(c0: bit<8>, c1: bit<8>, c2: bit<8>)
    input relation A0(c0: u64, c1: bit<8>, c2: string)
    output relation D1b(c0: bit<8>, c1: bit<8>, c2: bit<8>)
    output relation D2a(c0: bit<8>, c1: string)
    output relation D2b(c0: bit<8>, c1: bit<8>, c2: u64, c3: bit<8>)
    #[name = "first"] D2b(i, i, 1, 3) :- A3(_, _, n), var i = n % 6.
    D2a(3, "c").
    #[name = "second"] D2b(i, i, 7, 3) :- D2a(n, _), var i = min(n, 4).
    """
    db = Database(program, engine=engine, demand=True)
    with db.transaction() as tx:
        tx.insert("A3", [(5, 0, 2)])
    view = db.watch("D2b(i, i, w, j), D2a(k, s), A0(v, i, s), not D1b(_, k, i)")
    with db.transaction() as tx:
        tx.insert("A0", [(4, 2, "c")])
    assert view.rows() == [(2, 1, 3, 3, "c", 4)]
    for name in ("second", "first"):
        assert len(view.rows()) == 1
        with db.transaction() as tx:
            tx.remove_rules(name)
    assert view.rows() == []


@pytest.mark.parametrize("engine", IN_PROCESS)
def test_views_that_were_looked_into_are_asked_for_something_else(engine: Any) -> None:
    """Tables made for look-ups follow what watching changes, too."""
    db = Database(GRAPH, engine=engine)
    edges(db, (1, 2), (2, 3), (7, 8))
    for start, reached in ((1, [(2,), (3,)]), (7, [(8,)]), (1, [(2,), (3,), (9,)])):
        with db.watch(REACH, {"from": start}) as view:
            if start == 1 and reached[-1] == (9,):
                edges(db, (3, 9))
            assert view.rows() == reached
    edges(db, (8, 9))


def test_nothing_is_kept_of_views_that_are_closed() -> None:
    """Neither who watched what, nor, when there are many, the rules of goals that nobody watches."""
    db = Database(GRAPH)
    for number in range(live_goals.IDLE + 3):
        for least in (1, 2):
            with db.watch(f"Edge(x, y), x > $least, y > {number}", {"least": least}):
                pass
    assert sum(map(len, (db._store._live.closed, db._store._live._goals))) == 2
    views = [db.watch(f"Edge(x, {number})") for number in range(live_goals.IDLE + 1)]
    for view in views[1:]:
        view.close()
    edges(db, (1, 0))
    assert len(db._store.state.rules.goals) == live_goals.IDLE + 1
    views += [db.watch("Edge(x, $to)", {"to": 0}), db.watch("Edge(x, x)")]
    assert len(db._store.state.rules.goals) == 3
    more = [db.watch(f"Edge(x, {number})") for number in range(100, 101 + live_goals.IDLE)]
    for view in more:
        view.close()
    edges(db, (2, 0))
    assert len(db._store.state.rules.goals) == 3
    assert [view.rows() for view in views if view.active] == [[(1,), (2,)], [(1,), (2,)], []]
    assert len(db._store.subscriptions._members) == 3
    db.verify()
