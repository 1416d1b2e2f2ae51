"""The lanes on Spark: each a process that evaluates programs on folders of facts in one way.

    python -m benchmarks.race_spark LANE

| lane | what |
| --- | --- |
| columnar | Tidelog's engine in this process, without Spark |
| spark | Tidelog's engine, free to choose |
| executors | Tidelog's engine with nothing evaluated on the driver |
| loop | Tidelog's engine by its round loop alone: no decomposed job either |
| textbook | a loop over DataFrames: join, distinct, left anti join, checkpoint, count; stars of `same` |
| cte | Spark's recursive common table expression, its limits lifted |

It says what it took to start, with a tiny program evaluated. Then it reads lines `[program, folder, seconds]` and
answers each by lines of JSON: after the `first` evaluation what was found; then, if there is time, the best of some
`warm` ones; `done` with the last. All lanes on Spark start from the same DataFrames, which it has computed, and end by
reading every row of the result; reading the files is not counted.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from benchmarks.race_tidelog import evaluate, planned
from benchmarks.workloads import WORKLOADS
from tidelog.base.plain.plain import Plain
from tidelog.plan.nodes import Plan
from tidelog.run.contract.engine import Delta, Rows
from tidelog.run.spark.cluster.session import start_session
from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.frames.accounts import opened_account
from tidelog.session.formats.files import read_facts

MEMORY = "4g"
THREADS = 2
REPEATS = 3
ENGINE: dict[str, dict[str, int]] = {
    "spark": {},
    "executors": {"driver_rows": 0},
    "loop": {"driver_rows": 0, "replicate_rows": 0},
}
Frames = dict[str, DataFrame]
Step = Callable[[DataFrame, DataFrame, Frames], DataFrame]
"""From the delta, all tuples and the facts to candidates for new tuples."""


def start(way: str) -> SparkSession:
    """Return a session: the engine's, or one with Spark's own settings."""
    if way in ENGINE:
        return start_session(THREADS, {"spark.driver.memory": MEMORY})
    return start_session(THREADS, {"spark.driver.memory": MEMORY, "spark.sql.shuffle.partitions": "4"})


# --- the textbook's loops ---------------------------------------------------------------------------------------------


def close(delta: DataFrame, _: DataFrame, facts: Frames) -> DataFrame:
    """Continue paths by an edge."""
    edge = facts["Edge"].select(f.col("a").alias("b"), f.col("b").alias("c"))
    return delta.join(edge, "b").select("a", f.col("c").alias("b"))


def same(delta: DataFrame, _: DataFrame, facts: Frames) -> DataFrame:
    """Go down by an edge on both sides."""
    left = facts["Edge"].select("a", f.col("b").alias("x"))
    right = facts["Edge"].select(f.col("a").alias("b"), f.col("b").alias("y"))
    return delta.join(left, "a").join(right, "b").select(f.col("x").alias("a"), f.col("y").alias("b"))


def entail(delta: DataFrame, known: DataFrame, _: Frames) -> DataFrame:
    """Apply the RDFS rules with a new triple on either side."""
    found = [_entailed(delta, known), _entailed(known, delta)]
    return found[0].union(found[1])


def _entailed(data: DataFrame, schema: DataFrame) -> DataFrame:
    def said(number: int) -> DataFrame:
        return schema.where(f.col("p") == number).select(f.col("s").alias("k"), f.col("o").alias("v"))

    def through(rows: DataFrame, key: str, number: int) -> DataFrame:
        return rows.withColumn("k", f.col(key)).join(said(number), "k")

    subject, middle, thing = (f.col(name) for name in ("s", "p", "o"))
    kind, value = f.lit(4).alias("p"), f.col("v").alias("o")
    closed = [
        through(data.where(middle == number), "o", number).select(subject, f.lit(number).alias("p"), value)
        for number in (0, 1)
    ]
    return (
        closed[0]
        .union(closed[1])
        .union(through(data, "p", 2).select(subject, kind, value))
        .union(through(data, "p", 3).select(thing.alias("s"), kind, value))
        .union(through(data.where(middle == 4), "o", 0).select(subject, kind, value))
        .union(through(data, "p", 1).select(subject, f.col("v").alias("p"), thing))
    )


def read(frame: DataFrame) -> None:
    """Let Spark read every row, and do nothing with it."""
    frame.write.format("noop").mode("overwrite").save()


def textbook(first: DataFrame, step: Step, facts: Frames) -> tuple[int, int]:
    """Repeat a step until it finds nothing; return the number of tuples, and of rounds."""
    known = delta = first.distinct().localCheckpoint()
    total, rounds = delta.count(), 1
    while True:
        new = step(delta, known, facts).distinct().join(known, known.columns, "left_anti").localCheckpoint()
        found = new.count()
        rounds += 1
        if not found:
            read(known)
            return total, rounds
        total += found
        known = known.union(new)
        delta = new


def propagate(facts: Frames) -> tuple[int, int]:
    """Give every node the least label of its neighbours until none changes; return the number of nodes, and rounds."""
    edge = facts["Edge"]
    link = edge.union(edge.select(f.col("b").alias("a"), f.col("a").alias("b"))).distinct().localCheckpoint()
    labels = link.select("a", f.col("a").alias("least")).distinct().localCheckpoint()
    rounds = 1
    while True:
        near = link.join(labels.withColumnRenamed("a", "b"), "b").select("a", "least").union(labels)
        new = near.groupBy("a").agg(f.min("least").alias("least")).localCheckpoint()
        rounds += 1
        changed = new.join(labels.withColumnRenamed("least", "before"), "a").where("least < before").count()
        labels = new
        if not changed:
            read(labels)
            return labels.count(), rounds


def stars(facts: Frames) -> tuple[int, int]:
    """Give every node the least of its component by large-star and small-star; return the number of nodes, and rounds.

    Kiveris et al., Connected components in MapReduce and beyond; what GraphFrames does, with Spark's own settings.
    """
    edge = facts["Edge"]
    least, most = f.least("a", "b"), f.greatest("a", "b")
    links = edge.where("a != b").select(most.alias("a"), least.alias("b")).distinct().localCheckpoint()
    rounds, seen = 1, None
    while True:
        both = links.union(links.select(f.col("b").alias("a"), f.col("a").alias("b")))
        near = both.groupBy("a").agg(f.least(f.min("b"), f.col("a")).alias("least"))
        large = both.join(near, "a").where("b > a").select(f.col("b").alias("a"), f.col("least").alias("b"))
        large = large.where("a != b").distinct().localCheckpoint()
        near = large.groupBy("a").agg(f.min("b").alias("least"))
        small = large.join(near, "a").select(f.col("b").alias("a"), f.col("least").alias("b"))
        small = small.union(near.select("a", f.col("least").alias("b")))
        links = small.where("a != b").distinct().localCheckpoint()
        (told,) = links.agg(f.count(f.lit(1)), f.sum(f.col("a") + f.col("b"))).collect()
        rounds += 1
        if told == seen:
            break
        seen = told
    nodes = edge.select("a").union(edge.select("b")).distinct()
    labels = nodes.join(links, "a", "left").select("a", f.coalesce("b", "a").alias("least")).localCheckpoint()
    read(labels)
    return labels.count(), rounds


def run_textbook(program: str, facts: Frames) -> dict[str, Any]:
    """Evaluate a program as a textbook would."""
    match program:
        case "sg":
            edge = facts["Edge"]
            other = edge.withColumnRenamed("b", "c")
            base = edge.join(other, "a").where("b != c").select(f.col("b").alias("a"), f.col("c").alias("b"))
            name, (size, rounds) = "Same", textbook(base, same, facts)
        case "rdfs":
            name, (size, rounds) = "T", textbook(facts["Triple"], entail, facts)
        case "same":
            name, (size, rounds) = "Component", stars(facts)
        case "cc":
            name, (size, rounds) = "Component", propagate(facts)
        case _:
            name, (size, rounds) = "Path", textbook(facts["Edge"], close, facts)
    return {"sizes": {name: size}, "rounds": rounds}


# --- the other lanes --------------------------------------------------------------------------------------------------


def run_cte(spark: SparkSession, facts: Frames) -> dict[str, Any]:
    """Evaluate a closure by Spark's recursive common table expression, which knows no sets: it may never end."""
    facts["Edge"].createOrReplaceTempView("edge")
    spark.conf.set("spark.sql.cteRecursionLevelLimit", "-1")
    spark.conf.set("spark.sql.cteRecursionRowLimit", "-1")
    found = spark.sql(
        "WITH RECURSIVE path(a, b) AS (SELECT a, b FROM edge UNION ALL SELECT path.a, edge.b FROM path JOIN edge ON "
        "path.b = edge.a) SELECT COUNT(*) FROM (SELECT DISTINCT a, b FROM path)"
    )
    return {"sizes": {"Path": found.collect()[0][0]}}


