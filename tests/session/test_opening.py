"""Opening a database with facts: the first evaluation is with them."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.session.graph import GRAPH, Open
from tidelog import Database, DataError, LimitError, Limits, UserError
from tidelog.session.engines import StrategyName
from tidelog.session.observe.analyze import analyzing, rule_costs

UP_TO = """
input relation Size(n: u32)
output relation UpTo(n: u32)
UpTo(1).
UpTo(x + 1) :- UpTo(x), not Size(x).
"""
KEYED = 'input relation Stock(item: string, count: u32) primary key (s) s.item  Stock("tea", 1).  Stock("milk", 2).'
STRATEGIES = ("auto", "ranked", "dred", "dred-c", "elastic", "modular", "dbsp", "recompute")
SOON = Limits(seconds=20, tuples=100_000)


def test_recursion_that_only_ends_with_its_facts(opened: Open) -> None:
    db = opened(UP_TO, facts={"Size": [(8,)]}, limits=SOON)
    assert db.relation("UpTo").rows() == [(n,) for n in range(1, 9)]
    with db.transaction() as tx:
        tx.insert("Size", [(5,)])
    assert tx.result.changes["UpTo"].deleted == [(6,), (7,), (8,)]
    db.verify()  # which evaluates from scratch, with the facts too


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_opens_with_facts(strategy: StrategyName) -> None:
    db = Database(UP_TO, strategy=strategy, facts={"Size": [(8,)]}, limits=SOON)
    assert db.relation("UpTo").count() == 8
    db.set_strategy("ranked" if strategy != "ranked" else "auto")
    with db.transaction() as tx:
        tx.insert("Size", [{"n": 3}])
        tx.delete("Size", [(8,)])
    assert db.relation("UpTo").count() == 3
    db.verify()


@pytest.mark.parametrize("edges", [[(1, 2), (2, 3)], [{"a": 1, "b": 2}, (2, 3)], pa.table({"a": [1, 2], "b": [2, 3]})])
def test_opening_is_no_commit(opened: Open, edges: Any) -> None:
    db = opened(GRAPH, facts={"Edge": edges})
    assert db.commit_number == 0
    assert db.relation("Reach").rows() == [(1, 2), (1, 3), (2, 3)]
    told: list[Any] = []
    db.subscribe("Edge", told.append, snapshot=True)
    with db.transaction() as tx:
        tx.delete("Edge", [(2, 3)])
    assert tx.result.number == 1
    assert tx.result.changes["Reach"].deleted == [(1, 3), (2, 3)]
    assert [change.commit for change in told] == [0, 1]
    assert told[0].inserted == [(1, 2), (2, 3)]
    db.verify()


def test_nothing_is_derived_twice() -> None:
    with analyzing() as runs:
        Database(UP_TO.replace("not Size(x)", "Size(y), x < y"), facts={"Size": [(8,)]})
    assert [cost.derivations for cost in rule_costs(runs)] == [1, 7]


def test_a_folder(tmp_path: Path) -> None:
    (tmp_path / "Edge.csv").write_text("1,2\n2,3\n")
    (tmp_path / "Edeg.csv").write_text("1,2\n")
    for folder in (tmp_path, str(tmp_path)):
        db = Database(GRAPH, facts=folder)
        assert db.relation("Reach").count() == 3
        assert [warning.partition(": ")[2] for warning in db.remarks.warnings] == [
            "there is no input relation `Edeg`; did you mean `Edge`?"
        ]
    (tmp_path / "Edge.csv").write_text("1,x\n")
    with pytest.raises(DataError, match=r"Edge\.csv:1"):
        Database(GRAPH, facts=tmp_path)


def test_keys_are_checked(opened: Open) -> None:
    db = opened(KEYED, facts={"Stock": [("coffee", 3), ("tea", 1)]})
    assert db.relation("Stock").rows() == [("coffee", 3), ("milk", 2), ("tea", 1)]
    with db.transaction() as tx:
        tx.upsert("Stock", [("coffee", 4)])
    assert ("coffee", 4) in db.relation("Stock")
    with pytest.raises(DataError, match="same primary key"):
        opened(KEYED, facts={"Stock": [("coffee", 3), ("coffee", 4)]})
    with pytest.raises(DataError, match="same primary key"):
        opened(KEYED, facts={"Stock": [("tea", 3)]})


def test_mistakes(opened: Open) -> None:
    with pytest.raises(DataError, match=r"Edge, rows\[0\]"):
        opened(GRAPH, facts={"Edge": [(1,)]})
    with pytest.raises(UserError, match="no relation `Edeg`; did you mean `Edge`"):
        opened(GRAPH, facts={"Edeg": []})
    with pytest.raises(DataError, match="only input relations take facts"):
        opened(GRAPH, facts={"Reach": []})
    with pytest.raises(TypeError, match="expected a folder, or rows by the name of a relation"):
        opened(GRAPH, facts=[(1, 2)])
    with pytest.raises(UserError, match="there is no folder"):
        opened(GRAPH, facts="nowhere")
    with pytest.raises(LimitError):
        opened(UP_TO, facts={"Size": [(80,)]}, limits=Limits(tuples=20))
