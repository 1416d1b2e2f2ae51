"""What fits where, by bytes: sizes go in and ways come out, nearly all without a session."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pyspark.sql import SparkSession

from tests.generate.pipeline import plan_text
from tidelog import UserError
from tidelog.base.tuning.spark import Spark
from tidelog.base.tuning.table import Tuning
from tidelog.run.contract.engine import Delta
from tidelog.run.spark.choose_way import are_grouped, most_alone
from tidelog.run.spark.cluster.memory import BASE, LEAST, MEBIBYTE, in_bytes, machine_memory, share
from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.fit import Capacity, Shape, Size, fits, partitions_for, whole
from tidelog.run.spark.frames.recovery import ATTEMPTS, attempted, is_killed, is_loss, is_shortage

GIGABYTE = 1 << 30
SHARES = {
    "what Python may take": ("yarn", {"spark.executor.pyspark.memory": "2g"}, 4, GIGABYTE // 2 - BASE),
    "the overhead of a container": ("k8s://a", {"spark.executor.memory": "20g"}, 2, GIGABYTE - BASE),
    "an overhead that is given": ("yarn", {"spark.executor.memoryOverhead": "1024"}, 1, GIGABYTE - BASE),
    "nobody looks": ("spark://a:1", {"spark.executor.memory": "4g"}, 2, GIGABYTE - BASE),
    "too little": ("local-cluster[2,1,1024]", {"spark.executor.pyspark.memory": "64m"}, 1, LEAST),
    "this machine": ("local[2]", {"spark.driver.memory": "1g"}, 2, GIGABYTE - BASE),
}


@pytest.mark.parametrize("case", SHARES)
def test_the_share_of_a_worker(case: str) -> None:
    master, settings, cores, expected = SHARES[case]
    assert share(master, settings.get, cores, 5 * GIGABYTE).bytes == expected
    assert machine_memory() > GIGABYTE


def test_sizes_in_settings() -> None:
    assert [in_bytes(text) for text in ("3", "2k", "1GB")] == [3, 2048, GIGABYTE]
    with pytest.raises(ValueError, match="expected a size such as 512m or 1g, found 'much'"):
        in_bytes("much")


def capacity(megabytes: int, partitions: int = 4, lost: int = 0) -> Capacity:
    return Capacity(megabytes * MEBIBYTE, "a setting", partitions, lost)


def rows(count: int, width: int = 16) -> Size:
    return Size(count, count * width)


def test_one_partition_is_by_bytes() -> None:
    edges = rows(1_000_000)
    assert whole(edges, Size(), capacity(40), Spark()) is not None
    assert whole(edges, Size(), capacity(20), Spark()) is None
    assert whole(rows(300_000, 1_500), Size(), capacity(200), Spark()) is None
    assert whole(edges, Size(), capacity(200, lost=1), Spark()) is None
    found = whole(rows(300_000, 1_500), Size(), capacity(2_000), Spark())
    assert found is not None
    assert found.reason == "they read 300,000 rows, 429 MB"
    assert found.room[1] < 1_400_000, "what it derives has to fit, too"


def test_more_partitions_each_time() -> None:
    shape = Shape(rows(350_000), rows(350_000), Size(), 16.0, by_key="a")
    found = list(fits(shape, capacity(100), 0, Spark()))
    assert [(fit.how, fit.partitions) for fit in found] == [
        ("by key", 4),
        ("by key", 32),
        ("by key", 256),
        ("rounds", 4),
    ]
    assert all(fit.room[1] * 16 < 100 * MEBIBYTE for fit in found[:-1])
    known = Shape(rows(350_000), rows(350_000), rows(80_000_000), 16.0, by_key="a")
    assert next(fits(known, capacity(100), 0, Spark())).partitions == 25
    assert [fit.how for fit in fits(shape, capacity(10), 0, Spark())] == ["rounds"], "all would get more than half"


def test_the_driver_is_for_few_bytes() -> None:
    wide, narrow = Shape(rows(90_000, 1_500), Size(), Size(), 8.0), Shape(rows(90_000), Size(), Size(), 8.0)
    assert [fit.how for fit in fits(wide, capacity(100), 100_000, Spark())] == ["rounds"]
    assert [fit.how for fit in fits(narrow, capacity(100), 100_000, Spark())] == ["driver", "rounds"]


def test_exchanging() -> None:
    shape = Shape(rows(10_000_000), rows(10), Size(), 24.0, exchanging=True)
    found = next(fits(shape, capacity(100), 0, Spark()))
    assert (found.how, found.partitions) == ("exchanging", 4)
    assert found.reason == "10 rows are sent to all"


def test_partitions_follow_data() -> None:
    assert partitions_for(0, Spark()) == 0
    assert partitions_for(1_280_000_000, Spark()) == 39
    assert partitions_for(1 << 60, Spark()) == Spark().most_partitions


# --- memory that was short --------------------------------------------------------------------------------------------

OUT = "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: Command exited with code 52"
KILLED = OUT.replace("52", "137")
LOST = "Checkpoint block rdd_4_1 not found! Either the executor that originally checkpointed this is no longer alive"


def test_how_a_failure_is_told() -> None:
    for text in (OUT, "java.lang.OutOfMemoryError: Java heap space", "ArrayMemoryError: MemoryError", "OOMKilled"):
        assert is_shortage(RuntimeError(text)), text
    assert is_killed(RuntimeError(KILLED))
    assert not is_shortage(RuntimeError(KILLED))
    assert is_loss(RuntimeError(LOST))
    assert not is_shortage(RuntimeError(LOST))
    assert is_shortage(RuntimeError(LOST), "Command exited with code 52\n")
    assert not is_shortage(RuntimeError("division by zero"), "Command exited with code 52\n")
    assert not is_shortage(UserError("java.lang.OutOfMemoryError"))


def failing(*texts: str) -> Callable[[], str]:
    left = list(texts)

    def work() -> str:
        if left:
            raise RuntimeError(left.pop(0))
        return "done"

    return work


def test_the_next_attempt_is_another() -> None:
    done: list[str] = []

    def relieve() -> str:
        done.append("relieved")
        return "more partitions"

    def doubt() -> None:
        done.append("doubted")

    assert attempted(failing(OUT, LOST), doubt, relieve) == "done"
    assert done == ["doubted", "relieved", "doubted"]
    done.clear()
    assert attempted(failing(KILLED, KILLED), doubt, relieve) == "done"
    assert done == ["doubted", "doubted", "relieved"]
    done.clear()
    reasons = ["", "Command exited with code 52\n"]
    assert attempted(failing(LOST), doubt, relieve, lambda: reasons.pop(0)) == "done"
    assert done == ["doubted", "relieved"]


def test_in_the_end_it_is_one_sentence() -> None:
    with pytest.raises(UserError, match=r"ran out of memory 4 times \(exited with code 52\).*spark.executor.memory"):
        attempted(failing(*[OUT] * ATTEMPTS), lambda: None, lambda: "more")
    with pytest.raises(RuntimeError, match="Checkpoint block"):
        attempted(failing(*[LOST] * ATTEMPTS), lambda: None, lambda: "more")
    with pytest.raises(RuntimeError, match="by zero"):
        attempted(failing("by zero"), lambda: None, lambda: "more")


REACH = """
input relation E(a: u32, b: u32)
input relation Start(a: u32)
output relation R(a: u32, b: u32)
R(x, x) :- Start(x).
R(x, z) :- R(x, y), E(y, z).
"""
GROUPED = """
input relation E(a: u32, b: u32)
relation C(a: u32, b: u32)
output relation Least(a: u32, b: u32)
C(a, b) :- E(a, b).
C(b, a) :- C(a, b).
C(a, c) :- C(a, b), C(b, c).
Least(a, l) :- C(a, b), var l = b.group_by(a).min().
"""


def test_what_the_driver_holds_alone() -> None:
    """Three million edges and what five sources reach; fewer rows of long texts, and no pairs of an equivalence."""
    plan = plan_text(REACH)
    assert most_alone(plan, rows(3_000_000, 16), Spark()) > 7_000_000
    assert most_alone(plan, rows(1_000, 1_500), Spark()) < 100_000
    assert most_alone(plan, Size(), Spark(alone_rows=20)) == 20
    assert (are_grouped(plan), are_grouped(plan_text(GROUPED))) == (False, True)


@pytest.mark.spark
def test_what_outgrows_the_driver_by_its_texts(spark: SparkSession) -> None:
    text = "input relation A(x: string)\noutput relation B(x: string)\nB(x) :- A(x).\n"
    engine = SparkEngine(plan_text(text), spark=spark, tuning=Tuning(spark=Spark(alone_bytes=4_000)), partitions=2)
    done = engine.update({"A": Delta([("few",), ("short",)])})
    assert {work.reason for work in done.work} == {"small: on the driver"}
    done = engine.update({"A": Delta([(f"{number:0200}",) for number in range(20)])})
    assert {work.reason for work in done.work} != {"small: on the driver"}
    assert len(done.changes["B"].inserted) == 20
