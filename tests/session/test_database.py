"""The Python API on every engine: what transactions do, and what they refuse."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tidelog
from tests.engines import IN_PROCESS
from tidelog import Database, DataError, EvaluationError, LimitError, Limits, ProgramError, UserError, VerificationError

GRAPH = """
input relation Edge(a: u32, b: u32)
input relation Owner(node: u32, who: string) primary key (o) o.node
output relation Reach(a: u32, b: u32)
#[name = "step"]
Reach(a, b) :- Edge(a, b).
Reach(a, c) :- Reach(a, b), Edge(b, c).
output relation Owned(who: string)
Owned(w) :- Owner(_, w).
"""

Open = Callable[..., Database]


@pytest.fixture(params=IN_PROCESS)
def opened(request: pytest.FixtureRequest) -> Open:
    def make(program: str = GRAPH, **options: Any) -> Database:
        return Database(program, engine=request.param, **options)

    return make


@pytest.fixture
def db(opened: Open) -> Database:
    return opened()


def edges(db: Database, *rows: tuple[int, int]) -> tidelog.Commit:
    with db.transaction() as tx:
        tx.insert("Edge", rows)
    return tx.result


# --- facts -----------------------------------------------------------------------------------------------------------


def test_a_commit_gives_exact_changes(db: Database) -> None:
    first = edges(db, (1, 2), (2, 3))
    assert first.number == 1
    assert first.duration > 0
    assert set(first.changes) == {"Edge", "Reach"}
    assert [*first.changes["Reach"]] == [((1, 2), 1), ((1, 3), 1), ((2, 3), 1)]
    assert first.profile
    with db.transaction() as tx:
        tx.delete("Edge", [(1, 2)])
        tx.insert("Edge", [(2, 4)])
    change = tx.result.changes["Reach"]
    assert (change.inserted, change.deleted) == ([(2, 4)], [(1, 2), (1, 3)])
    assert (len(change), change.commit, repr(change)) == (3, 2, "Change(Reach: +1, -2)")
    db.verify()


def test_a_change_as_a_frame(db: Database) -> None:
    edges(db, (1, 2))
    with db.transaction() as tx:
        tx.delete("Edge", [(1, 2)])
        tx.insert("Edge", [(3, 4)])
    change = tx.result.changes["Edge"]
    expected = {"a": [3, 1], "b": [4, 2], "weight": [1, -1]}
    assert change.to_arrow().to_pydict() == expected
    assert change.to_pandas().equals(pd.DataFrame(expected).astype({"a": "uint32", "b": "uint32"}))
    assert change.to_polars().equals(
        pl.DataFrame(expected, schema={"a": pl.UInt32, "b": pl.UInt32, "weight": pl.Int64})
    )


def test_unchanged_and_unknown_relations(db: Database) -> None:
    changes = edges(db, (1, 2)).changes
    assert len(changes["Owned"]) == 0
    assert "Owned" not in changes
    with pytest.raises(UserError, match="the program has no relation `Rech`; did you mean `Reach`"):
        changes["Rech"]


def test_present_and_absent_facts_change_nothing(db: Database) -> None:
    edges(db, (1, 2))
    with db.transaction() as tx:
        tx.insert("Edge", [(1, 2), (1, 2)])
        tx.delete("Edge", [(7, 8)])
    assert dict(tx.result.changes) == {}
    assert tx.result.number == 2


def test_the_last_operation_on_a_fact_wins(db: Database) -> None:
    edges(db, (1, 2))
    with db.transaction() as tx:
        tx.delete("Edge", [(1, 2), (3, 4)])
        tx.insert("Edge", [(1, 2), (3, 4), (5, 6)])
        tx.delete("Edge", [(5, 6)])
    assert [*tx.result.changes["Edge"]] == [((3, 4), 1)]


@dataclass
class Link:
    b: int
    a: int


@pytest.mark.parametrize(
    "rows",
    [
        [(1, 2), (2, 3)],
        {(1, 2), (2, 3)},
        [{"b": 2, "a": 1}, Link(3, 2)],
        pa.table({"b": [2, 3], "a": [1, 2]}),
        pa.record_batch({"a": [1, 2], "b": [2, 3]}),
        pd.DataFrame({"a": [1, 2], "b": [2, 3]}),
        pl.DataFrame({"a": [1, 2], "b": [2, 3]}),
    ],
    ids=["tuples", "set", "mappings", "table", "batch", "pandas", "polars"],
)
def test_forms_of_rows(rows: Any, opened: Open) -> None:
    db = opened()
    with db.transaction() as tx:
        tx.insert("Edge", rows)
    assert db.relation("Reach").rows() == [(1, 2), (1, 3), (2, 3)]
    with db.transaction() as tx:
        tx.delete("Edge", pa.table({"a": [1], "b": [2]}))
    assert db.relation("Reach").rows() == [(2, 3)]


def test_frames_mix_with_other_operations(db: Database) -> None:
    with db.transaction() as tx:
        tx.insert("Edge", pa.table({"a": [1, 2], "b": [2, 3]}))
        tx.insert("Edge", pa.table({"a": [2, 3], "b": [3, 4]}))
        tx.delete("Edge", [(1, 2)])
    assert db.relation("Edge").rows() == [(2, 3), (3, 4)]


def test_rows_that_do_not_fit_roll_back(db: Database) -> None:
    message = r"Edge, rows\[1\], column `b`: expected bit<32>, found 'x'"
    with pytest.raises(DataError, match=message), db.transaction() as tx:
        tx.insert("Edge", [(1, 2), (1, "x")])
    assert db.relation("Edge").count() == 0
    assert db.number == 0


@pytest.mark.parametrize(
    ("relation", "message"),
    [
        ("Reach", "Reach is an output relation: only input relations take facts"),
        ("Egde", "the program has no relation `Egde`; did you mean `Edge`?"),
    ],
)
def test_only_input_relations_take_facts(db: Database, relation: str, message: str) -> None:
    with pytest.raises(UserError) as caught, db.transaction() as tx:
        tx.insert(relation, [(1, 2)])
    assert str(caught.value) == message


# --- primary keys ----------------------------------------------------------------------------------------------------


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
    assert (db.relation("Owner").rows(), db.number) == ([(1, "ann")], 0)


# --- how transactions end --------------------------------------------------------------------------------------------


def test_commit_early(db: Database) -> None:
    with db.transaction() as tx:
        tx.insert("Edge", [(1, 2)])
        commit = tx.commit()
        assert tx.result is commit
        with pytest.raises(UserError, match="the transaction is not open"):
            tx.insert("Edge", [(1, 2)])
    assert db.number == 1


def test_roll_back(db: Database) -> None:
    with db.transaction() as tx:
        tx.insert("Edge", [(1, 2)])
        tx.rollback()
    assert db.relation("Edge").count() == 0
    with pytest.raises(UserError, match="the transaction has no result: it was not committed"):
        _ = tx.result
    with pytest.raises(ZeroDivisionError), db.transaction() as tx:
        tx.insert("Edge", ((1 // (1 - i), 2) for i in range(2)))
    assert db.number == 0
    edges(db, (1, 2))


def test_preview_changes_nothing(db: Database) -> None:
    edges(db, (1, 2))
    with db.transaction() as tx:
        tx.insert("Edge", [(2, 3)])
        tx.remove_rules("step")
        change = tx.preview()["Reach"]
        assert (change.inserted, change.deleted, change.commit) == ([], [(1, 2)], None)
        assert db.relation("Reach").rows() == [(1, 2)]
        tx.rollback()
    assert db.number == 1
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
    assert (db.relation("Half").rows(), db.relation("R").rows(), db.number) == ([(50,)], [(2,)], 1)
    db.verify()


def test_limits_leave_the_last_commit(opened: Open) -> None:
    db = opened("input relation Start(x: bigint)  output relation N(x: bigint)  N(x) :- Start(x).  N(x + 1) :- N(x).")
    with pytest.raises(LimitError), db.transaction(Limits(rounds=50)) as tx:
        tx.insert("Start", [(0,)])
    assert db.relation("N").rows() == []
    db.verify()


# --- rules -----------------------------------------------------------------------------------------------------------


def test_rules_come_and_go(db: Database) -> None:
    edges(db, (1, 2), (2, 3))
    with db.transaction() as tx:
        tx.add_rules('#[name = "sym"] Reach(y, x) :- Reach(x, y).')
        tx.insert("Edge", [(5, 5)])
    assert (2, 1) in db.relation("Reach")
    db.verify()
    with db.transaction() as tx:
        tx.remove_rules("sym")
    assert tx.result.changes["Reach"].deleted == [(2, 1), (2, 2), (3, 1), (3, 2), (3, 3)]
    db.verify()


def test_rules_are_listed(db: Database) -> None:
    assert [(rule.name, rule.origin, rule.active) for rule in db.rules()] == [
        ("step", "<program>:6:1", True),
        (None, "<program>:7:1", True),
        (None, "<program>:9:1", True),
    ]
    with db.transaction() as tx:
        tx.remove_rules("step")
        tx.add_rules('#[name = "step"] Reach(b, a) :- Edge(a, b).')
    listed = [(rule.text, rule.origin, rule.active) for rule in db.rules() if rule.name == "step"]
    assert listed == [
        ("Reach(b, a) :- Edge(a, b).", "<rules 1>:1:18", True),
        ("Reach(a, b) :- Edge(a, b).", "<program>:6:1", False),
    ]


def test_a_rule_is_removed_by_its_text_in_any_layout(db: Database) -> None:
    edges(db, (1, 2), (2, 3))
    with db.transaction() as tx:
        tx.remove_rules("Reach(a,c):-Reach(a,b),\n  Edge(b,c).")
    assert db.relation("Reach").rows() == [(1, 2), (2, 3)]
    with db.transaction() as tx:
        tx.add_rules("Reach(a, c) :- Reach(a, b), Edge(b, c).")
    assert tx.result.changes["Reach"].inserted == [(1, 3)]
    assert all(rule.active for rule in db.rules())


def test_rules_form_a_set(db: Database) -> None:
    before = db.rules()
    with db.transaction() as tx:
        tx.add_rules("Owned(w) :- Owner(_, w).")
    assert db.rules() == before
    with db.transaction() as tx:
        tx.add_rules('Owned(w) :- Owner(_, w). Owned("all").')
    assert [rule.text for rule in db.rules()][3:] == ['Owned("all").']
    with db.transaction() as tx:
        tx.remove_rules('Owned("all").')
    assert db.rules() == before


def test_a_bad_rule_is_refused_and_nothing_has_changed(db: Database) -> None:
    before = db.rules()
    for text in ("Reach(a, b) :- Egde(a, b).", "Reach(a) :- Edge(a, b).", "Reach(a, c) :- Edge(a, b).", "Reach("):
        tx = db.transaction().begin()
        tx.insert("Edge", [(1, 2)])
        with pytest.raises(ProgramError) as caught, tx:
            tx.add_rules(text)
        assert caught.value.diagnostics[0].span.source.name == "<rules 1>"
        assert (db.rules(), db.relation("Edge").count(), db.number) == (before, 0, 0)
    with pytest.raises(ProgramError, match="only rules and facts"), db.transaction() as tx:
        tx.add_rules("relation R(x: u8)")


def test_an_unstratifiable_rule_is_refused_at_the_commit(db: Database) -> None:
    with pytest.raises(ProgramError, match="E0601"), db.transaction() as tx:
        tx.add_rules("Reach(a, b) :- Edge(a, b), not Reach(b, a).")
    assert len(db.rules()) == 3
    edges(db, (1, 2))
    with db.transaction() as tx:
        tx.add_rules("Owned(w) :- Owner(_, w), not Reach(1, 1).")
        tx.add_rules("Reach(1, 1) :- Owned(_).")
        tx.remove_rules("Owned(w) :- Owner(_, w), not Reach(1, 1).")
    assert len(db.rules()) == 4


def test_an_unknown_rule(db: Database) -> None:
    with pytest.raises(UserError, match="has the name or text `stepp`; did you mean `step`"), db.transaction() as tx:
        tx.remove_rules("stepp")
    with pytest.raises(UserError, match="no rule in force"), db.transaction() as tx:
        tx.remove_rules('Owned(w) :- Owner(_, w). Owned("nobody").')


def test_a_removed_rule_of_a_module(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "lib.dl").write_text('output relation L(x: u8)\nL(1).\n#[name = "two"] L(2).\n')
    (tmp_path / "main.dl").write_text("import lib\noutput relation M(x: u8)\nM(x) :- L(x).\n")
    db = opened(tmp_path / "main.dl")
    with db.transaction() as tx:
        tx.remove_rules("two")
    assert db.relation("M").rows() == [(1,)]
    with db.transaction() as tx:
        tx.add_rules("M(7).")
    assert db.relation("M").rows() == [(1,), (7,)]
    assert db.relation("lib::L").rows() == [(1,)]


# --- reading ---------------------------------------------------------------------------------------------------------


def test_views(db: Database) -> None:
    edges(db, (2, 3), (1, 2))
    view = db.relation("Reach")
    assert (view.name, view.role, view.columns) == ("Reach", "output", {"a": "bit<32>", "b": "bit<32>"})
    assert [*view] == view.rows() == [(1, 2), (1, 3), (2, 3)]
    assert sorted(view.rows(ordered=False)) == view.rows()
    assert (len(view), view.count()) == (3, 3)
    assert (1, 3) in view
    assert {"a": 1, "b": 3} in view
    assert (3, 1) not in view
    assert "nonsense" not in view
    assert sorted(view.to_arrow().to_pylist(), key=str) == [{"a": a, "b": b} for a, b in view]
    assert sorted(pa.table(view).to_pylist(), key=str) == [{"a": a, "b": b} for a, b in view]
    assert sorted(view.to_polars().rows()) == view.rows()
    assert sorted(view.to_pandas().itertuples(index=False)) == view.rows()
    assert repr(view) == "output relation Reach(a: bit<32>, b: bit<32>) with 3 rows"
    assert [one.name for one in db.relations()] == ["Edge", "Owner", "Reach", "Owned"]
    with pytest.raises(UserError, match="no relation `Nope`"):
        db.relation("Nope")


def test_readers_see_whole_commits(db: Database) -> None:
    view = db.relation("Edge")
    wrong: list[int] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            count = len(view.rows())
            if count % 10:
                wrong.append(count)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for i in range(30):
        edges(db, *((i, 100 + j) for j in range(10)))
    done.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    assert view.count() == 300


def test_writers_take_turns(opened: Open) -> None:
    db = opened("input relation N(x: u32)")

    def write(start: int) -> None:
        for i in range(20):
            with db.transaction() as tx:
                tx.insert("N", [(start + i,)])

    writers = [threading.Thread(target=write, args=(1000 * i,)) for i in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert (db.number, db.relation("N").count()) == (80, 80)


# --- opening ---------------------------------------------------------------------------------------------------------


def test_a_program_with_mistakes(opened: Open) -> None:
    with pytest.raises(ProgramError) as caught:
        opened("relation R(x: u8)\nR(x) :- Q(x).\nR(y) :- P(y).\n")
    assert [d.span.source.position(d.span.start)[0] for d in caught.value.diagnostics] == [2, 3]


def test_names_of_engines_and_strategies() -> None:
    with pytest.raises(UserError, match=r"there is no engine `columner`; there are .*; did you mean `columnar`"):
        Database(GRAPH, engine="columner")
    with pytest.raises(UserError, match="there is no strategy `fast`; there are auto"):
        Database(GRAPH, strategy="fast")
    assert Database(GRAPH).engine in tidelog.engines()


def test_files(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(GRAPH)
    assert len(opened(tmp_path / "p.dl").rules()) == 3
    assert len(opened(str(tmp_path / "p.dl")).rules()) == 3
    with pytest.raises(UserError, match=r"cannot read .*none\.dl: No such file or directory"):
        opened(str(tmp_path / "none.dl"))
    (tmp_path / "p.dl").write_bytes(b"\xff")
    with pytest.raises(UserError, match="it is not UTF-8 text"):
        opened(tmp_path / "p.dl")


def test_verify_notices(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    edges(db, (1, 2))
    engine = db._store._engine
    real = engine.rows
    monkeypatch.setattr(engine, "rows", lambda name: [(7, 7)] if name == "Reach" else real(name))
    with pytest.raises(
        VerificationError, match="Reach has 1 rows, evaluation from scratch gives 1, for instance Reach"
    ):
        db.verify()
