"""Relations, functions, types and indexes come and go in transactions, as rules do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tidelog
from tests.engines import IN_PROCESS
from tests.session.graph import Open, edges
from tidelog import Database, DataError, ProgramError, UserError

MORE = """
typedef Kind = Host | Port{n: u8}
function twice(x: u8): u8 { x * 2 }
input relation Thing(k: Kind, n: u8) primary key (t) t.n
output relation Big(n: u8)
index by_n(n: u8) on Thing(_, n)
Big(twice(n)) :- Thing(_, n).
Reach(x, x) :- Edge(_, x).
"""
SETTINGS = [
    *((engine, "auto") for engine in IN_PROCESS),
    *(("columnar", strategy) for strategy in ("ranked", "dred", "elastic", "modular", "recompute", "dbsp")),
    *(("tuples", strategy) for strategy in ("ranked", "dred", "elastic", "modular")),
]
RULE = "Big(twice(n)) :- Thing(_, n)."


def test_added(opened: Open) -> None:
    db = opened()
    edges(db, (1, 2))
    with db.transaction() as tx:
        tx.add(MORE)
        tx.insert("Thing", [("Host", 3)])
        tx.upsert("Thing", [({"tag": "Port", "n": 1}, 3)])
        assert tx.preview()["Big"].inserted == [(6,)]
        assert tx.query("Big(x)").rows() == [(6,)]
    assert [*tx.result.changes] == ["Big", "Reach", "Thing"]
    assert (db["Reach"].rows(), len(db.query_index("by_n", 3))) == ([(1, 2), (2, 2)], 1)
    with db.transaction() as tx:
        tx.add("output relation Other(n: u8)")
        tx.upsert("Thing", [("Host", 3)])
        tx.delete_keys("Owner", [1])
    assert db["Thing"].rows() == [(tidelog.Variant("Host", 0, ()), 3)]
    with db.transaction() as tx:
        tx.modify("Thing", 3, {"k": "Host"})
        with pytest.raises(DataError, match="same primary key"):
            tx.insert("Thing", [({"tag": "Port", "n": 2}, 3)])
    db.verify()


def test_what_is_not_committed_leaves_no_trace(opened: Open) -> None:
    db = opened()
    before = [view.name for view in db.relations()], str(db.plan), db.rules()
    with db.transaction() as tx:
        tx.add(MORE)
        tx.insert("Thing", [("Host", 3)])
        tx.preview()
        tx.rollback()
    with pytest.raises(ProgramError, match="unknown type"), db.transaction() as tx:
        tx.add("input relation Other(x: Missing)")
    with pytest.raises(ProgramError, match="Edge"), db.transaction() as tx:
        tx.add("input relation Edge(x: u8)")
    with pytest.raises(UserError, match="belong to the program's text"), db.transaction() as tx:
        tx.add("import vec")
    assert ([view.name for view in db.relations()], str(db.plan), db.rules()) == before
    with pytest.raises(UserError, match="no relation `Thing`"):
        db.relation("Thing")


@pytest.mark.parametrize(
    ("name", "by"),
    [
        ("Kind", "type `Kind` is in use by relation `Thing`"),
        ("twice", "function `twice` is in use by the rule `Big"),
        ("Thing", "relation `Thing` is in use by index `by_n`, the rule `Big"),
        ("Big", "relation `Big` is in use by the rule `Big"),
        ("Edge", "relation `Edge` is in use by the rule"),
        ("Nothing", "no rule in force has the name or text"),
    ],
)
def test_what_is_in_use_stays(opened: Open, name: str, by: str) -> None:
    db = opened()
    with db.transaction() as tx:
        tx.add(MORE)
    with pytest.raises(UserError, match=by), db.transaction() as tx:
        tx.remove(name)
    db.verify()


def test_removed(opened: Open) -> None:
    db = opened()
    with db.transaction() as tx:
        tx.add(MORE)
        tx.insert("Thing", [("Host", 3)])
    held = db["Thing"]
    with db.transaction() as tx:
        for name in (RULE, "Big", "by_n", "Thing", "Kind", "twice"):
            tx.remove(name)
    assert [view.name for view in db.relations()] == ["Edge", "Owner", "Reach", "Owned"]
    with pytest.raises(UserError, match="no relation `Thing`"):
        held.rows()
    with db.transaction() as tx:
        tx.add(MORE)
    assert db["Thing"].rows() == []
    db.verify()


def test_another_relation_of_the_same_name_begins_empty(opened: Open) -> None:
    db = opened()
    with db.transaction() as tx:
        tx.add("input relation A(x: u8)")
        tx.insert("A", [(1,), (2,)])
    with db.transaction() as tx:
        tx.remove("A")
        tx.add("input relation A(x: u8)  output relation B(x: u8)  B(x) :- A(x).")
        tx.insert("A", [(2,), (3,)])
    assert db["A"].rows() == db["B"].rows() == [(2,), (3,)]
    with db.transaction() as tx:
        tx.remove("B(x) :- A(x).")
        tx.remove("A")
        tx.add("input relation A(y: string)")
    assert (db["A"].rows(), db["B"].rows(), db["A"].columns) == ([], [], {"y": "string"})
    db.verify()


def test_rules_and_views_live_on(opened: Open) -> None:
    db = opened()
    view = db.watch("Reach($from, x)", {"from": 1})
    feed = view.changes()
    with db.transaction() as tx:
        tx.remove_rules("step")
    edges(db, (1, 2))
    with db.transaction() as tx:
        tx.add("input relation Extra(a: u32, b: u32)  Reach(a, b) :- Extra(a, b).")
        tx.insert("Extra", [(1, 9)])
    assert [change.inserted for change in feed] == [[(9,)]]
    assert not any(rule.name == "step" and rule.active for rule in db.rules())
    rules = [rule.text for rule in db.rules() if rule.active and rule.text.startswith("Reach")]
    with pytest.raises(UserError, match="the goal `Reach"), db.transaction() as tx:
        _remove(tx, *rules, "Reach")
    view.close()
    with db.transaction() as tx:
        tx.add_rules('#[name = "step"] Reach(a, b) :- Edge(a, b).')
    assert db["Reach"].rows() == [(1, 2), (1, 9)]
    db.verify()


def _remove(tx: tidelog.Transaction, *names: str) -> None:
    for name in names:
        tx.remove(name)


def test_facts_are_saved_and_loaded(tmp_path: Path) -> None:
    db = Database("input relation Edge(a: u8, b: u8)  Edge(9, 9).", facts={"Edge": [(1, 2)]})
    assert tidelog.save_facts(db, tmp_path) == {tmp_path / "Edge.csv": 1}
    other = Database("input relation Edge(a: u8, b: u8)")
    with other.transaction() as tx:
        tx.load(tmp_path)
    assert other["Edge"].rows() == [(1, 2)]


@pytest.mark.parametrize(("engine", "strategy"), SETTINGS)
def test_a_relation_gets_other_columns(engine: Any, strategy: Any) -> None:
    """What rules derived and read under its name goes, and is derived anew."""
    text = """
    input relation S(a: u8, b: string)
    output relation R(a: u8)  output relation T(a: u8)  output relation U(a: u8)
    #[name = "r"] R(a) :- S(a, _).
    #[name = "t"] T(a) :- R(a), a < 2.
    #[name = "u"] U(a) :- S(a, _), not T(a).
    """
    db = Database(text, engine=engine, strategy=strategy)
    with db.transaction() as tx:
        tx.insert("S", [(1, "x"), (2, "y"), (3, "y")])
    with db.transaction() as tx:
        for name in ("t", "r", "R"):
            tx.remove(name)
        tx.add('output relation R(a: u8, b: string)  R(a, b) :- S(a, b).  #[name = "t"] T(a) :- R(a, "y"), a < 3.')
        tx.delete("S", [(3, "y")])
    assert [db[name].rows() for name in "RTU"] == [[(1, "x"), (2, "y")], [(2,)], [(1,)]]
    assert {name: sorted(tx.result.changes[name]) for name in "TU"} == {
        "T": [((1,), -1), ((2,), 1)],
        "U": [((1,), 1), ((2,), -1), ((3,), -1)],
    }
    with db.transaction() as tx:
        tx.delete("S", [(2, "y")])
    assert [db[name].rows() for name in "RTU"] == [[(1, "x")], [], [(1,)]]
    db.verify()


@pytest.mark.parametrize(("engine", "strategy"), SETTINGS)
def test_a_function_gets_another_body(engine: Any, strategy: Any) -> None:
    """Rules that are as they were call another function: also through others, in groups and in keys of nothing else."""
    text = """
    input relation S(x: u8)
    output relation R(x: u8)  output relation N(n: u8, x: u8)
    function f(x: u8): u8 { x + 1 }
    #[name = "r"] R(g(x)) :- S(x).
    #[name = "n"] N(n, m) :- S(x), var m = f(x) % 2, var n = x.group_by(m).count() as u8.
    """
    more = 'function g(x: u8): u8 { f(x) }  #[name = "r"] R(g(x)) :- S(x).'
    db = Database(text.replace('#[name = "r"] R(g(x)) :- S(x).', more), engine=engine, strategy=strategy)
    with db.transaction() as tx:
        tx.insert("S", [(1,), (2,), (4,)])
    assert (db["R"].rows(), db["N"].rows()) == ([(2,), (3,), (5,)], [(1, 0), (2, 1)])
    for body, wanted in (("x + 2", [3, 4, 6]), ("x", [1, 2, 4]), ("x + 2", [3, 4, 6])):
        before = db["R"].rows()
        with db.transaction() as tx:
            for name in ("r", "n", "g", "f"):
                tx.remove(name)
            tx.add(f"function f(x: u8): u8 {{ {body} }}  {more}")
            tx.add('#[name = "n"] N(n, m) :- S(x), var m = f(x) % 2, var n = x.group_by(m).count() as u8.')
            tx.preview()
        assert [x for (x,) in db["R"].rows()] == wanted
        changes = tx.result.changes["R"]
        assert (set(before) - set(changes.deleted)) | set(changes.inserted) == {(x,) for x in wanted}
        assert db["N"].rows() == [(1, 1), (2, 0)]
        db.verify()


@pytest.mark.parametrize(("engine", "strategy"), SETTINGS)
def test_a_type_gets_its_constructors_in_another_order(engine: Any, strategy: Any) -> None:
    text = """
    input relation S(x: u8)  input relation T(k: Kind)
    output relation R(x: u8)  output relation U(k: Kind)
    typedef Kind = A | B
    function kind(x: u8): Kind { if (x > 1) A else B }
    #[name = "r"] R(x) :- S(x), kind(x) == A.
    #[name = "u"] U(k) :- T(k), k < B.
    """
    db = Database(text, engine=engine, strategy=strategy)
    with db.transaction() as tx:
        tx.insert("S", [(1,), (2,)])
        tx.insert("T", [("A",), ("B",)])
    assert (db["R"].rows(), len(db["U"])) == ([(2,)], 1)
    with db.transaction() as tx:
        for name in ("r", "u", "U", "T", "kind", "Kind"):
            tx.remove(name)
        tx.add("typedef Kind = B | A  function kind(x: u8): Kind { if (x > 1) B else A }")
        tx.add('#[name = "r"] R(x) :- S(x), kind(x) == A.')
        tx.add('input relation T(k: Kind)  output relation U(k: Kind)  #[name = "u"] U(k) :- T(k), k < A.')
        tx.insert("T", [("A",), ("B",)])
    assert (db["R"].rows(), [str(k) for (k,) in db["U"].rows()]) == ([(1,)], ["B"])
    db.verify()


def test_a_rule_comes_back_with_its_functions_and_types() -> None:
    """Declaring looks at the whole program again, in which they were of no use."""
    rule = "Least(m) :- Edge(a, b), var o = Some{min(a, b)}, Some{var m} = o."
    db = Database(f"input relation Edge(a: u8, b: u8)  output relation Least(a: u8)  {rule}")
    with db.transaction() as tx:
        tx.remove_rules(rule)
        tx.add("input relation Other(a: u8)")
    with db.transaction() as tx:
        tx.add_rules(rule)
        tx.insert("Edge", [(1, 2)])
    assert db["Least"].rows() == [(1,)]
    db.verify()


def test_a_watched_goal_keeps_the_functions_that_a_rule_brought() -> None:
    rule = "Least(m) :- Edge(a, b), var m = min(a, b)."
    db = Database(f"input relation Edge(a: u8, b: u8)  output relation Least(a: u8)  {rule}")
    view = db.watch("Edge(a, b), var m = min(a, b)")
    with db.transaction() as tx:
        tx.remove_rules(rule)
        tx.add("input relation Other(a: u8)")
    with db.transaction() as tx:
        tx.insert("Edge", [(1, 2)])
    assert view.rows() == [(1, 2, 1)]
    db.verify()


def test_a_relation_with_more_columns_is_joined_in_the_order_of_its_own_values() -> None:
    """What was known of the columns of the one before is not used: there were fewer."""
    db = Database("input relation A(x: u8)  input relation B(x: u8)  output relation C(x: u8)")
    with db.transaction() as tx:
        tx.insert("A", [(1,), (2,)])
        tx.insert("B", [(2,), (3,)])
        tx.add('#[name = "c"] C(x) :- A(x), B(x), B(y), A(y).')
    with db.transaction() as tx:
        tx.remove("c")
        tx.remove("A")
    with db.transaction() as tx:
        tx.add('input relation A(x: u8, y: u8)  #[name = "c"] C(y) :- A(x, y), B(x), B(y), A(y, y).')
        tx.insert("A", [(2, 3), (3, 3)])
    assert db["C"].rows() == [(3,)]
    db.verify()
