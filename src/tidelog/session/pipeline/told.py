"""Errors of Spark, of Delta Lake, of values and of file systems, told with the source, sink or state of theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from tidelog.base.errors import BusyError, DataError, UserError


@contextmanager
def told(what: object) -> Iterator[None]:
    """Within the block, let errors of Spark, of values and of the file system name the source or sink."""
    try:
        yield
    except DataError as error:
        raise error if str(error).startswith(str(what)) else DataError(f"{what}: {error}") from None
    except OSError as error:
        raise DataError(f"{what}: {error.strerror or plain(error)}") from None
    except Exception as error:
        if _is_of(error, ("_internal", "DeltaError")):
            raise DataError(f"{what}: {plain(error)}") from None
        if not _is_of(error, ("pyspark", "PySparkException"), ("py4j", "Py4JJavaError")):
            raise
        java = getattr(error, "java_exception", error)
        lines = [line for line in str(java).split("\n") if line.strip()]
        told_by_spark = re.sub(r"^[\w.]+(Exception|Error): ", "", lines[0]) if lines else type(error).__name__
        raise DataError(f"{what}: {told_by_spark}") from None


@contextmanager
def reaching(place: str) -> Iterator[None]:
    """Within the block, let errors of the place of the state name it; one that is away may be there later."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, OSError) and not _is_of(error, ("_internal", "DeltaError")):
            raise
        if is_away(error):
            raise BusyError(f"{place} cannot be reached now: {plain(error)}") from None
        raise UserError(f"{place}: {getattr(error, 'strerror', None) or plain(error)}") from None


def is_away(error: Exception) -> bool:
    """Tell whether an error of an object store says that it did not answer, or could not for a while."""
    return any(sign in str(error) for sign in ("HTTP error", "error sending request", "timed out", "status code: 5"))


def plain(error: Exception) -> str:
    """Return what an error says in one line without colours: those of object stores have many."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    return "; ".join(part for line in text.split("\n") if (part := line.strip(" \u21b3")))


def _is_of(error: Exception, *kinds: tuple[str, str]) -> bool:
    """Tell whether an error is of a library that need not be loaded: a package (deltalake has `_internal`), a class."""
    names = {(one.__module__.partition(".")[0], one.__name__) for one in type(error).__mro__}
    return bool(names & {*kinds})
