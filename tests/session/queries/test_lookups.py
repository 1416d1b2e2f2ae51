"""Looking rows up by some of their columns: indexes are built once, and follow commits."""

from random import Random
from typing import Any

import pytest

from tests.session.graph import Open, edges
from tidelog import Database, DataError, LimitError, Limits, UserError
from tidelog.base.process.meter import memory_in_use
from tidelog.session.engines import EngineName
from tidelog.session.queries import tables

WIDE = """
input relation R(a: u32, b: string, c: signed<64>, d: Option<bool>)
output relation S(b: string, a: u32)
S(b, a) :- R(a, b, c, _), c >= 0.
index by_b(text: string) on R(_, text, _, _)
index pairs(x: u32) on S(_, x)
"""


def draw(random: Random) -> tuple[Any, ...]:
    return random.randrange(8), random.choice("abcd"), random.randrange(-2, 3), random.choice((None, True, False))


def test_lookups_follow_commits(opened: Open) -> None:
    """Columns of all kinds, and changes of all kinds, beside what a scan finds."""
    random = Random(3)
    db = opened(WIDE, facts={"R": [draw(random) for _ in range(60)]})
    for step in range(12):
        rows, derived = db["R"].rows(), db["S"].rows()
        sample = [*random.sample(rows, 3), (9, "zz", 7, None)]
        for a, b, c, d in sample:
            plain = d.fields[0] if d is not None and d.fields else None
            assert db["R"].where(a=a).rows() == [row for row in rows if row[0] == a]
            assert db["R"].where(c=c, b=b).rows() == [row for row in rows if (row[1], row[2]) == (b, c)]
            assert db["R"].where(d=plain).rows() == [r for r in rows if r[3].fields == (d.fields if d else ())]
            assert db["S"].where(a=a).rows() == [row for row in derived if row[1] == a]
            assert db.query_index("by_b", b) == [row for row in rows if row[1] == b]
            assert db.query_index("pairs", a) == [row for row in derived if row[1] == a]
            assert db.query("R($a, x, _, _)", {"a": a}).rows() == sorted({(row[1],) for row in rows if row[0] == a})
        with db.transaction() as tx:
            tx.delete("R", random.sample(rows, 5))
            tx.insert("R", [draw(random) for _ in range(6)])
            if step == 4:
                tx.clear("R")
            if step == 7:
                tx.add_rules("S(b, a + 1) :- R(a, b, _, _).")
            if step % 3 == 0:
                tx.preview()
        with db.transaction() as tx:
            tx.insert("R", [(1, "new", 1, None)])
            tx.rollback()
        if len(db["R"]) < 5:
            with db.transaction() as tx:
                tx.insert("R", [draw(random) for _ in range(60)])
    db.verify()


def test_the_whole_relation(db: Database) -> None:
    edges(db, (1, 2), (2, 3))
    assert db["Edge"].where().rows() == [(1, 2), (2, 3)]
    assert db["Edge"].where(a=1, b=2).rows() == [(1, 2)]
    assert db["Edge"].where(b=2, a=1).rows() == [(1, 2)]
    assert db["Edge"].where(a=2, b=2).rows() == []


def test_mistakes(db: Database) -> None:
    with pytest.raises(UserError, match="Edge has no column `x`"):
        db["Edge"].where(x=1)
    with pytest.raises(DataError, match=r"Edge, column `a`: expected bit<32>.*, found -1"):
        db["Edge"].where(a=-1)
    with pytest.raises(UserError, match="did you mean `Edge`"):
        db["Egde"]


def test_codes_that_have_no_room(db: Database) -> None:
    """What a value has not been seen, or is beyond what columns hold so far, is not there."""
    edges(db, (1, 2))
    assert db["Edge"].where(a=2**32 - 1).rows() == []
    assert db["Owned"].where(who="nobody").rows() == []
    edges(db, (2**32 - 1, 5))
    assert db["Edge"].where(a=2**32 - 1).rows() == [(2**32 - 1, 5)]


