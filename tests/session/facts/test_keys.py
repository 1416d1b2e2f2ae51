"""Primary keys on every engine."""

import pytest

from tests.session.graph import Open
from tidelog import Database, DataError


def test_a_second_row_with_a_key_is_refused(db: Database) -> None:
    with db.transaction() as tx:
        tx.insert("Owner", [(1, "ann"), (2, "bob")])
        tx.insert("Owner", [(1, "ann")])
    message = (
        r'Owner\{\.node = 1, \.who = "eve"\} has the same primary key as Owner\{\.node = 1, \.who = "ann"\}; '
        "upsert replaces it"
    )
    with pytest.raises(DataError, match=message), db.transaction() as tx:
        tx.insert("Owner", [(3, "cid"), (1, "eve")])
    assert db.relation("Owner").rows() == [(1, "ann"), (2, "bob")]
    with pytest.raises(DataError, match="has the same primary key as"), db.transaction() as tx:
        tx.insert("Owner", [(4, "x"), (4, "y")])


def test_upsert_and_delete_keys(db: Database) -> None:
    with db.transaction() as tx:
        tx.upsert("Owner", [(1, "ann"), (2, "bob")])
    with db.transaction() as tx:
        tx.upsert("Owner", [(1, "eve"), (3, "cid"), (1, "ada")])
        tx.delete_keys("Owner", [2, 9])
    change = tx.result.changes["Owner"]
    assert (change.inserted, change.deleted) == ([(1, "ada"), (3, "cid")], [(1, "ann"), (2, "bob")])
    with db.transaction() as tx:
        tx.delete("Owner", [(1, "eve"), (3, "cid")])
        tx.insert("Owner", [(3, "dan")])
    assert db.relation("Owner").rows() == [(1, "ada"), (3, "dan")]


def test_a_refused_batch_leaves_the_transaction_usable(db: Database) -> None:
    with db.transaction() as tx:
        tx.insert("Owner", [(1, "ann")])
        with pytest.raises(DataError):
            tx.insert("Owner", [(2, "bob"), (1, "eve")])
    assert db.relation("Owner").rows() == [(1, "ann")]


def test_keys_that_do_not_fit(db: Database) -> None:
    with pytest.raises(DataError, match=r"Owner, keys\[1\]: expected bit<32>, found 'x'"), db.transaction() as tx:
        tx.delete_keys("Owner", [1, "x"])
    with pytest.raises(DataError, match="Edge has no primary key"), db.transaction() as tx:
        tx.upsert("Edge", [(1, 2)])


def test_keys_may_be_computed(opened: Open) -> None:
    db = opened("input relation R(a: u32, b: u32) primary key (r) (r.a + r.b, 1)")
    with db.transaction() as tx:
        tx.insert("R", [(1, 2)])
    with pytest.raises(DataError, match="same primary key"), db.transaction() as tx:
        tx.insert("R", [(2, 1)])
    with db.transaction() as tx:
        tx.delete_keys("R", [(3, 1)])
    assert db.relation("R").rows() == []
    db = opened("input relation R(a: u32) primary key (r) 1 / r.a")
    with (
        pytest.raises(DataError, match=r"the primary key of R\{\.a = 0\} cannot be computed: "),
        db.transaction() as tx,
    ):
        tx.insert("R", [(0,)])


def test_keys_of_facts_in_the_program(opened: Open) -> None:
    owner = "input relation Owner(node: u32, who: string) primary key (o) o.node\n"
    with pytest.raises(DataError, match="has the same primary key as"):
        opened(owner + 'Owner(1, "ann").  Owner(1, "bob").')
    db = opened(owner + '#[name = "first"] Owner(1, "ann").')
    before = db.relation("Owner").rows()
    with pytest.raises(DataError, match="has the same primary key as"), db.transaction() as tx:
        tx.insert("Owner", [(1, "eve")])
    with pytest.raises(DataError, match="has the same primary key as"), db.transaction() as tx:
        tx.add_rules('Owner(1, "eve").')
    assert db.relation("Owner").rows() == before
    with db.transaction() as tx:
        tx.remove_rules("first")
        tx.insert("Owner", [(2, "bob")])
    assert db.relation("Owner").rows() == [(2, "bob")]


@pytest.mark.parametrize("operation", ["upsert", "delete_keys"])
def test_a_fact_of_the_program_is_not_replaced(operation: str, opened: Open) -> None:
    db = opened('input relation Owner(node: u32, who: string) primary key (o) o.node\nOwner(1, "ann").')
    tx = db.transaction().begin()
    getattr(tx, operation)("Owner", [(1, "eve")] if operation == "upsert" else [1])
    with pytest.raises(DataError, match="is a fact of the program: remove that rule instead"):
        tx.commit()
    assert (db.relation("Owner").rows(), db.commit_number) == ([(1, "ann")], 0)
