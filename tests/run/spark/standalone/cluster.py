"""A standalone cluster on loopback: a master and two workers of one core each, as `docs/cluster.md` starts them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

from tidelog.run.spark.cluster.java import provide_java

BIN = Path(pyspark.__file__).parent / "bin"
MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
HOST = "127.0.0.1"
SETTINGS = {
    "spark.pyspark.python": sys.executable,
    "spark.locality.wait": "0",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.python.daemon.module": "tidelog.run.spark.cluster.daemon",
}
"""Those of `docs/cluster.md`, all but where checkpoints are."""


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """Start a cluster whose processes work and log in a folder; give its address."""
    with socket.socket() as found:
        found.bind((HOST, 0))
        port = str(found.getsockname()[1])
    address = f"spark://{HOST}:{port}"
    with ExitStack() as running:
        log = running.enter_context((folder / "cluster.log").open("w"))
        commands = [[MASTER, "--host", HOST, "--port", port, "--webui-port", "0"]]
        for number in range(2):
            work = ["--cores", "1", "--memory", "1g", "--webui-port", "0", "--work-dir", str(folder / f"work{number}")]
            commands.append([WORKER, "--host", HOST, *work, address])
        for command in commands:
            process = subprocess.Popen(
                [str(BIN / "spark-class"), *command], stdout=log, stderr=log, env=environment(folder)
            )
            running.callback(process.wait)
            running.callback(process.terminate)
        _wait(folder / "cluster.log", "Registering worker", 2)
        yield address


def submit(address: str, folder: Path, script: Path, *arguments: str, **settings: str) -> str:
    """Submit a program; return what it wrote, or raise an error with what went wrong."""
    every: Mapping[str, str] = {
        **SETTINGS,
        "spark.checkpoint.dir": (folder / "checkpoints").as_uri(),
        **settings,
    }
    options = [part for name, value in every.items() for part in ("--conf", f"{name}={value}")]
    command = [str(BIN / "spark-submit"), "--master", address, *options, str(script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(folder), timeout=1800, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def environment(folder: Path) -> dict[str, str]:
    """Return what every process of the cluster is to know: this Python, this source, and where to leave its files."""
    provide_java()
    root = Path(__file__).parents[4]
    path = os.pathsep.join([str(root / "src"), str(root)])
    return {
        **os.environ,
        "PYTHONPATH": path,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": HOST,
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_NO_DAEMONIZE": "1",
    }


def _wait(log: Path, words: str, times: int) -> None:
    end = time.monotonic() + 120
    while log.read_text().count(words) < times:
        assert time.monotonic() < end, f"the cluster does not start:\n{log.read_text()[-4000:]}"
        time.sleep(0.2)