def test_tables_that_nobody_uses_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "UNUSED", 3)
    db = Database("input relation Edge(a: u32, b: u32)", engine="tuples", facts={"Edge": [(1, 2), (1, 3)]})
    kept = db._store._tables
    for n in range(3):
        db["Edge"].where(a=1)
        edges(db, (n, 9))
    db["Edge"].where(b=9)
    for n in range(3):
        edges(db, (n, 10))
        assert len(kept._tables) == 2 - (n == 2)
    edges(db, (0, 11))
    assert not kept._tables
    assert db["Edge"].where(a=1).rows() == [(1, 2), (1, 3), (1, 9), (1, 10)]


def test_a_lookup_of_columnar_builds_no_table() -> None:
    db = Database("input relation Edge(a: u32, b: u32)", facts={"Edge": [(1, 2), (1, 3)]})
    assert len(db["Edge"].where(b=3)) == len(db.query("Edge(x, 2)")) == 1
    assert not db._store._tables._tables


@pytest.mark.parametrize("engine", ["columnar", "tuples"])
def test_looking_up_keeps_to_the_limits(engine: EngineName) -> None:
    """Of a goal or of the database: rows are not read, nor a table made of them, that do not fit."""
    program = "input relation E(x: u64, y: u64)\noutput relation R(x: u64, y: u64)\nR(x, y) :- E(x, a), E(b, y).\n"
    db = Database(program, engine=engine, facts={"E": [(n, n + 1) for n in range(300)]})
    for goal in ("R(x, y)", "R(_, y)"):
        with pytest.raises(LimitError, match="bytes of memory"):
            db.query(goal, limits=Limits(memory=memory_in_use() + (8 << 20)))
        with pytest.raises(LimitError, match=r"more than 0\.001 seconds"):
            db.query(goal, limits=Limits(seconds=0.001))
    db._store.limits = Limits(memory=memory_in_use() + (8 << 20))
    with pytest.raises(LimitError, match="bytes of memory"):
        db["R"].where()
    if engine == "tuples":
        with pytest.raises(LimitError, match="bytes of memory"):
            db["R"].where(x=7)
    else:
        assert len(db["R"].where(x=7)) == 300


def test_indexes_by_parts_of_columns() -> None:
    """A pattern that parameters determine is looked up; otherwise rows that fit are kept."""
    db = Database("""
        typedef Host = Host{id: Option<string>, at: (u8, string)}
        typedef Place = Port{n: u8} | Nowhere
        input relation Host[Host]
        input relation At[Place]
        input relation &Disk(host: u8, size: Option<u8>)
        index by_id(id: string) on Host[Host{.id = Some{id}}]
        index by_room(room: string) on Host[Host{.at = (_, room)}]
        index by_both(id: string, room: string) on Host(Some{id}, (1, room))
        index by_port(n: u8) on At[Port{n}]
        index by_size(size: u8) on &Disk(_, Some{size})
        index by_same(x: u8) on &Disk(x, Some{x})
    """)
    with db.transaction() as tx:
        tx.insert("Host", [("a", (1, "red")), ("b", (2, "red")), (None, (1, "blue"))])
        tx.insert("Disk", [(4, 4), (1, 4), (2, None)])
    ids = {row[0].fields[0] for row in db.query_index("by_room", "red")}
    assert ids == {"a", "b"}
    assert [row[1] for row in db.query_index("by_id", "b")] == [(2, "red")]
    assert [row[1] for row in db.query_index("by_both", "a", "red")] == [(1, "red")]
    assert db.query_index("by_both", "b", "red") == []
    assert len(db.dump_index("by_id")) == 2
    assert [row[0] for row in db.query_index("by_size", 4)] == [1, 4]
    assert [row[0] for row in db.query_index("by_same", 4)] == [4]
    assert [row[0] for row in db.dump_index("by_same")] == [4]
    assert db.query_index("by_port", 3) == []
    assert "Port{n}" in db.plan.json()
