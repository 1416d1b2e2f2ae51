"""What to do when an executor is lost: start again from the last commit, in another way if its memory was short.

Spark itself repeats tasks and stages, and finds rows at their second keeper. What it cannot do is find rows that both
keepers have lost, or go on where too much is lost at once: those failures are recognised here, by what Spark says of
them. What a program did wrong is never tried again.

An executor that runs out of memory does so again if it is given the same. Java ends with code 52 then, the system kills
with signal 9 (code 137), containers are killed for what they exceed, and a Python worker just ends; what fails later
says only that rows are gone. So after a loss Spark is asked why executors went, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from pyspark.sql import SparkSession

from tidelog.base.errors import TidelogError, UserError
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
_CODE = r"(?:exited with code|[Ee]xit (?:code|status):?) "
_MEMORY = re.compile(
    _CODE + r"52\b"
    r"|OutOfMemoryError|Java heap space|GC overhead limit exceeded|Unable to acquire \d+ bytes"
    r"|OOMKilled|Container killed by YARN for exceeding|running beyond (?:physical|virtual) memory"
    r"|\bMemoryError\b|ArrowMemoryError"
)
_KILLED = re.compile(_CODE + r"137\b|Python worker exited unexpectedly")
"""What ends so was killed: by the system for its memory, or by somebody. A second time it is for its memory."""
_PYTHON = "org.apache.spark.api.python.PythonException"

T = TypeVar("T")


class LostRowsError(Exception):
    """Rows were lost with an executor, and what was counted of them on the way is not to be trusted."""


def attempted(
    work: Callable[[], T],
    doubt: Callable[[], None],
    relieve: Callable[[], str] | None = None,
    gone: Callable[[], str] = str,
) -> T:
    """Do some work, again if rows were lost on the way; `doubt` is called before, since others may be lost, too.

    If memory was short, by the failure or by why executors are `gone`, `relieve` lets the next attempt be another, and
    says which. Without it nothing can be done about memory.
    """
    before, killed = gone(), False
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return work()
        except Exception as error:
            why = gone()
            new = why.removeprefix(before)
            again, killed = killed, is_killed(error, new)
            short = relieve is not None and (is_shortage(error, new) or (killed and again))
            if not (short or killed or is_loss(error)):
                raise
            if attempt == ATTEMPTS:
                raise UserError(_told_shortage(f"{error} {new}")) if short else error from None
            doubt()
            how = f", with {relieve()}" if short and relieve is not None else ""
            lost = "executors ran out of memory" if short else "rows were lost with an executor"
            tell(f"{lost}: starting again from the last commit{how}")
            before = why
    raise AssertionError("the last attempt raises")


def _told_shortage(text: str) -> str:
    found = _MEMORY.search(text) or _KILLED.search(text)
    return (
        f"executors ran out of memory {ATTEMPTS} times ({found[0] if found else 'they are gone'}), each time with more"
        " partitions: give them more (spark.executor.memory; for Python spark.executor.memoryOverhead or"
        " spark.executor.pyspark.memory), or fewer tasks at a time (spark.executor.cores)"
    )


def is_loss(error: BaseException) -> bool:
    """Tell whether a failure of Spark is that rows are gone, and no fault of the program or its functions."""
    if isinstance(error, TidelogError):
        return False
    if isinstance(error, LostRowsError):
        return True
    text = str(error)
    return _LOST.search(text) is not None and _PYTHON not in text


def is_shortage(error: BaseException, gone: str = "") -> bool:
    """Tell whether a failure of Spark is that memory was short, by what it says or why executors are gone."""
    if isinstance(error, TidelogError):
        return False
    return _MEMORY.search(str(error)) is not None or (is_loss(error) and _MEMORY.search(gone) is not None)


def is_killed(error: BaseException, gone: str = "") -> bool:
    """Tell whether executors or Python workers were killed, perhaps for the memory they took."""
    if isinstance(error, TidelogError):
        return False
    return _KILLED.search(str(error)) is not None or (is_loss(error) and _KILLED.search(gone) is not None)


def keepers(spark: SparkSession) -> frozenset[str]:
    """Return the names of all that hold rows now; who comes again after it was gone has another name."""
    found = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().keySet().mkString(" ")  # noqa: SLF001
    return frozenset(str(found).split())
