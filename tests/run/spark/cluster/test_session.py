"""Which session the engine works in: the running one, the master that is configured, or a local one.

Each runs in a process of its own, since a process has one session.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from tidelog.run.spark.cluster.java import provide_java
from tidelog.run.spark.cluster.session import _submitted_master

SUBMITTED = """
from tidelog.run.spark.cluster.session import start_session, stop_session
spark = start_session()
print("master", spark.sparkContext.master, spark.conf.get("spark.ui.enabled"))
stop_session(spark)
print("stopped", spark.sparkContext._jsc is None)
"""
MINE = """
from concurrent.futures import ThreadPoolExecutor
from pyspark.sql import SparkSession
from tidelog import Database
from tidelog.run.spark.cluster.session import start_session, stop_session
mine = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").appName("mine").getOrCreate()
with ThreadPoolExecutor(1) as other:
    spark = other.submit(start_session).result()
print("app", spark.sparkContext.appName, spark.conf.get("spark.locality.wait", "unset"))
stop_session(spark)
mine.conf.set("spark.tidelog.driverRows", "0")
with Database("input relation A(x: u8) output relation B(x: u8) B(x % 7) :- A(x).", engine="spark").transaction() as tx:
    tx.insert("A", [(8,), (2,)])
print("answers", list(tx.result.changes["B"]), tx.result.profile[0].strategy)
print("here", mine.range(3).count())
"""


def played(*command: str, **variables: str) -> str:
    provide_java()
    here = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
    environment = {**here, "PYTHONPATH": str(Path(__file__).parents[4] / "src"), "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=400, check=False, env=environment | variables
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_submitted_program_has_the_master_it_was_submitted_to(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(SUBMITTED)
    submit = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
    options = ("--master", "local[3]", "--conf", "spark.ui.enabled=true", "--conf", "spark.ui.port=0")
    found = played(submit, *options, str(tmp_path / "job.py"), PYSPARK_PYTHON=sys.executable)
    assert found.splitlines() == ["master local[3] true", "stopped True"]


@pytest.mark.spark
@pytest.mark.timeout(600)
def test_a_session_of_the_users_own(tmp_path: Path) -> None:
    """It is found from another thread, is not stopped, and its workers are of this interpreter; none is `python3`."""
    (tmp_path / "python3").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "python3").chmod(0o755)
    path = os.pathsep.join((str(tmp_path), os.environ["PATH"]))
    lines = played(sys.executable, "-c", MINE, PATH=path).splitlines()
    assert lines[0] == "app mine unset"
    assert lines[1].startswith("answers")
    assert lines[2] == "here 3"


@pytest.mark.parametrize(
    ("arguments", "submitted", "cores", "master"),
    [
        ("--master spark://a:1 pyspark-shell", {}, "*", "spark://a:1"),
        ("--conf spark.master=yarn pyspark-shell", {}, 3, "yarn"),
        ("", {"spark.master": "k8s://x"}, 3, "k8s://x"),
        ("", {"spark.master": "local[*]"}, 3, "local[3]"),
        ("", {}, 3, "local[3]"),
        ("", {}, "*", None),
    ],
)
def test_whose_master_it_is(
    monkeypatch: pytest.MonkeyPatch, arguments: str, submitted: dict[str, str], cores: int | str, master: str | None
) -> None:
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", arguments)
    assert _submitted_master(submitted, cores) == master
