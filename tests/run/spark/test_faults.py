"""Faults: whatever fails, the answers are the oracle's, and every batch counts once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

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


def test_failing_tasks_and_exiting_workers(tmp_path: Path) -> None:
    done = play("tasks", tmp_path)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.split("\n")[:2] == ["right after a task raises", "right after a task exits"]


def test_killed_executors(tmp_path: Path) -> None:
    done = play("executor", tmp_path)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.count("killed executor") == 4
    assert done.stdout.count("right after") == 6
    assert "starting again from the last commit" in done.stdout, "whatever was killed, nothing was lost"


@pytest.mark.parametrize(("master", "rows"), [("local[2,4]", 100), ("local-cluster[2,1,1024]", 0)])
def test_killed_drivers_and_a_batch_delivered_twice(tmp_path: Path, master: str, rows: int) -> None:
    (tmp_path / "closure.dl").write_text(PROGRAM)
    (tmp_path / "pipeline.toml").write_text(CONFIG.replace("MASTER", master).replace("ROWS", str(rows)))
    (tmp_path / "edges.csv").write_text("a,b\n1,2\n2,3\n")
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "E.1.csv").write_text("op,a,b\ninsert,3,4\ndelete,1,2\n")
    assert play("driver", tmp_path, "before").returncode == -signal.SIGKILL
    assert play("driver", tmp_path, "after").returncode == -signal.SIGKILL
    done = play("driver", tmp_path, "nothing")
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout == "version 2 batch known\n"
    told = pq.read_table(tmp_path / "changes").to_pylist()
    changes = sorted((row["version"], row["weight"], row["a"], row["b"]) for row in told)
    first = [(1, 1, 1, 2), (1, 1, 1, 3), (1, 1, 2, 3)]
    assert changes == [*first, (2, -1, 1, 2), (2, -1, 1, 3), (2, 1, 2, 4), (2, 1, 3, 4)]
