"""Errors of Spark, of values and of the file system, told with the source or sink they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from tidelog.base.errors import DataError


@contextmanager
def told(what: object) -> Iterator[None]:
    """Within the block, let errors of Spark, of values and of the file system name the source or sink."""
    try:
        yield
    except DataError as error:
        raise error if str(error).startswith(str(what)) else DataError(f"{what}: {error}") from None
    except OSError as error:
        raise DataError(f"{what}: {error.strerror or error}") from None
    except Exception as error:
        if not _is_of_spark(error):
            raise
        java = getattr(error, "java_exception", error)
        lines = [line for line in str(java).split("\n") if line.strip()]
        told_by_spark = re.sub(r"^[\w.]+(Exception|Error): ", "", lines[0]) if lines else type(error).__name__
        raise DataError(f"{what}: {told_by_spark}") from None


def _is_of_spark(error: Exception) -> bool:
    """Tell whether PySpark raised an error; it is not loaded for that."""
    names = {(one.__module__.partition(".")[0], one.__name__) for one in type(error).__mro__}
    return bool(names & {("pyspark", "PySparkException"), ("py4j", "Py4JJavaError")})
