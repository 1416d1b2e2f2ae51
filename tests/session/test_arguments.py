"""Arguments of the wrong kind: a `TypeError` or a `UserError` that says what was expected, and nothing changes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tidelog import (
    Database,
    Externs,
    Fallback,
    FrozenMap,
    Limits,
    Transaction,
    UserError,
    load_facts,
    save_outputs,
)

PROGRAM = """
input relation E(a: u8, b: string) primary key (e) e.a
input relation F(a: string)
output relation O(a: u8)
O(a) :- E(a, _).
index by_a(a: u8) on E(a, _)
"""
ROWS = [(1, "x")]
SCALARS: list[Any] = [None, 3, -1, 2.5, float("nan"), True, b"x", object(), len, type, 1j]
LISTS: list[Any] = [
    [None],
    [1],
    ["abc"],
    [b"ab"],
    [(1,)],
    [(1, "x", 3)],
    [[]],
    [{"a": 1}],
    [{"a": 1, "b": "x", "c": 2}],
]
MAPPINGS: list[Any] = [{"a": 1}, {1: 2}]
TEXTS: list[Any] = ["abc", "\x00"]
OTHERS: list[Any] = [{1, 2}, range(3), Path("nowhere")]
NOT_ROWS = [*SCALARS, *LISTS, *MAPPINGS, *TEXTS, *OTHERS]
NOT_TEXT = [*SCALARS, *LISTS, *MAPPINGS, *OTHERS]


@pytest.fixture(scope="module")
def shared() -> Database:
    return Database(PROGRAM, facts={"E": ROWS})


def in_transaction(act: Callable[[Transaction, Any], object]) -> Callable[[Database, Any], object]:
    def run(db: Database, value: Any) -> None:
        tx = db.transaction().begin()
        try:
            act(tx, value)
        finally:
            tx.rollback()

    return run


REFUSED: dict[str, tuple[Callable[[Database, Any], object], list[Any]]] = {
    "program": (lambda db, value: Database(value), NOT_TEXT),
    "engine": (lambda db, value: Database(PROGRAM, engine=value), [*NOT_TEXT[1:], "nosuch"]),
    "strategy": (lambda db, value: Database(PROGRAM, strategy=value), [*NOT_TEXT, "nosuch"]),
    "externs": (lambda db, value: Database(PROGRAM, externs=value), [*NOT_ROWS[1:]]),
    "library": (lambda db, value: Database(PROGRAM, library=value), [*SCALARS, *LISTS[:2], *MAPPINGS, *TEXTS, *OTHERS]),
    "limits": (lambda db, value: Database(PROGRAM, limits=value), NOT_ROWS),
    "fallback": (lambda db, value: Database(PROGRAM, fallback=value), NOT_ROWS[1:]),
    "tuning": (lambda db, value: Database(PROGRAM, tuning=value), NOT_ROWS),
    "facts": (lambda db, value: Database(PROGRAM, facts=value), NOT_ROWS[1:]),
    "facts of a relation": (lambda db, value: Database(PROGRAM, facts={"E": value}), NOT_ROWS),
    "evaluator": (lambda db, value: Database(PROGRAM, evaluator=value), [*NOT_TEXT[1:], "nosuch"]),
    "parallel": (lambda db, value: Database(PROGRAM, parallel=value), [-1, 0, 2.5, True, "2", [2]]),
    "an unknown option": (lambda db, value: Database(PROGRAM, nosuch=value), [None, 3]),  # type: ignore[call-arg]
    "set_strategy": (lambda db, value: db.set_strategy(value), [*NOT_TEXT, "nosuch"]),
    "set_strategy fallback": (lambda db, value: db.set_strategy("ranked", value), NOT_ROWS[1:]),
    "relation": (lambda db, value: db.relation(value), [*NOT_TEXT, "nosuch"]),
    "index": (lambda db, value: db.index(value), [*NOT_TEXT, "nosuch"]),
    "query_index": (lambda db, value: db.query_index(value, 1), [*NOT_TEXT, "nosuch"]),
    "query_index key": (lambda db, value: db.query_index("by_a", value), [None, -1, 2.5, True, "x", 300, [1]]),
    "query_index keys": (lambda db, value: db.query_index("by_a", *value), [(), (1, 2)]),
    "dump_index": (lambda db, value: db.dump_index(value), [*NOT_TEXT, "nosuch"]),
    "transaction": (lambda db, value: db.transaction(value), NOT_ROWS[1:]),
    "subscribe": (lambda db, value: db.subscribe(value, print), [*NOT_TEXT, "nosuch"]),
    "subscriber": (lambda db, value: db.subscribe("E", value), [None, 3, "abc", [print]]),
    "insert": (in_transaction(lambda tx, value: tx.insert("E", value)), NOT_ROWS),
    "insert text": (in_transaction(lambda tx, value: tx.insert("F", value)), ["abc", b"abc", "a", None, 3, {"a": "x"}]),
    "insert a row": (in_transaction(lambda tx, value: tx.insert("E", [value])), NOT_ROWS),
    "insert into": (in_transaction(lambda tx, value: tx.insert(value, [])), [*NOT_TEXT, "nosuch", "O"]),
    "delete": (in_transaction(lambda tx, value: tx.delete("E", value)), NOT_ROWS),
    "upsert": (in_transaction(lambda tx, value: tx.upsert("E", value)), NOT_ROWS),
    "upsert without a key": (in_transaction(lambda tx, value: tx.upsert("F", value)), [[("x",)]]),
    "delete_keys": (
        in_transaction(lambda tx, value: tx.delete_keys("E", value)),
        ["", "1", b"x", {}, 1, None, ["x"], [300]],
    ),
    "modify": (in_transaction(lambda tx, value: tx.modify("E", value, {})), [None, "x", 2, 300, [1], 1.5]),
    "modify to": (in_transaction(lambda tx, value: tx.modify("E", 1, value)), [None, 3, "ab", [1], {"c": 1}, {1: 1}]),
    "clear": (in_transaction(lambda tx, value: tx.clear(value)), [*NOT_TEXT, "nosuch"]),
    "add_rules": (in_transaction(lambda tx, value: tx.add_rules(value)), [*NOT_TEXT, "nosuch"]),
    "remove_rules": (in_transaction(lambda tx, value: tx.remove_rules(value)), [*NOT_TEXT, "nosuch"]),
    "preview": (in_transaction(lambda tx, value: tx.preview()[value]), [*NOT_TEXT, "nosuch"]),
    "Limits": (lambda db, value: Limits(rounds=value), [-1, 2.5, True, "3", [3]]),
    "Limits of time": (lambda db, value: Limits(seconds=value), [-1, float("nan"), True, "3", [3]]),
    "Fallback": (lambda db, value: Fallback(value), [None, -1, float("nan"), True, "3", [3]]),
    "Fallback by": (lambda db, value: Fallback(1.0, value), [None, 3, "money"]),
    "load_facts into": (lambda db, value: load_facts(value, "."), NOT_ROWS),
    "load_facts": (load_facts, [*NOT_TEXT, "nosuch"]),
    "load_facts header": (lambda db, value: load_facts(db, ".", header=value), [None, 3, True, "maybe"]),
    "save_outputs of": (lambda db, value: save_outputs(value, "."), NOT_ROWS),
    "save_outputs": (save_outputs, [*SCALARS, *LISTS, *MAPPINGS]),
    "Externs": (lambda db, value: Externs().register(value), [None, 3, b"f", ["f"]]),
    "Externs signature": (lambda db, value: Externs().register("f", value), [3, b"f", ["f"]]),
    "Externs function": (lambda db, value: Externs().register("f")(value), [None, 3, "f"]),
    "FrozenMap": (lambda db, value: FrozenMap(value), [None, 3, "abc", [1], [(1,)], [(1, 2, 3)]]),
}


@pytest.mark.parametrize("what", REFUSED)
def test_wrong_kinds_are_refused(shared: Database, what: str) -> None:
    act, values = REFUSED[what]
    for value in values:
        with pytest.raises((TypeError, UserError)) as raised:
            act(shared, value)
        assert not str(raised.value).endswith(("is not iterable", "is not callable")), (value, raised.value)
        assert "has no attribute" not in str(raised.value), value
        assert len(str(raised.value)) > 15, value
    assert shared.relation("E").rows() == ROWS
    assert shared.commit_number == 0
    shared.verify()


def test_what_does_not_fit_is_not_there(shared: Database) -> None:
    for value in NOT_ROWS:
        assert value not in shared.relation("E")


def test_rows_may_be_anything_that_can_be_iterated() -> None:
    db = Database("input relation F(a: u8)")
    for rows in (((n,) for n in range(3)), {(1,), (5,)}, iter([{"a": 6}]), [[7]], ()):
        with db.transaction() as tx:
            tx.insert("F", rows)
    assert db.relation("F").rows() == [(0,), (1,), (2,), (5,), (6,), (7,)]
