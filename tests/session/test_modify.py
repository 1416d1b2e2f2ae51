"""Changing rows by key, emptying relations, and asking indexes."""

import pytest

from tests.engines import IN_PROCESS
from tidelog import Database, DataError, UserError
from tidelog.session.engines import EngineName

STOCK = """
input relation Stock(item: string, count: u8) primary key (s) s.item
input relation Seen(x: u8)
output relation Few(item: string)
index by_count(count: u8) on Stock(_, count)
index twins(x: u8) on Pair(x, x)
input relation Pair(a: u8, b: u8)
Few(item) :- Stock(item, count), count < 10.
"""


@pytest.fixture(params=IN_PROCESS)
def db(request: pytest.FixtureRequest) -> Database:
    db = Database(STOCK, engine=request.param)
    with db.transaction() as tx:
        tx.insert("Stock", [("tea", 5), ("rice", 50)])
        tx.insert("Seen", [(1,), (2,)])
        tx.insert("Pair", [(1, 1), (1, 2), (3, 3)])
    return db


def test_modify_takes_values_and_functions(db: Database) -> None:
    with db.transaction() as tx:
        tx.modify("Stock", "tea", {"count": 20})
        tx.modify("Stock", "rice", {"count": lambda count: count - 45})
        tx.modify("Stock", "rice", {"count": lambda count: count + 1})
    assert db.relation("Stock").rows() == [("rice", 6), ("tea", 20)]
    assert [*tx.result.changes["Few"]] == [(("rice",), 1), (("tea",), -1)]


def test_modify_sees_what_the_transaction_did(db: Database) -> None:
    with db.transaction() as tx:
        tx.insert("Stock", [("jam", 1)])
        tx.modify("Stock", "jam", {"count": lambda count: count + 1})
        tx.delete_keys("Stock", ["tea"])
        with pytest.raises(DataError, match="no row has the primary key 'tea'"):
            tx.modify("Stock", "tea", {"count": 1})
    assert db.relation("Stock").rows() == [("jam", 2), ("rice", 50)]


@pytest.mark.parametrize(
    ("relation", "key", "changes", "message"),
    [
        ("Stock", "salt", {"count": 1}, "no row has the primary key 'salt'"),
        ("Stock", "tea", {"item": "salt"}, "has another primary key than"),
        ("Stock", "tea", {"count": 256}, "column `count`"),
        ("Stock", "tea", {"cuont": 1}, "no column `cuont`.*did you mean `count`"),
        ("Stock", 1, {"count": 1}, r"Stock, keys\[0\]"),
        ("Seen", 1, {"x": 2}, "Seen has no primary key"),
    ],
)
def test_modify_is_checked(db: Database, relation: str, key: object, changes: dict[str, object], message: str) -> None:
    with db.transaction() as tx, pytest.raises(DataError, match=message):
        tx.modify(relation, key, changes)
    assert not tx.result.changes


def test_clear(db: Database) -> None:
    with db.transaction() as tx:
        tx.insert("Seen", [(3,)])
        tx.clear("Seen")
        tx.insert("Seen", [(2,), (4,)])
        tx.upsert("Stock", [("jam", 1)])
        tx.clear("Stock")
    assert [*tx.result.changes["Seen"]] == [((4,), 1), ((1,), -1)]
    assert db.relation("Stock").rows() == []
    assert db.relation("Few").rows() == []
    with db.transaction() as tx, pytest.raises(DataError, match="Few is an output relation"):
        tx.clear("Few")


@pytest.mark.parametrize("engine", IN_PROCESS)
def test_clear_leaves_what_the_program_states(engine: EngineName) -> None:
    keyed = "input relation K(x: u8, y: u8) primary key (k) k.x  K(1, 1).  input relation A(x: u8)  A(1)."
    db = Database(keyed, engine=engine)
    with db.transaction() as tx:
        tx.insert("K", [(2, 2)])
        tx.insert("A", [(2,)])
    with db.transaction() as tx:
        tx.clear("K")
        tx.clear("A")
    assert db.relation("K").rows() == [(1, 1)]
    assert db.relation("A").rows() == [(1,)]
    db.verify()


def test_indexes_follow_commits(db: Database) -> None:
    assert db.query_index("by_count", 5) == [("tea", 5)]
    with db.transaction() as tx:
        tx.insert("Stock", [("ink", 5)])
        assert db.query_index("by_count", 5) == [("tea", 5)]
    assert db.query_index("by_count", 5) == [("ink", 5), ("tea", 5)]
    assert db.dump_index("by_count") == db.relation("Stock").rows()


def test_an_index_may_ask_for_equal_columns(db: Database) -> None:
    assert db.dump_index("twins") == [(1, 1), (3, 3)]
    assert db.query_index("twins", 1) == [(1, 1)]
    assert db.query_index("twins", 2) == []


@pytest.mark.parametrize(
    ("index", "key", "message"),
    [
        ("by_cuont", (1,), "no index `by_cuont`; did you mean `by_count`"),
        ("by_count", (), r"has the parameters \(count: bit<8>\), but 0 were given"),
        ("by_count", ("a",), "parameter `count`: expected bit<8>"),
    ],
)
def test_index_keys_are_checked(db: Database, index: str, key: tuple[object, ...], message: str) -> None:
    with pytest.raises(UserError, match=message):
        db.query_index(index, *key)
