import threading

import pytest

from tidelog import Change, Database, SubscriptionWarning, UserError

PROGRAM = """
input relation Edge(a: u32, b: u32)
output relation Back(a: u32, b: u32)
Back(b, a) :- Edge(a, b).
"""


@pytest.fixture
def db() -> Database:
    return Database(PROGRAM)


def insert(db: Database, *rows: tuple[int, int]) -> None:
    with db.transaction() as tx:
        tx.insert("Edge", rows)


class Heard(list[tuple[int | None, list[tuple[tuple[int, ...], int]]]]):
    def __call__(self, change: Change) -> None:
        self.append((change.commit, [*change]))


def test_changes_are_told(db: Database) -> None:
    heard = Heard()
    subscription = db.subscribe("Back", heard)
    insert(db, (1, 2))
    insert(db, (1, 2))  # changes nothing, so nothing is told
    insert(db, (3, 4))
    subscription.cancel()
    insert(db, (5, 6))
    assert heard == [(1, [((2, 1), 1)]), (3, [((4, 3), 1)])]


def test_a_snapshot_comes_first(db: Database) -> None:
    insert(db, (1, 2), (3, 4))
    heard = Heard()
    with db.subscribe("Back", heard, snapshot=True):
        insert(db, (5, 6))
    insert(db, (7, 8))
    assert heard == [(1, [((2, 1), 1), ((4, 3), 1)]), (2, [((6, 5), 1)])]


def test_the_sum_of_what_is_told_is_the_state(db: Database) -> None:
    insert(db, (0, 0))
    told: dict[tuple[int, ...], int] = {}

    def add(change: Change) -> None:
        for row, weight in change:
            told[row] = told.get(row, 0) + weight

    db.subscribe("Back", add, snapshot=True)
    for i in range(5):
        with db.transaction() as tx:
            tx.insert("Edge", [(i, i + 1)])
            tx.delete("Edge", [(max(i - 2, 0), max(i - 1, 0))])
    assert sorted(row for row, weight in told.items() if weight) == db.relation("Back").rows()
    assert set(told.values()) <= {0, 1}


def test_an_error_does_not_undo_the_commit(db: Database) -> None:
    heard = Heard()

    def fail(change: Change) -> None:
        raise ValueError("no")

    db.subscribe("Back", fail)
    db.subscribe("Back", heard)
    tx = db.transaction().begin()
    tx.insert("Edge", [(1, 2)])
    with pytest.warns(SubscriptionWarning, match=r"subscriber of Back at commit 1: ValueError\('no'\)"):
        tx.commit()
    assert db.relation("Edge").count() == 1
    assert [str(failure) for failure in tx.result.failures] == ["no"]
    assert len(heard) == 1


def test_a_subscriber_may_open_transactions(db: Database) -> None:
    heard = Heard()

    def close(change: Change) -> None:
        if change.inserted and len(change.inserted) == 1:
            insert(db, *change.inserted, (9, 9))

    db.subscribe("Edge", close)
    db.subscribe("Edge", heard)
    insert(db, (1, 2))
    assert heard == [(1, [((1, 2), 1)]), (2, [((9, 9), 1)])]


def test_a_subscriber_may_open_transactions_at_its_snapshot(db: Database) -> None:
    heard = Heard()

    def first(change: Change) -> None:
        heard(change)
        if change.commit == 1:
            insert(db, (9, 9))

    insert(db, (1, 2))
    db.subscribe("Edge", first, snapshot=True)
    assert heard == [(1, [((1, 2), 1)]), (2, [((9, 9), 1)])]


def test_order_holds_with_several_writers(db: Database) -> None:
    heard = Heard()
    db.subscribe("Edge", heard)

    def write(i: int) -> None:
        for j in range(20):
            insert(db, (i, j))

    writers = [threading.Thread(target=write, args=(i,)) for i in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [commit for commit, _ in heard] == list(range(1, 61))


def test_unknown_relation(db: Database) -> None:
    with pytest.raises(UserError, match="did you mean `Back`"):
        db.subscribe("Bck", print)
