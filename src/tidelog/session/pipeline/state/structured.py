"""Structures whose one text of the language is made in Spark: times, what may be null, and terms of RDF.

Databases have types for times and nulls; terms are made by the executors. So rows with them need not pass through the
driver.
"""

from __future__ import annotations

from typing import Any

from tidelog.base import types as t
from tidelog.base.text.terms import TERM
from tidelog.base.types import Type, is_simple
from tidelog.plan.nodes import Relation

DATE, MOMENT, OPTION = STRUCTURED = ("time::Date", "time::DateTime", "std::Option")


def is_known(type: Type) -> bool:
    """Tell whether the text of every value of a type is made in Spark as the language does.

    >>> is_known(t.Named(OPTION, (t.Bit(8),))), is_known(t.Named(OPTION, (t.STRING,)))
    (True, False)
    """
    match type:
        case t.Named(name) if name in (DATE, MOMENT, TERM):
            return True
        case t.Named(name, (inner,)) if name == OPTION:
            whole = isinstance(inner, t.Bool | t.Bit | t.Signed) and is_simple(inner)
            return whole or (isinstance(inner, t.Named) and inner.name in (DATE, MOMENT, TERM))
        case _:
            return False


def stays(relation: Relation) -> bool:
    """Tell whether rows of a relation can be in Spark without passing through the driver."""
    return bool(relation.columns) and all(is_simple(one.type) or is_known(one.type) for one in relation.columns)


def in_cells_of(frame: Any, relation: Relation, *more: str) -> Any:
    """Return a frame of what the language writes with the columns of a relation, and more, as the engine takes it."""
    from pyspark.sql import functions as f

    from tidelog.run.spark.frames.frames import cells_of  # noqa: PLC0415  (loads PySpark)

    columns = [
        cells_of(f.col(f"`{one.name}`"), one) if is_known(one.type) else f.col(f"`{one.name}`")
        for one in relation.columns
    ]
    return frame.select(*columns, *[f.col(f"`{name}`") for name in more])
