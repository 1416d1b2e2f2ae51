"""Strata spread over partitions that exchange what is new: the answers and changes of the columnar engine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.generate.checking import follow
from tests.generate.pipeline import answers, plan_text
from tests.run.spark.test_engine import alike
from tidelog.base.errors import EvaluationError, LimitError
from tidelog.plan.closures.exchange import fragments_of, spread
from tidelog.plan.nodes import Plan
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta, Limits
from tidelog.run.spark.choose_way import Chooser
from tidelog.run.spark.durability.saved import Archive
from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.frames.difference import packed
from tidelog.run.spark.loading.loads import loaded
from tidelog.session.soak.histories import random_history

pytestmark = pytest.mark.spark

SAME = """
input relation E(a: u32, b: u32)
output relation Same(a: u32, b: u32)
Same(x, y) :- E(p, x), E(p, y), x != y.
Same(x, y) :- E(a, x), Same(a, b), E(b, y).
"""
TRIPLES = """
input relation E(s: u32, p: u32, o: u32)
output relation T(s: u32, p: u32, o: u32)
T(s, p, o) :- E(s, p, o).
T(x, 0, z) :- T(x, 0, y), T(y, 0, z).
T(x, 4, c) :- T(x, p, _), T(p, 2, c).
T(y, 4, c) :- T(_, p, y), T(p, 3, c).
T(x, 4, d) :- T(x, 4, c), T(c, 0, d).
T(x, q, y) :- T(x, p, y), T(p, 1, q).
"""
POINTS = """
input relation New(v: string, o: string)
input relation Assign(v: string, w: string)
input relation Load(v: string, w: string)
input relation Store(v: string, w: string)
output relation Points(v: string, o: string)
output relation Heap(o: string, p: string)
Points(v, o) :- New(v, o).
Points(v, o) :- Assign(v, w), Points(w, o).
Points(v, p) :- Load(v, w), Points(w, o), Heap(o, p).
Heap(o, p) :- Store(v, _), Points(v, o), Points(v, p).
"""
JOINED = """
input relation E(a: u32, b: u32)
output relation P(a: u32, b: u32)
P(x, y) :- E(x, y).
P(x, z) :- P(x, y), P(y, z), x != z, not E(z, x).
"""
UNITED = """
input relation E(a: u32, b: u32)
input relation F(a: u32, b: u32)
output relation P(a: u32, b: u32)
P(x, y) :- E(x, y).
P(x, y) :- F(x, y).
P(x, z) :- P(x, y), P(y, z), x != z.
"""
COUNT = "input relation S(x: u32)\noutput relation N(x: u32)\nN(x) :- S(x).\nN(x + 1) :- N(x).\n"
TRIANGLE = """
input relation E(a: u32, b: u32)
output relation P(a: u32, b: u32)
P(x, y) :- E(x, y).
P(x, z) :- P(x, y), P(y, z), P(z, x).
"""


def graph(nodes: int, edges: int, seed: int = 0) -> list[tuple[int, int]]:
    random = Random(seed)
    return sorted({(random.randrange(nodes), random.randrange(nodes)) for _ in range(edges)})


def triples() -> list[tuple[int, int, int]]:
    random = Random(1)
    schema = [(10, 0, 11), (11, 0, 12), (12, 0, 13), (20, 2, 10), (21, 3, 11), (22, 1, 20), (23, 1, 2), (24, 1, 0)]
    data = [(random.randrange(30, 60), random.randrange(20, 25), random.randrange(30, 60)) for _ in range(60)]
    return sorted({*schema, *data, (25, 23, 12), (12, 24, 14), (31, 25, 32)})


def texts(pairs: Sequence[tuple[int, int]]) -> list[tuple[str, str]]:
    return [(f"v{a}", f"v{b}") for a, b in pairs]


def points() -> dict[str, Delta]:
    objects = [(v, f"o{n}") for n, (v, _) in enumerate(texts(graph(12, 9)))]
    parts = {name: Delta(texts(graph(12, 10, seed))) for seed, name in enumerate(("Assign", "Load", "Store"))}
    return {"New": Delta(objects), **parts}


PROGRAMS = {
    "same generation": (SAME, {"E": Delta(graph(20, 25))}, 2),
    "triples": (TRIPLES, {"E": Delta(triples())}, 7),
    "points to": (POINTS, points(), 2),
    "joined": (JOINED, {"E": Delta(graph(15, 20))}, 2),
    "united": (UNITED, {"E": Delta(graph(9, 8)), "F": Delta(graph(9, 8, 1))}, 2),
}


@pytest.mark.parametrize("strategy", ["recompute", "auto"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_and_changes(spark: SparkSession, name: str, strategy: str) -> None:
    """Facts are in parcels where nothing else reads them, and stay so when they change."""
    text, facts, partitions = PROGRAMS[name]
    plan = plan_text(text)
    engine = SparkEngine(plan, spark=spark, strategy=strategy, driver_rows=0, partitions=partitions)
    columnar = ColumnarEngine(plan)
    relation, change = next(iter(facts.items()))
    rows = list(change.inserted)
    steps = (facts, {relation: Delta(rows[:1], rows[1::3])}, {relation: Delta(rows[1:2])})
    for step in steps if strategy == "auto" else steps[:2]:
        done, expected = engine.update(step), columnar.update(step)
        assert [work.reason for work in done.work if work.strategy == "exchanging"]
        for output in plan.relations:
            assert alike(done.changes.get(output), expected.changes.get(output)), output
        assert answers(engine) == answers(columnar)
        assert engine.verify() == []


def test_facts_in_parcels_through_rule_changes_rollbacks_and_losses(spark: SparkSession, tmp_path: Path) -> None:
    first = plan_text(TRIPLES)
    more = plan_text(TRIPLES + "T(x, 5, z) :- T(x, 5, y), T(y, 5, z).\n")  # another fragment may have to be everywhere
    read = plan_text(TRIPLES + "output relation R(s: u32)\nR(s) :- E(s, _, _).\n")
    engine = SparkEngine(first, spark=spark, driver_rows=0, partitions=2)
    engine.__dict__["_archive"] = Archive(engine.spark, tmp_path.as_uri())
    columnar = ColumnarEngine(first)
    rows = [*triples(), (1, 5, 2), (2, 5, 3)]
    kept = []
    steps: list[tuple[Delta, Plan | None]] = [
        (Delta([*rows, *rows[:5]]), None),
        (Delta([(3, 5, 4), rows[0]], [rows[0], rows[1], (9, 9, 9)]), more),
        (Delta((), rows[2::4]), None),
        (Delta(rows[1:3], rows[3:5]), read),
        (Delta((), rows[5:6]), first),
    ]
    for change, plan in steps:
        if change is steps[2][0]:
            token = engine.snapshot()
            engine.update({"E": Delta((), rows[::2])})
            engine.restore(token)
        done, expected = engine.update({"E": change}, plan), columnar.update({"E": change}, plan)
        for name in columnar.plan.relations:
            assert alike(done.changes.get(name), expected.changes.get(name)), name
        assert answers(engine) == answers(columnar)
        kept.append(loaded(engine._state.committed.relations["E"].settled) is not None)
    assert kept == [True, True, True, False, False]
    engine._doubt()
    last = {"E": Delta(rows[:1], rows[6:8])}
    assert alike(engine.update(last).changes.get("T"), columnar.update(last).changes.get("T"))
    assert answers(engine) == answers(columnar)


def test_facts_that_are_cut_into_more_pieces_are_found_there(spark: SparkSession) -> None:
    """What was taken out went where more partitions would have it: facts stayed, or were there twice, unnoticed."""
    plan = plan_text(JOINED)
    engine = SparkEngine(plan, spark=spark, driver_rows=0, partitions=2)
    columnar = ColumnarEngine(plan)
    edges = graph(15, 20)
    for change, partitions in ((Delta(edges), 2), (Delta(edges[10:12], edges[:10]), 5)):
        engine._frames.cut(partitions)  # as where data grows, and after an executor that ran out of memory
        done, expected = engine.update({"E": change}), columnar.update({"E": change})
        for name in plan.relations:
            assert alike(done.changes.get(name), expected.changes.get(name)), name
        assert engine.verify() == []
    assert answers(engine) == answers(columnar)


@pytest.mark.parametrize("seed", range(3))
def test_histories(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """With no other way for recursive strata than to spread them, where that is possible."""
    monkeypatch.setattr(Chooser, "_by_key", lambda *_: None)
    strategy = ("auto", "recompute", "auto")[seed]
    made = {"spark": spark, "strategy": strategy, "driver_rows": 0, "partitions": (2, 1, 7)[seed]}
    follow(random_history(Random(100 + seed), 3), lambda plan: SparkEngine(plan, **made))  # type: ignore[arg-type]


def test_what_is_placed_and_what_is_everywhere() -> None:
    (stratum,) = [one for one in plan_text(TRIPLES).strata if one.recursive]
    few = {fragment: 0 if fragment.constants[0][1].value < 4 else 1000 for fragment in fragments_of(stratum)}
    found = spread(stratum, few, 10)
    assert found is not None
    assert found.free
    assert found.columns == {"T": (0,)}
    assert sorted(fragment.constants[0][1].value for fragment in found.fragments) == [0, 1, 2, 3]
    many = spread(stratum, dict.fromkeys(few, 1000), 10)
    assert many is not None
    assert not many.free
    assert not many.fragments
    assert set(many.columns["T"]) == {0, 1, 2}
    (three,) = [one for one in plan_text(TRIANGLE).strata if one.recursive]
    assert spread(three, {}, 10) is None, "no variable is in all three atoms"


def test_a_partition_that_derives_too_much_leaves_it_to_the_rounds(spark: SparkSession) -> None:
    plan = plan_text(COUNT.replace("N(x).\n", "N(x), x < 30.\n"))
    engine = SparkEngine(plan, spark=spark, strategy="recompute", driver_rows=0, replicate_rows=10, partitions=2)
    update = engine.update({"S": Delta([(1,)])})
    assert [work.strategy for work in update.work] == ["recompute"]
    assert set(engine.rows("N")) == {(n,) for n in range(1, 31)}


def test_what_several_rules_read_is_unpacked_once(spark: SparkSession) -> None:
    readers = "output relation A(x: u32)\nA(x) :- Same(x, _).\noutput relation B(x: u32)\nB(x) :- Same(_, x).\n"
    for text in (SAME, SAME + readers):
        engine = SparkEngine(plan_text(text), spark=spark, strategy="recompute", driver_rows=0, partitions=2)
        engine.update({"E": Delta([(1, 2), (1, 3), (2, 4), (3, 5)])})
        (part,) = engine._state.committed.relations["Same"].settled
        rows = packed((part,))
        assert rows is not None
        assert (rows.unpacked is None) == (text == SAME)
        assert set(engine.rows("Same")) == {(2, 3), (3, 2), (4, 5), (5, 4)}


def test_a_rule_that_states_a_column_beside_a_fragment(spark: SparkSession) -> None:
    """Spark notes that what the rule states is never null, and Arrow did not put it to the tuples of the fragment."""
    text = """
    input relation E(a: u32, b: u32)
    output relation T(k: u32, a: u32, b: u32)
    T(4, x, y) :- E(x, y).
    T(3, y, x) :- T(4, x, y).
    T(3, x, z) :- T(3, x, y), T(3, y, z).
    """
    engine = SparkEngine(plan_text(text), spark=spark, driver_rows=0, partitions=2)
    columnar = ColumnarEngine(plan_text(text))
    for change in (Delta([(1, 2), (2, 3), (3, 4)]), Delta([(4, 5)], [(1, 2)])):
        done, expected = engine.update({"E": change}), columnar.update({"E": change})
        assert [work.strategy for work in done.work] == ["exchanging"]
        assert alike(done.changes.get("T"), expected.changes.get("T"))
    assert answers(engine) == answers(columnar)


def test_facts_for_partitions_that_had_none(spark: SparkSession) -> None:
    """Each new fact comes to another partition, most of which had none: all are told, and what follows from them."""
    engine = SparkEngine(
        plan_text(COUNT.replace("N(x).\n", "N(x), x < 9.\n")), spark=spark, driver_rows=0, partitions=7
    )
    for number in (41, 43, 44):
        update = engine.update({"S": Delta([(number,)])})
        assert {name: set(change.inserted) for name, change in update.changes.items()} == {
            "S": {(number,)},
            "N": {(number,)},
        }


def test_limits_and_errors_are_told(spark: SparkSession) -> None:
    engine = SparkEngine(plan_text(COUNT), spark=spark, strategy="recompute", driver_rows=0, partitions=2)
    with pytest.raises(LimitError, match=r"\(N\) took more than 8 rounds"):
        engine.update({"S": Delta([(1,)])}, limits=Limits(rounds=8))
    divide = COUNT.replace("x + 1) :- N(x)", "100 / x - 1) :- N(x), x < 200")
    engine = SparkEngine(plan_text(divide), spark=spark, strategy="recompute", driver_rows=0, partitions=2)
    with pytest.raises(EvaluationError, match="zero"):
        engine.update({"S": Delta([(50,)])})
    assert engine.count("N") == 0
