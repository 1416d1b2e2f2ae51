"""What to do when an executor is lost: start again from the last commit.

Spark itself repeats tasks and stages, and finds rows at their second keeper. What it cannot do is find rows that both
keepers have lost, or go on where too much is lost at once: those failures are recognised here, by what Spark says of
them. What a program did wrong is never tried again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from pyspark.sql import SparkSession

from tidelog.base.errors import TidelogError
from tidelog.run.limits import tell

ATTEMPTS = 4
_LOST = re.compile(
    r"Checkpoint block \S+ not found"
    r"|ExecutorLostFailure"
    r"|FetchFailed"
    r"|MetadataFetchFailed"
    r"|Failed to get broadcast_"
    r"|BlockNotFoundException|BlockFetchException|BlockSavedOnDecommissionedBlockManagerException"
    r"|shuffle map stage with indeterminate output was failed and retried"
)
_PYTHON = "org.apache.spark.api.python.PythonException"

T = TypeVar("T")


class LostRowsError(Exception):
    """Rows were lost with an executor, and what was counted of them on the way is not to be trusted."""


def attempted(work: Callable[[], T], doubt: Callable[[], None]) -> T:
    """Do some work, again if rows were lost on the way; `doubt` is called before, since others may be lost, too."""
    for _ in range(ATTEMPTS - 1):
        try:
            return work()
        except Exception as error:
            if not is_loss(error):
                raise
            doubt()
            tell("rows were lost with an executor: starting again from the last commit")
    return work()


def is_loss(error: BaseException) -> bool:
    """Tell whether a failure of Spark is that rows are gone, and no fault of the program or its functions."""
    if isinstance(error, TidelogError):
        return False
    if isinstance(error, LostRowsError):
        return True
    text = str(error)
    return _LOST.search(text) is not None and _PYTHON not in text


def keepers(spark: SparkSession) -> frozenset[str]:
    """Return the names of all that hold rows now; who comes again after it was gone has another name."""
    found = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().keySet().mkString(" ")  # noqa: SLF001
    return frozenset(str(found).split())
