"""The engine on Spark gives the answers and the changes of the columnar engine, on each of its paths."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Iterator, Mapping
from decimal import Decimal
from threading import Timer
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from tests.generate.pipeline import answers, plan_text
from tidelog import Database, DataError, EvaluationError, LimitError, UserError
from tidelog.base.tuning.table import DEFAULT
from tidelog.plan.nodes import Plan
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta, Limits
from tidelog.run.reference.engine import ReferenceEngine
from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.frames.checkpoint import Part

pytestmark = pytest.mark.spark

CLOSURE = """
input relation E(a: u32, b: u32)
output relation T(a: u32, b: u32)
T(x, y) :- E(x, y).
T(x, z) :- T(x, y), E(y, z).
"""
REFLEXIVE = CLOSURE + "T(x, x) :- E(x, _).\n"
LINEAR_TO_NONLINEAR = "T(x, y), E(y, z)", "T(x, y), T(y, z)"
MUTUAL = "T(y, x) :- T(x, y), E(x, x).\n"
Step = tuple[Mapping[str, Delta], Plan | None]


def history() -> Iterator[tuple[Mapping[str, Delta], str]]:
    """Insertions, deletions on a cycle, a fact that is absent, a rule that comes and goes."""
    yield {"E": Delta([(1, 2), (2, 3), (3, 4)])}, ""
    yield {"E": Delta([(4, 1), (1, 5)], [(9, 9)])}, ""
    yield {"E": Delta([], [(2, 3)])}, ""
    yield {"E": Delta([(2, 4)], [])}, REFLEXIVE
    yield {"E": Delta([(1, 5)], [(1, 2)])}, ""
    yield {}, CLOSURE


def alike(one: Delta | None, other: Delta | None) -> bool:
    a, b = one or Delta(), other or Delta()
    return (set(a.inserted), set(a.deleted)) == (set(b.inserted), set(b.deleted))


@pytest.mark.parametrize(
    ("form", "paths"),
    [
        ("linear", {"driver_rows": 0, "replicate_rows": 0, "partitions": 2}),
        ("linear", {"driver_rows": 0, "partitions": 1}),
        ("nonlinear", {"driver_rows": 0, "partitions": 2}),
        ("linear", {"driver_rows": 9, "partitions": 7, "broadcast_rows": 0}),
        ("linear", {"driver_rows": 0, "strategy": "recompute", "partitions": 2}),
    ],
    ids=["round loop", "by key", "made linear", "handed over by the driver", "recompute"],
)
def test_closure(spark: SparkSession, form: str, paths: dict[str, Any]) -> None:
    def formed(plan: str) -> Plan:
        return plan_text(plan.replace(*LINEAR_TO_NONLINEAR) if form == "nonlinear" else plan)

    engine = SparkEngine(formed(CLOSURE), spark=spark, **paths)
    columnar = ColumnarEngine(formed(CLOSURE))
    for facts, text in history():
        plan = formed(text) if text else None
        update, expected = engine.update(facts, plan), columnar.update(facts, plan)
        for name in ("E", "T"):
            assert alike(update.changes.get(name), expected.changes.get(name)), name
        assert answers(engine) == answers(columnar)
        assert engine.count("T") == columnar.count("T")
    token = engine.snapshot()
    engine.update({"E": Delta([(7, 8)])})
    assert engine.contains("T", (7, 8))
    engine.restore(token)
    assert not engine.contains("T", (7, 8))


def test_a_closure_made_linear_that_stops_being_one(spark: SparkSession) -> None:
    """Its support was not counted, so the next update that does not decompose starts from scratch, and so do others."""
    closure = CLOSURE.replace(*LINEAR_TO_NONLINEAR)
    steps: list[Step] = [
        ({"E": Delta([(1, 2), (2, 3), (3, 3), (3, 4), (4, 2)])}, None),
        ({"E": Delta([], [(4, 2)])}, plan_text(closure + MUTUAL)),
        ({"E": Delta([], [(2, 3)])}, None),
        ({"E": Delta([(4, 1)], [(3, 3)])}, plan_text(closure)),
    ]
    engine = SparkEngine(plan_text(closure), spark=spark, driver_rows=0, partitions=2)
    reference = ReferenceEngine(plan_text(closure))
    strategies = []
    for facts, plan in steps:
        update, expected = engine.update(facts, plan), reference.update(facts, plan)
        assert answers(engine) == answers(reference)
        assert alike(update.changes.get("T"), expected.changes.get("T"))
        strategies += [(work.strategy, work.reason) for work in update.work]
    unknown = "the support of its tuples is not known; {} rows are sent to all"
    assert strategies[:3] == [
        ("by key", "it was empty; rules keep a, 5 rows are sent to all"),
        ("exchanging", unknown.format(4)),
        ("exchanging", unknown.format(3)),
    ]


def test_what_the_driver_has_not_counted(spark: SparkSession) -> None:
    """An update on the driver gave way and left support uncounted: after the hand-over the next starts from scratch."""
    text = CLOSURE.replace(*LINEAR_TO_NONLINEAR) + MUTUAL
    tuning = DEFAULT.having({"budgets.work": 1.0, "budgets.counted": 0.0})
    engine = SparkEngine(plan_text(text), spark=spark, driver_rows=30, replicate_rows=0, partitions=2, tuning=tuning)
    reference = ReferenceEngine(plan_text(text))
    for edges in (
        Delta([(1, 2), (2, 3), (3, 4)]),
        Delta([(4, 4)]),
        Delta([(n, n) for n in range(40, 60)], [(2, 3)]),
    ):
        update, expected = engine.update({"E": edges}), reference.update({"E": edges})
        assert answers(engine) == answers(reference)
        assert alike(update.changes.get("T"), expected.changes.get("T"))
    assert [work.reason for work in update.work] == ["the support of its tuples is not known; it reads 23 rows"]
    assert not engine.verify()


def test_strategies_are_told(spark: SparkSession) -> None:
    edges = Delta([(1, 2), (2, 3)])
    engine = SparkEngine(plan_text(CLOSURE), spark=spark, driver_rows=0)
    assert [work.strategy for work in engine.update({"E": edges}).work] == ["by key"]
    (work,) = engine.update({"E": Delta([(3, 4)])}).work
    assert work.reason == "only the pieces touched; rules keep a, 3 rows are sent to all"
    engine = SparkEngine(plan_text(CLOSURE), spark=spark, driver_rows=0, strategy="ranked")
    engine.update({"E": edges})
    assert [work.strategy for work in engine.update({"E": Delta([(3, 4)])}).work] == ["ranked"]


def test_small_strata_of_a_large_program(spark: SparkSession) -> None:
    text = CLOSURE + "input relation A(x: u32)\noutput relation B(x: u32)\nB(x) :- A(x).\n"
    engine = SparkEngine(plan_text(text), spark=spark, driver_rows=9, partitions=2)
    update = engine.update({"A": Delta([(n,) for n in range(20)]), "E": Delta([(1, 2), (2, 3), (3, 1)])})
    assert {work.relations: work.strategy for work in update.work} == {("B",): "recompute", ("T",): "on the driver"}
    assert (engine.count("B"), engine.count("T")) == (20, 9)
    columnar = ColumnarEngine(plan_text(CLOSURE))
    columnar.update({"E": Delta([(1, 2), (2, 3), (3, 1)])})
    expected = columnar.update({"E": Delta((), [(2, 3)])})
    assert alike(engine.update({"E": Delta((), [(2, 3)])}).changes["T"], expected.changes["T"])


def test_small_programs_need_no_session() -> None:
    engine = SparkEngine(plan_text(CLOSURE))
    update = engine.update({"E": Delta([(1, 2), (2, 3)])})
    assert [work.reason for work in update.work] == ["small: on the driver"]
    assert set(engine.rows("T")) == {(1, 2), (2, 3), (1, 3)}
    assert "_frames" not in vars(engine)


def test_a_failing_expression_names_rule_and_arguments(spark: SparkSession) -> None:
    text = "input relation A(x: u8, y: u8)\noutput relation B(z: u8)\nB(x / y) :- A(x, y).\n"
    engine = SparkEngine(plan_text(text), spark=spark, driver_rows=0)
    with pytest.raises(EvaluationError, match=r", with x = 1, y = 0\n  in the rule `B\(x / y\) :- A\(x, y\)\.`"):
        engine.update({"A": Delta([(1, 0)])})
    assert engine.count("A") == 0
    engine.update({"A": Delta([(6, 3)])})
    assert set(engine.rows("B")) == {(2,)}


def test_limits(spark: SparkSession) -> None:
    engine = SparkEngine(plan_text(CLOSURE), spark=spark, driver_rows=0, replicate_rows=0)
    with pytest.raises(LimitError, match="more than 2 rounds"):
        engine.update({"E": Delta([(n, n + 1) for n in range(5)])}, limits=Limits(rounds=2))
    assert engine.count("E") == 0


TRIPLES = """
input relation A(x: u32)
output relation B(x: u32, y: u32, z: u32)
B(x, y, z) :- A(x), A(y), A(z), x + y == z + 1.
"""
"""With a thousand rows it takes many minutes."""


def test_a_time_limit_cancels_the_job_that_runs(spark: SparkSession) -> None:
    engine = SparkEngine(plan_text(TRIPLES), spark=spark, driver_rows=0, partitions=2)
    engine.update({"A": Delta([(1,)])})
    spark.sparkContext.setJobGroup("mine", "of the user")
    start = time.monotonic()
    with pytest.raises(LimitError, match="more than 2 seconds"):
        engine.update({"A": Delta([(n,) for n in range(2, 1200)])}, limits=Limits(seconds=2))
    assert time.monotonic() - start < 60, "it takes many minutes"
    assert spark.sparkContext.getLocalProperty("spark.jobGroup.id") == "mine"
    spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    assert engine.count("A") == 1
    engine.update({"A": Delta([(2,)])})
    assert engine.count("B") == 3


@pytest.mark.alone
def test_an_interrupt_cancels_the_job_that_runs(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.tidelog.driverRows", "0")
    db = Database(TRIPLES, engine="spark", spark=session)
    with db.transaction() as tx:
        tx.insert("A", [(1,)])
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # Spark's own cancels the jobs of everybody
    try:
        Timer(2, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt), db.transaction() as tx:
            tx.insert("A", [(n,) for n in range(2, 1200)])
    finally:
        signal.signal(signal.SIGINT, handler)
    end = time.monotonic() + 60
    while spark.sparkContext.statusTracker().getActiveJobsIds():
        assert time.monotonic() < end, "the job goes on"
        time.sleep(0.1)
    assert list(db.relation("B").rows()) == [(1, 1, 1)]
    db.verify()
    with db.transaction() as tx:
        tx.insert("A", [(2,)])
    assert db.relation("B").count() == 3
    db.verify()


def test_facts_of_the_program_and_stored_ones(spark: SparkSession) -> None:
    text = """input relation A(x: u8)
    output relation B(x: u8)
    B(x) :- A(x).
    """
    more = plan_text(text + "A(1).\n")
    engine, reference = SparkEngine(more, spark=spark, driver_rows=0, partitions=2), ReferenceEngine(more)
    steps: list[Step] = [
        ({"A": Delta([(2,)], [(1,)])}, None),
        ({"A": Delta([(1,), (3,)])}, plan_text(text)),
        ({"A": Delta((), [(3,)])}, more),
        ({"A": Delta((), [(1,)])}, None),
        ({}, plan_text(text)),
    ]
    for facts, plan in steps:
        update, expected = engine.update(facts, plan), reference.update(facts, plan)
        assert answers(engine) == answers(reference)
        assert all(alike(update.changes.get(name), expected.changes.get(name)) for name in ("A", "B"))
    assert engine.verify() == []


def test_frames_in_and_out(spark: SparkSession) -> None:
    text = """
    input relation Item(name: string, size: u64, weight: double, sold: bool)
    output relation Big(name: string, size: u64)
    Big(n, s) :- Item(n, s, _, _), s > 9223372036854775807.
    """
    db = Database(text, engine="spark", spark=spark)
    schema = "sold boolean, weight float, size decimal(20, 0), name string"
    rows = [(True, -0.0, Decimal(2**64 - 1), "a"), (False, 1.5, Decimal(3), "b")]
    with db.transaction() as tx:
        tx.insert("Item", spark.createDataFrame(rows, schema))
    assert db.relation("Item").rows() == [("a", 2**64 - 1, 0.0, True), ("b", 3, 1.5, False)]
    out = db.relation("Big").to_spark()
    assert [tuple(row) for row in out.collect()] == [("a", Decimal(2**64 - 1))]
    for wrong, message in (
        ([(True, 1.0, Decimal(-1), "c")], "Item.size: 1 rows are out of range"),
        ([(None, 1.0, Decimal(1), "c")], "Item.sold: 1 rows are null"),
    ):
        with pytest.raises(DataError, match=message), db.transaction() as tx:
            tx.insert("Item", spark.createDataFrame(wrong, schema))
    with pytest.raises(DataError, match="has no column name"), db.transaction() as tx:
        tx.insert("Item", spark.createDataFrame(rows, schema).drop("name"))


def test_structures_as_structs_arrays_and_maps(spark: SparkSession) -> None:
    text = """
    typedef Point = Point{x: u32, y: signed<16>}
    typedef Shape = Dot{at: Intern<Point>} | Line{ends: Vec<Point>}
    input relation In(s: Shape, t: (u64, string), m: Map<string, bool>, big: bigint)
    output relation Out(s: Shape, t: (u64, string), m: Map<string, bool>, big: bigint)
    Out(s, t, m, b) :- In(s, t, m, b).
    """
    db = Database(text, engine="spark", spark=spark)
    dot = {"tag": "Dot", "at": {"x": 1, "y": -2}}
    line = {"tag": "Line", "ends": [{"x": 1, "y": 0}, {"x": 3, "y": 4}]}
    with db.transaction() as tx:
        tx.insert("In", [(dot, (2**64 - 1, "a"), {"k": True}, 10**30), (line, (0, "b"), {}, 7)])
    rows = sorted((row.asDict(recursive=True) for row in db.relation("Out").to_spark().collect()), key=str)
    assert rows == [
        {
            "s": {"tag": "Dot", "at": {"x": 1, "y": -2}, "ends": None},
            "t": {"0": Decimal(2**64 - 1), "1": "a"},
            "m": {"k": True},
            "big": str(10**30),
        },
        {
            "s": {"tag": "Line", "at": None, "ends": [{"x": 1, "y": 0}, {"x": 3, "y": 4}]},
            "t": {"0": Decimal(0), "1": "b"},
            "m": {},
            "big": "7",
        },
    ]
    change = tx.result.changes["Out"].to_spark(spark)
    assert [row.weight for row in change.where("t.`1` = 'b' and s.ends[1].y = 4").collect()] == [1]
    assert dict(db.relation("Out").to_spark(text=True).dtypes)["s"] == "string"


def test_verify_counts_what_is_wrong(spark: SparkSession) -> None:
    text = CLOSURE + 'output relation B(x: string)\nB("${x}") :- E(x, _).\n'
    engine = SparkEngine(plan_text(text), spark=spark, driver_rows=0, replicate_rows=0, partitions=2)
    engine.update({"E": Delta([(1, 2), (2, 3)])})
    assert engine.verify() == []
    relations = engine.snapshot()[0].committed.relations
    relations["E"].settled *= 2
    (part,) = relations["B"].settled
    relations["B"].settled = (Part(part.frame.withColumn("support", f.lit(0).cast("long")), part.count),)
    assert sorted(engine.verify()) == ["B has 2 unsupported tuples", "E has 2 repeated tuples"]


def test_workers_do_not_search_modules_for_garbage(spark: SparkSession) -> None:
    def frozen(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield pa.RecordBatch.from_pydict({"objects": [gc.get_freeze_count()]})

    assert min(row.objects for row in spark.range(2).mapInArrow(frozen, "objects long").collect()) > 100_000


def test_settings_of_the_session(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.tidelog.driverRows", "0")
    session.conf.set("spark.tidelog.partitions", "3")
    engine = SparkEngine(plan_text(CLOSURE), spark=session)
    assert engine.spark.conf.get("spark.sql.shuffle.partitions") == "3"
    assert [work.strategy for work in engine.update({"E": Delta([(1, 2)])}).work] == ["by key"]
    session.conf.set("spark.tidelog.driverRows", "-1")
    with pytest.raises(UserError, match=r"`spark.tidelog.driverRows`: expected a number of at least 0, found '-1'"):
        SparkEngine(plan_text(CLOSURE), spark=session)
    session.conf.unset("spark.tidelog.driverRows")
    session.conf.set("spark.tidelog.partition", "3")
    with pytest.raises(UserError, match=r"no setting `spark.tidelog.partition`; did you mean `partitions`"):
        SparkEngine(plan_text(CLOSURE), spark=session)


def test_a_recursion_without_a_beginning(spark: SparkSession) -> None:
    text = (
        "input relation E(a: u32, b: u32)\noutput relation T(a: u32, b: u32)\nT(y, z) :- T(x, y), E(y, z), E(z, x).\n"
    )
    engine = SparkEngine(
        plan_text(text), spark=spark, driver_rows=0, replicate_rows=0, partitions=2, strategy="recompute"
    )
    engine.update({"E": Delta([(1, 2)])})
    assert (engine.count("E"), engine.count("T")) == (1, 0)


def test_database(spark: SparkSession) -> None:
    db = Database(CLOSURE, engine="spark", spark=spark)
    with db.transaction() as tx:
        tx.insert("E", [(1, 2), (2, 3)])
    assert db.relation("T").rows() == [(1, 2), (1, 3), (2, 3)]
    assert db.engine == "spark"


def test_goals(spark: SparkSession) -> None:
    text = """
        input relation Edge(a: u32, b: string)
        output relation Last(a: u32, b: string)
        Last(a, b) :- Edge(a, b), a > 1.
    """
    db = Database(text, engine="spark", spark=spark, facts={"Edge": [(1, "x"), (2, "y"), (3, "y")]})
    assert db.query("Edge($n, t)", {"n": 1}).rows() == [("x",)]
    assert db.query("Last(n, t), var c = n.group_by(t).count()").rows() == [("y", 2)]
    assert db["Edge"].where(b="y").rows() == [(2, "y"), (3, "y")]
    with db.transaction() as tx:
        tx.insert("Edge", [(4, "x")])
        assert tx.query("Last(n, t), not Edge(1, t)").rows() == [(2, "y"), (3, "y")]
        assert tx.query('Last(n, "x")').rows() == [(4,)]
        assert db.query('Last(n, "x")').rows() == []
    assert db["Edge"].where(b="x").rows() == [(1, "x"), (4, "x")]
    db.verify()