def run_in_process(plan: Plan, facts: dict[str, Rows]) -> dict[str, Any]:
    """Evaluate a program without Spark."""
    found = evaluate(plan, facts, THREADS, tracked=False)
    return {"sizes": found["sizes"], "rounds": found["rounds"]}


def run_engine(spark: SparkSession, way: str, plan: Plan, facts: Frames) -> dict[str, Any]:
    """Evaluate a program by Tidelog's engine."""
    engine = SparkEngine(plan, spark=spark, strategy="recompute", **ENGINE[way])  # type: ignore[arg-type]
    given = {name: engine.take_frame(name, frame) for name, frame in facts.items()}
    update = engine.update({name: Delta(rows) for name, rows in given.items() if rows is not None})
    outputs = [name for name, found in plan.relations.items() if found.role == "output"]
    for name in outputs:
        read(engine.frame(name))
    return {
        "sizes": {name: engine.count(name) for name in outputs},
        "rounds": sum(work.rounds for work in update.work),
        "strategies": sorted({work.strategy for work in update.work}),
    }


class Racer:
    """Evaluates programs in the way of a lane."""

    def __init__(self, lane: str) -> None:
        self._lane = lane
        self._spark = start(lane) if lane != "columnar" else None

    def race(self, program: Path, folder: Path, limit: float) -> Iterator[dict[str, Any]]:
        """Evaluate a program; yield the first result, then the best of the repeats that there is time for."""
        end = time.monotonic() + limit
        plan = planned(program)
        wall = time.perf_counter()
        facts = dict(read_facts(folder, plan.relations, Plain(plan.types)).rows)
        load = time.perf_counter() - wall
        evaluate = self._prepared(plan, program, facts)
        account = opened_account(self._spark) if self._spark is not None else lambda: None
        found, first = _timed(evaluate)
        read = account()
        told = {} if read is None else {"jobs": read.jobs, "records": read.records, "spilled": read.spilled}
        yield {**found, **told, "load": load, "first": first}
        warm: list[float] = []
        while len(warm) < REPEATS and time.monotonic() + 1.5 * (warm or [first])[-1] < end:
            warm.append(_timed(evaluate)[1])
            yield {"warm": min(warm)}

    def _prepared(self, plan: Plan, program: Path, facts: dict[str, Rows]) -> Callable[[], dict[str, Any]]:
        """Return what is to be timed."""
        spark = self._spark
        if spark is None:
            return lambda: run_in_process(plan, facts)
        frames: Frames = {}
        for name, rows in facts.items():
            names = [column.name for column in plan.relations[name].columns]
            frame = spark.createDataFrame([tuple(row) for row in rows], ", ".join(f"{n} long" for n in names))
            frames[name] = frame.localCheckpoint()
        if self._lane in ENGINE:
            return lambda: run_engine(spark, self._lane, plan, frames)
        if self._lane == "cte":
            return lambda: run_cte(spark, frames)
        return lambda: run_textbook(program.stem, frames)


def _timed(evaluate: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], float]:
    gc.collect()  # what earlier evaluations held is given up now, not in the middle of this one
    wall = time.perf_counter()
    found = evaluate()
    return found, time.perf_counter() - wall


def _say(told: dict[str, Any]) -> None:
    print(json.dumps(told), flush=True)


def main() -> None:
    wall = time.perf_counter()
    racer = Racer(sys.argv[1])
    tiny = WORKLOADS["tiny-chain"]  # without a cycle, in which a common table expression would not end
    program = tiny.text(".dl")
    assert program is not None
    with tempfile.TemporaryDirectory() as folder:
        tiny.make(Path(folder), Path(folder))
        for _ in racer.race(program, Path(folder), 0.0):
            pass
    _say({"start": time.perf_counter() - wall})
    for line in sys.stdin:
        path, folder, limit = json.loads(line)
        try:
            for told in racer.race(Path(path), Path(folder), limit):
                _say(told)
        except Exception as error:  # noqa: BLE001  (the race goes on)
            _say({"errors": f"{type(error).__name__}: {error}"[:1500]})
        _say({"done": True})


if __name__ == "__main__":
    main()
