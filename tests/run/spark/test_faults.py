"""Faults: whatever fails, the answers are the oracle's, and every batch counts once. Each has processes of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.run.spark.conftest import Outcomes

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

PROGRAM = """
input relation E(a: u32, b: u32)
output relation T(a: u32, b: u32)
T(x, y) :- E(x, y).
T(x, z) :- T(x, y), E(y, z).
"""
CONFIG = """
program = "closure.dl"
state = "state"
[engine]
driver_rows = ROWS
partitions = 2
[engine.spark]
"spark.master" = "MASTER"
"spark.driver.memory" = "1g"
"spark.driver.extraJavaOptions" = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"spark.executor.extraJavaOptions" = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"spark.sql.codegen.wholeStage" = false
"spark.sql.shuffle.partitions" = 2
[[source]]
relation = "E"
format = "csv"
path = "edges.csv"
[[sink]]
relation = "T"
format = "parquet"
path = "changes"
mode = "changes"
"""


def play(name: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", f"tests.run.spark.faults.{name}", str(folder), *arguments]
    root = Path(__file__).parents[3]
    path = os.pathsep.join([str(root), str(root / "src")])
    environment = {**os.environ, "PYTHONPATH": path, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(folder)}
    return subprocess.run(command, capture_output=True, text=True, timeout=590, check=False, env=environment, cwd=root)


def failing_tasks_exiting_workers_and_little_memory(folder: Path) -> None:
    done = play("tasks", folder)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.splitlines() == [
        "right after a task raises",
        "right after a task exits",
        "right with state on disk",
    ]


def killed_executors(folder: Path) -> None:
    done = play("executor", folder)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.count("killed executor") == 6
    assert done.stdout.count("right after") == 8
    assert "starting again from the last commit" in done.stdout, "whatever was killed, nothing was lost"


def killed_drivers_and_a_batch_delivered_twice(folder: Path) -> None:
    killed_drivers(folder, "local[2,4]", 100)


def the_same_on_a_cluster(folder: Path) -> None:
    killed_drivers(folder, "local-cluster[2,1,1024]", 0)


def killed_drivers(folder: Path, master: str, rows: int) -> None:
    (folder / "closure.dl").write_text(PROGRAM)
    (folder / "pipeline.toml").write_text(CONFIG.replace("MASTER", master).replace("ROWS", str(rows)))
    (folder / "edges.csv").write_text("a,b\n1,2\n2,3\n")
    (folder / "inbox").mkdir()
    (folder / "inbox" / "E.1.csv").write_text("op,a,b\ninsert,3,4\ndelete,1,2\n")
    assert play("driver", folder, "before").returncode == -signal.SIGKILL
    assert play("driver", folder, "after").returncode == -signal.SIGKILL
    done = play("driver", folder, "nothing")
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == "version 2 batch known\n"
    told = pq.read_table(folder / "changes").to_pylist()
    changes = sorted((row["version"], row["weight"], row["a"], row["b"]) for row in told)
    first = [(1, 1, 1, 2), (1, 1, 1, 3), (1, 1, 2, 3)]
    assert changes == [*first, (2, -1, 1, 2), (2, -1, 1, 3), (2, 1, 2, 4), (2, 1, 3, 4)]


FAULTS = (
    killed_executors,
    the_same_on_a_cluster,
    failing_tasks_exiting_workers_and_little_memory,
    killed_drivers_and_a_batch_delivered_twice,
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_right_after(fault: Callable[[Path], None], faults: Outcomes) -> None:
    faults[fault].result()
