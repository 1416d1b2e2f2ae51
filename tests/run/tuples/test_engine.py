"""What is particular to the engine `tuples`: its choices, and that an interrupted update leaves no trace."""

from __future__ import annotations

import pytest

import tidelog
from tests.generate.pipeline import answers, plan_text
from tidelog.base.errors import EvaluationError, UserError
from tidelog.run.contract.engine import Delta
from tidelog.run.tuples.engine import EVALUATORS, TuplesEngine
from tidelog.run.tuples.index import INDEXES
from tidelog.run.tuples.relation import Part
from tidelog.session.engines import CHOICES

PROGRAM = """
input relation Edge(a: u32, b: u32)
output relation Reach(a: u32, b: u32)
Reach(a, b) :- Edge(a, b).
Reach(a, c) :- Reach(a, b), Edge(b, c).
output relation Far(a: u32, n: u32)
Far(a, 100 / (10 - n)) :- Reach(a, b), var n = b.group_by(a).max().
"""


def test_the_choices_are_those_of_the_engine() -> None:
    assert set(CHOICES["evaluator"]) == set(EVALUATORS)
    assert set(CHOICES["index"]) == set(INDEXES)


def test_an_evaluator_or_an_index_asks_for_the_engine() -> None:
    assert tidelog.Database(PROGRAM, index="spine").engine == "tuples"
    assert tidelog.Database(PROGRAM, strategy="elastic", rediscovery="divided").engine == "columnar"
    db = tidelog.Database(PROGRAM, evaluator="substitution", parallel=2, strategy="dred")
    assert db.engine == "tuples"
    with db.transaction() as tx:
        tx.insert("Edge", [(1, 2), (2, 3)])
    assert db.relation("Far").rows() == [(1, 14), (2, 14)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "columnar", "index": "hash"}, "the engine `columnar` has no option `index`; .*`tuples`"),
        ({"parallel": 2}, "the engine `columnar` has no option `parallel`; leave it out.*`tuples`"),
        (
            {"rediscovery": "whole"},
            "the strategy `auto` has no option `rediscovery`; leave it out, or choose `elastic`",
        ),
        ({"rediscovery": "half", "strategy": "elastic"}, "there is no rediscovery `half`; there are whole, divided"),
        ({"indexed": True}, "the strategy `auto` has no option `indexed`; leave it out, or choose `dbsp`"),
        ({"rediscovery": "whole", "strategy": "dbsp"}, "the strategy `dbsp` has no option `rediscovery`"),
        ({"index": "tree"}, "there is no index `tree`; there are hash, sorted, spine"),
        ({"evaluator": "algebre"}, "there is no evaluator `algebre`; .*algebra"),
        ({"engine": "tuples", "parallel": 0}, "parallel is a number of threads, at least 1, not 0"),
        ({"engine": "tuples", "parallel": True}, "parallel is a number of threads, at least 1, not True"),
    ],
)
def test_an_option_that_is_not_there(options: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        tidelog.Database(PROGRAM, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("strategy", ["ranked", "dred", "elastic", "recompute"])
@pytest.mark.parametrize("index", INDEXES)
def test_a_failed_update_leaves_no_trace(strategy: str, index: str) -> None:
    engine = TuplesEngine(plan_text(PROGRAM), strategy=strategy, index=index)
    engine.update({"Edge": Delta([(1, 2), (2, 3), (3, 4), (4, 1)])})
    before = answers(engine)
    with pytest.raises(EvaluationError, match="division by zero"):
        engine.update({"Edge": Delta([(1, 10)], [(2, 3)])})
    assert answers(engine) == before
    assert not engine.verify()
    engine.update({"Edge": Delta([(3, 5)], [(2, 3)])})
    assert answers(engine)["Reach"] == {(1, 2), (3, 1), (3, 2), (3, 4), (3, 5), (4, 1), (4, 2)}


@pytest.mark.parametrize("index", INDEXES)
def test_an_interrupt_while_an_update_is_made_final(index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = TuplesEngine(plan_text(PROGRAM), strategy="ranked", index=index)
    engine.update({"Edge": Delta([(1, 2), (2, 3), (3, 4), (4, 1)])})
    before, calls, remove = answers(engine), 0, Part.remove

    def interrupted(self: Part, rows: set[tuple[int, int]]) -> None:
        nonlocal calls
        calls += bool(rows)
        remove(self, rows)
        if calls == 2:
            calls += 1
            raise KeyboardInterrupt

    monkeypatch.setattr(Part, "remove", interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.update({"Edge": Delta([(3, 5)], [(2, 3)])})
    monkeypatch.undo()
    assert answers(engine) == before
    assert not engine.verify()
    engine.update({"Edge": Delta([], [(4, 1)])})
    assert answers(engine)["Reach"] == {(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)}
