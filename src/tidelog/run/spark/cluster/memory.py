"""What one Python worker may take of an executor's memory, from the session's settings.

| where | what all workers of an executor have together |
| --- | --- |
| `spark.executor.pyspark.memory` is set | that: Spark holds workers to it |
| YARN, Kubernetes | the memory overhead: what outgrows it is killed with its container |
| other clusters | the memory overhead, or half of `spark.executor.memory` if that is more: nobody looks |
| local mode | half of what the machine, or the container, has beside the driver's heap |

Each of the executor's cores has one worker. Of a worker's share `BASE` are Python and its libraries.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from tidelog.base.record import record

MEBIBYTE = 1 << 20
BASE = 96 * MEBIBYTE
"""What a worker has before it has data. Of its own: 37 MB after a small evaluation, 90 once kernels are loaded."""
LEAST = 32 * MEBIBYTE
"""What a worker is taken to have for data at least: with less than that nothing runs. Not measured."""
_UNITS = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
_CONTAINERS = ("yarn", "k8s")

Setting = Callable[[str], Any]


@record
class Share:
    """The bytes that one Python worker may take for data, and the setting they follow from."""

    bytes: int
    reason: str


def share_of(spark: SparkSession) -> Share:
    """Return what a worker of a session's executors may take."""
    conf = spark.sparkContext.getConf()
    master = spark.sparkContext.master or ""
    return share(master, conf.get, _cores(spark, conf.get, master), machine_memory())


def share(master: str, setting: Setting, cores: int, machine: int) -> Share:
    """Return what a worker may take on a master, given the cores of an executor and the bytes of a machine.

    >>> share("spark://a:1", {"spark.executor.memory": "1g"}.get, 1, 0)
    Share(bytes=436207616, reason='half of spark.executor.memory')
    >>> share("yarn", {"spark.executor.memory": "8g"}.get, 4, 0).reason
    'spark.executor.memoryOverhead'
    """
    whole, reason = _of_workers(master, setting, machine)
    return Share(max(LEAST, whole // max(1, cores) - BASE), reason)


def _of_workers(master: str, setting: Setting, machine: int) -> tuple[int, str]:
    if master.startswith("local["):
        heap = in_bytes(setting("spark.driver.memory") or "1g")
        return max(0, machine - heap) // 2, "half of the machine's memory"
    limited = setting("spark.executor.pyspark.memory")
    if limited:
        return in_bytes(limited, "m"), "spark.executor.pyspark.memory"
    heap = in_bytes(setting("spark.executor.memory") or "1g")
    given = setting("spark.executor.memoryOverhead")
    factor = float(setting("spark.executor.memoryOverheadFactor") or 0.1)
    least = in_bytes(setting("spark.executor.minMemoryOverhead") or "384m", "m")
    overhead = in_bytes(given, "m") if given else max(int(factor * heap), least)
    if master.startswith(_CONTAINERS) or overhead >= heap // 2:
        return overhead, "spark.executor.memoryOverhead"
    return heap // 2, "half of spark.executor.memory"


def in_bytes(text: str, unit: str = "b") -> int:
    """Return a size as Spark's settings write it; without a unit it is in the one given.

    >>> in_bytes("1g"), in_bytes("384", "m"), in_bytes("512 MB")
    (1073741824, 402653184, 536870912)
    """
    found = re.fullmatch(r"\s*(\d+)\s*([bkmgtp]?)b?\s*", text.lower())
    if found is None:
        raise ValueError(f"expected a size such as 512m or 1g, found {text!r}")
    return int(found[1]) * _UNITS[found[2] or unit]


@cache
def machine_memory() -> int:
    """Return the bytes of memory that this machine, or the container that this process is in, has."""
    whole: int = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes")]
    told = [path.read_text().strip() for path in limits if path.is_file()]
    found: list[int] = [whole, *(int(text) for text in told if text.isdecimal())]
    return min(found)


def _cores(spark: SparkSession, setting: Setting, master: str) -> int:
    """Return how many tasks an executor runs at a time."""
    context: Any = spark.sparkContext
    if master.startswith("local["):
        return int(context.defaultParallelism)
    given = setting("spark.executor.cores")
    if given:
        return int(given)
    small = re.fullmatch(r"local-cluster\[\s*\d+\s*,\s*(\d+)\s*,\s*\d+\s*\]", master)
    if small is not None:
        return int(small[1])
    executors = int(context._jsc.sc().getExecutorMemoryStatus().size()) - 1  # noqa: SLF001 -- beside the driver
    return max(1, int(context.defaultParallelism) // max(1, executors))
