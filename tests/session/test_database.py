"""Facts of a database on every engine: what commits change, what is refused, and reading."""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tidelog
from tests.session.graph import GRAPH, Open, edges
from tidelog import Database, DataError, ProgramError, UserError, VerificationError

# --- facts ------------------------------------------------------------------------------------------------------------


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
    assert db.commit_number == 0


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


# --- reading ----------------------------------------------------------------------------------------------------------


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
    assert (db.commit_number, db.relation("N").count()) == (80, 80)


# --- opening ----------------------------------------------------------------------------------------------------------


def test_a_program_with_mistakes(opened: Open) -> None:
    with pytest.raises(ProgramError) as caught:
        opened("relation R(x: u8)\nR(x) :- Q(x).\nR(y) :- P(y).\n")
    assert [d.span.source.position(d.span.start)[0] for d in caught.value.diagnostics] == [2, 3]


def test_names_of_engines_and_strategies() -> None:
    with pytest.raises(UserError, match=r"there is no engine `columner`; there are .*; did you mean `columnar`"):
        Database(GRAPH, engine="columner")  # type: ignore[arg-type]
    with pytest.raises(UserError, match="there is no strategy `fast`; there are auto"):
        Database(GRAPH, strategy="fast")  # type: ignore[arg-type]
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


def test_a_relation_pins_its_strategy() -> None:
    text = """
    input relation Edge(a: u32, b: u32)
    #[strategy = "recompute"]
    output relation Two(a: u32, b: u32)
    Two(a, c) :- Edge(a, b), Edge(b, c).
    output relation Back(a: u32)
    Back(a) :- Edge(a, b), Edge(b, a).
    """
    db = Database(text)
    edges(db, (1, 2), (2, 1))
    done = {work.relations: work.strategy for work in edges(db, (2, 3), (3, 2)).profile}
    assert done == {("Two",): "recompute", ("Back",): "ranked"}
    db = Database(text, strategy="ranked")  # the user's choice goes first
    assert {work.strategy for work in edges(db, (2, 3), (3, 2)).profile} == {"ranked"}
