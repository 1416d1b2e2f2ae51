"""What Spark says in pages of Java, in a sentence: what is not as it should be on the cluster, and what to do.

Failures of rules, and rows lost with an executor, are others' (`frames.worker`, `frames.recovery`).
"""

from __future__ import annotations

import re
import socket
import sys
from typing import Any

import pyspark

from tidelog.base.errors import UserError

_HERE = "set spark.pyspark.python (or PYSPARK_PYTHON) to one that has the same Tidelog installed as the driver's"
_SAID = (
    (
        r"No module named '(tidelog|numba|pyarrow|numpy)[\w.]*'",
        "Spark's workers run a Python without {}: " + _HERE,
    ),
    (
        r"\[PYTHON_VERSION_MISMATCH\]",
        (
            "Spark's workers run another Python than the driver's "
            f"{sys.version_info.major}.{sys.version_info.minor}: set spark.pyspark.python (or PYSPARK_PYTHON)"
        ),
    ),
    (
        r'Cannot run program "([^"]+)"',
        "Spark's workers have no program {}: set spark.pyspark.python (or PYSPARK_PYTHON) to their Python",
    ),
    (
        r"InvalidClassException: ([\w.$]+); local class incompatible",
        (
            f"the cluster runs another version of Spark than this PySpark, {pyspark.__version__} ({{}} differs): "
            "install the cluster's version of pyspark"
        ),
    ),
    (
        r'No FileSystem for scheme "?(\w+)"?',
        "Spark cannot open addresses that begin with {}: add the connector's package by spark.jars.packages",
    ),
    (
        r"(?:ClassNotFoundException|NoClassDefFoundError): ([\w./$]+)",
        "Spark has no class {}: add the jar that has it, by spark.jars or spark.jars.packages",
    ),
)
_PATIENCE = 5.0
"""Seconds until a master that does not answer is not there; Spark itself tries for a minute."""


def explained(error: BaseException) -> UserError | None:
    """Return what a failure of Spark means for its user, if it is one of those that a setting cures."""
    text = str(error)
    for pattern, sentence in _SAID:
        found = re.search(pattern, text)
        if found is not None:
            return UserError(sentence.format(*found.groups()))
    return None


def check_session(session: Any) -> None:
    """Refuse a session that the engine cannot work in."""
    if type(session).__module__.startswith("pyspark.sql.connect"):
        raise UserError(
            "the engine on Spark needs a session with a driver of its own, and this one is Spark Connect's:"
            " run the program by spark-submit, or give `spark=` a session made with `master(...)`"
        )
    if str(session.version).split(".")[:2] != pyspark.__version__.split(".")[:2]:
        raise UserError(
            f"PySpark {pyspark.__version__} has started Spark {session.version} (SPARK_HOME leads to another):"
            " install the same version of both"
        )


def check_master(master: str) -> None:
    """Refuse the address of a standalone cluster if nobody answers there."""
    addresses = re.findall(r"([^/:,]+):(\d+)", master.removeprefix("spark://")) if master.startswith("spark://") else []
    for host, port in addresses:
        try:
            socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
        except OSError:
            continue
        return
    if addresses:
        raise UserError(f"nobody answers at {master}, which is to be the master of a Spark cluster: is it running?")
