"""Reductions of groups that Spark computes itself: the common ones of the library, on cells that are numbers or text.

Everything else is reduced in Python, group by group (`worker.reduce_groups`). A sum is left to Spark only where a long
surely holds it; `bit<64>` cells wrap, so their order is that of the cells with the sign bit flipped.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as f

from tidelog.base import expr as e
from tidelog.base import types as t
from tidelog.base.types import Type
from tidelog.plan.nodes import Aggregate
from tidelog.run.spark.frames.encode import SIGN, content, spark_type

_SUM_WIDTH = 32


def reduction(step: Aggregate, value: Column | None) -> Column | None:
    """Return the aggregate's result over a group as a Column, given that of the group's value; None if unknown."""
    match step.reduce:
        case e.Call(name, (e.Var(group),)) if group == step.group.name:
            made = _known(name.partition("<")[0].partition("(")[0], step, value)
            return None if made is None else made.cast(spark_type(step.result.type))
        case _:
            return None


def _known(name: str, step: Aggregate, value: Column | None) -> Column | None:
    kind = content(step.value.type)
    match name:
        case "std::count":
            return f.count(f.lit(1))
        case "std::count_distinct" if value is not None:
            return f.count_distinct(value)
        case "std::min" if value is not None:
            return _extreme(f.min, value, kind)
        case "std::max" if value is not None:
            return _extreme(f.max, value, kind)
        case "std::sum" if value is not None and kind == content(step.result.type):
            return _sum(value, kind)
        case _:
            return None


def _extreme(choose: Callable[[Column], Column], value: Column, type: Type) -> Column | None:
    match type:
        case t.Bit(64):
            flip = f.lit(-SIGN)
            return choose(value.bitwiseXOR(flip)).bitwiseXOR(flip)
        case t.Bool() | t.String() | t.Float() | t.Double():
            return choose(value)
        case t.Bit(width) | t.Signed(width) if width <= 64:
            return choose(value)
        case _:
            return None


def _sum(value: Column, type: Type) -> Column | None:
    if not isinstance(type, t.Bit | t.Signed) or type.width > _SUM_WIDTH:
        return None
    mask = f.lit((1 << type.width) - 1)
    if isinstance(type, t.Bit):
        return f.sum(value).bitwiseAND(mask)
    half = f.lit(1 << (type.width - 1))
    return (f.sum(value) + half).bitwiseAND(mask) - half
