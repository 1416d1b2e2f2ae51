"""How transactions end, on every engine."""

import pyarrow as pa
import pytest

from tests.session.graph import Open, edges
from tidelog import Database, EvaluationError, LimitError, Limits, UserError


def test_commit_early(db: Database) -> None:
    with db.transaction() as tx:
        tx.insert("Edge", [(1, 2)])
        commit = tx.commit()
        assert tx.result is commit
        with pytest.raises(UserError, match="the transaction is not open"):
            tx.insert("Edge", [(1, 2)])
    assert db.commit_number == 1


def test_roll_back(db: Database) -> None:
    with db.transaction() as tx:
        tx.insert("Edge", [(1, 2)])
        tx.rollback()
    assert db.relation("Edge").count() == 0
    with pytest.raises(UserError, match="the transaction has no result: it was not committed"):
        _ = tx.result
    with pytest.raises(ZeroDivisionError), db.transaction() as tx:
        tx.insert("Edge", ((1 // (1 - i), 2) for i in range(2)))
    assert db.commit_number == 0
    edges(db, (1, 2))


def table(*rows: tuple[int, int]) -> pa.Table:
    return pa.table({"a": [a for a, _ in rows], "b": [b for _, b in rows]})


def test_bulks_that_go_and_come(db: Database) -> None:
    """The last operation on a row wins, whether rows are given one by one or as tables, which stay as they are."""
    edges(db, (1, 2), (2, 3), (3, 4))
    with db.transaction() as tx:
        tx.delete("Edge", table((1, 2), (2, 3), (8, 9)))
        tx.insert("Edge", table((2, 3), (4, 5)))
    assert (tx.result.changes["Edge"].inserted, tx.result.changes["Edge"].deleted) == ([(4, 5)], [(1, 2)])
    with db.transaction() as tx:
        tx.clear("Edge")
        tx.insert("Edge", table((2, 3), (5, 6)))
    assert (tx.result.changes["Edge"].inserted, tx.result.changes["Edge"].deleted) == ([(5, 6)], [(3, 4), (4, 5)])
    with db.transaction() as tx:
        tx.delete("Edge", table((2, 3)))
        tx.insert("Edge", table((6, 7)))
        tx.insert("Edge", [(2, 3)])
        tx.delete("Edge", table((5, 6), (6, 7)))
    assert db.relation("Edge").rows() == [(2, 3)]
    with db.transaction() as tx:
        tx.clear("Edge")
    assert db.relation("Edge").count() == 0


def test_preview_changes_nothing(db: Database) -> None:
    edges(db, (1, 2))
    with db.transaction() as tx:
        tx.insert("Edge", [(2, 3)])
        tx.remove_rules("step")
        change = tx.preview()["Reach"]
        assert (change.inserted, change.deleted, change.commit) == ([], [(1, 2)], None)
        assert db.relation("Reach").rows() == [(1, 2)]
        tx.rollback()
    assert db.commit_number == 1
    db.verify()


def test_a_transaction_in_a_transaction_is_refused(db: Database) -> None:
    with db.transaction(), pytest.raises(UserError, match="this thread has a transaction open already"):
        db.transaction().begin()
    with pytest.raises(UserError, match="can be used once"), db.transaction() as tx:
        tx.begin()


def test_without_a_block(db: Database) -> None:
    tx = db.transaction().begin()
    tx.insert("Edge", [(1, 2)])
    tx.commit()
    assert db.relation("Reach").rows() == [(1, 2)]
    with pytest.raises(UserError, match="not open"):
        db.transaction().insert("Edge", [(1, 2)])


DIVIDE = """
input relation R(x: u32)
output relation Half(x: u32)
Half(100 / x) :- R(x).
"""


def test_an_error_in_a_rule_rolls_back(opened: Open) -> None:
    db = opened(DIVIDE)
    with db.transaction() as tx:
        tx.insert("R", [(2,)])
    with pytest.raises(EvaluationError), db.transaction() as tx:
        tx.insert("R", [(4,), (0,)])
    assert (db.relation("Half").rows(), db.relation("R").rows(), db.commit_number) == ([(50,)], [(2,)], 1)
    db.verify()


def test_limits_leave_the_last_commit(opened: Open) -> None:
    db = opened("input relation Start(x: bigint)  output relation N(x: bigint)  N(x) :- Start(x).  N(x + 1) :- N(x).")
    with pytest.raises(LimitError), db.transaction(Limits(rounds=50)) as tx:
        tx.insert("Start", [(0,)])
    assert db.relation("N").rows() == []
    db.verify()
