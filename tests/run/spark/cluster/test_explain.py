"""What is wrong with a cluster is one sentence."""

from __future__ import annotations

import socket

import pyspark
import pytest

from tests.generate.pipeline import plan_text
from tidelog import UserError
from tidelog.base.errors import EvaluationError
from tidelog.run.spark.cluster.explain import check_master, check_session, explained
from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.frames.checkpoint import told

SAID = {
    "Job aborted: PythonException: Traceback\nModuleNotFoundError: No module named 'tidelog.run'": (
        "workers run a Python without tidelog: set spark.pyspark.python"
    ),
    "[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in driver: 3.11": (
        "another Python than the driver's"
    ),
    'java.io.IOException: Cannot run program "/opt/python": error=2': "no program /opt/python",
    "java.io.InvalidClassException: org.apache.spark.rdd.RDD; local class incompatible: stream classdesc": (
        f"another version of Spark than this PySpark, {pyspark.__version__}"
    ),
    'UnsupportedFileSystemException: No FileSystem for scheme "gs"': "begin with gs: add",
    "java.lang.ClassNotFoundException: org.apache.hadoop.fs.s3a.S3AFileSystem": "add the jar that has it",
}


@pytest.mark.parametrize("said", SAID)
def test_a_sentence_says_what_to_set(said: str) -> None:
    found = told(RuntimeError(said))
    assert isinstance(found, UserError)
    assert SAID[said] in str(found)
    assert "\n" not in str(found)


def test_other_failures_are_left_as_they_are() -> None:
    assert explained(RuntimeError("Checkpoint block rdd_21_0 not found!")) is None
    assert isinstance(told(RuntimeError("[[tidelog: No module named 'numpy' :tidelog]]")), EvaluationError)


def test_a_master_that_nobody_is() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"spark://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(UserError, match=f"nobody answers at {address}"):
        check_master(address)
    with socket.create_server(("127.0.0.1", 0)) as server:
        check_master(f"{address},127.0.0.1:{server.getsockname()[1]}")
    check_master("local[2]")


def test_a_session_of_spark_connect() -> None:
    session = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    with pytest.raises(UserError, match="Spark Connect's"):
        check_session(session)
    with pytest.raises(UserError, match="Spark Connect's"):
        SparkEngine(plan_text("input relation A(x: u8)\n"), spark=session)


def test_another_version_than_pyspark() -> None:
    session = type("SparkSession", (), {"version": "3.5.1"})()
    with pytest.raises(UserError, match=r"has started Spark 3\.5\.1"):
        check_session(session)
