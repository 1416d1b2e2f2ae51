"""The jobs of one update as a group, which a time limit or an interrupt cancels while they run.

Their tasks know the settings of the engine's session. Spark tells them only for a query's own job, and several queries
answered by one job would be executed by its defaults.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from tidelog.run.limits import Watch

_GROUP, _INTERRUPT = "spark.jobGroup.id", "spark.job.interruptOnCancel"


@contextmanager
def one_group(spark: SparkSession, watch: Watch) -> Iterator[None]:
    """Within the block, jobs are of one group; it is cancelled when the watch's time is over, or on an interrupt.

    The limit is then what is raised, as between two rounds. What the user had set for jobs of this thread is put back.
    """
    context = spark.sparkContext
    java = context._jsc.sc()  # noqa: SLF001
    properties = java.getLocalProperties()
    before = properties.clone()
    properties.putAll(spark._jsparkSession.conf().getAllAsJava())  # noqa: SLF001
    group = f"tidelog-{uuid.uuid4()}"
    context.setLocalProperty(_GROUP, group)
    context.setLocalProperty(_INTERRUPT, "true")
    seconds = watch.seconds_left()
    timer = threading.Timer(seconds, _cancel, (context, group)) if seconds is not None else None
    if timer is not None:
        timer.daemon = True
        timer.start()
    try:
        yield
    except KeyboardInterrupt:
        _cancel(context, group)
        raise
    except Exception:
        watch.look()
        raise
    finally:
        if timer is not None:
            timer.cancel()
        with suppress(Py4JError):  # the session may be gone
            java.setLocalProperties(before)


def _cancel(context: SparkContext, group: str) -> None:
    with suppress(Py4JError):
        context.cancelJobGroup(group)
