"""Columns that every round uses, made once: each is several calls to Java, and a round has some hundred of them.

A Column names what it is made of and belongs to no DataFrame, so the same one serves everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from pyspark import SparkContext
from pyspark.sql import Column
from pyspark.sql import functions as f

P = ParamSpec("P")
_MOST = 10_000


def once(make: Callable[P, Column]) -> Callable[P, Column]:
    """Let a function make a Column only once for the same arguments, as long as Java runs."""
    made: dict[tuple[object, ...], Column] = {}
    java: list[object] = []

    @wraps(make)
    def known(*args: P.args, **kwargs: P.kwargs) -> Column:
        gateway = SparkContext._gateway  # noqa: SLF001
        if java != [gateway] or len(made) > _MOST:
            made.clear()
            java[:] = [gateway]
        key = (*args, *kwargs.items())
        found = made.get(key)
        if found is None:
            found = made[key] = make(*args, **kwargs)
        return found

    return known


@once
def named(name: str) -> Column:
    """Return the column of a name."""
    return f.col(name)


@once
def renamed(name: str, other: str) -> Column:
    """Return the column of a name, under another."""
    return named(name) if name == other else f.col(name).alias(other)


@once
def integer(value: int, name: str) -> Column:
    """Return a number as a column of a name."""
    return f.lit(value).cast("long").alias(name)


@once
def truth(name: str) -> Column:
    """Return what is true everywhere, as a column of a name."""
    return f.lit(True).alias(name)


@once
def missing(name: str) -> Column:
    """Tell whether a column is null."""
    return f.col(name).isNull()


@once
def total(name: str, result: str) -> Column:
    """Return the sum of a column in a group."""
    return f.sum(name).alias(result)


@once
def greatest_and_one(name: str) -> Column:
    """Return one more than the greatest number of a column in a group."""
    return (f.max(name) + 1).alias(name)


@once
def rows_of(name: str) -> Column:
    """Return the number of rows in a group."""
    return f.count(f.lit(1)).alias(name)


@once
def missing_in(name: str, result: str) -> Column:
    """Return the number of rows in a group where a column is null."""
    return f.count_if(f.col(name).isNull()).alias(result)
