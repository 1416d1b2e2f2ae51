"""Spark's values as those of the language: a column is converted where it is, null where it does not fit.

| type | what a source's column may be |
| --- | --- |
| bool | boolean; text `true` or `false` |
| string | text; a date, a time or a decimal, as Spark shows it |
| float, double | any number; text |
| bit<N>, signed<N> up to 64 bits | integers, decimals without fraction; text |
| Option<T> | what T may be, and null |
| time::Date, time::DateTime | a date, a timestamp (in the session's time zone), text of these as in SQL |
| everything else | text as the language writes it, by the driver |

Columns of Option, Date and DateTime become texts of the language in Spark. If the source has them in types of its own,
that is the one text of the value, and rows stay in Spark; texts are read by the driver.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as f
from pyspark.sql import types as s

from tidelog.base import types as t
from tidelog.base.conform import bounds
from tidelog.base.errors import DataError
from tidelog.base.types import Field, Type, is_simple
from tidelog.session.pipeline.config import SourceTable
from tidelog.session.pipeline.state.structured import DATE, MOMENT, OPTION

_WIDE = s.DecimalType(38, 0)


def value_of(found: Column, given: s.DataType, column: Field, source: SourceTable) -> tuple[Column, str]:
    """Return a column's value, null where it does not fit, and what was expected; nothing if the driver is to see."""
    found, checked = _structured(found, given, column.type)
    if checked is not None:
        return found, checked
    expected = t.show(column.type)
    text = isinstance(given, s.StringType)
    integral = _is_whole(given)
    match column.type:
        case t.Bool() if isinstance(given, s.BooleanType):
            return found, expected
        case t.Bool() if text:
            lower = f.lower(f.trim(found))
            return f.when(lower.isin("true", "false"), lower == "true"), f"{expected} (true or false)"
        case t.String() if text or isinstance(given, s.DatetimeType | s.DecimalType | s.TimestampNTZType):
            return found.cast("string"), expected
        case t.Float() | t.Double() if integral or isinstance(given, s.FloatType | s.DoubleType | s.DecimalType):
            return found.cast("double"), expected
        case t.Float() | t.Double() if text:
            return f.trim(found).try_cast("double"), expected
        case t.Bit(width) | t.Signed(width) if width <= 64 and (integral or text):
            return _integer(found, column.type, text=text)
        case type if not is_simple(type):
            return found, ""
        case _:
            raise DataError(
                f"{source}: {source.relation}.{column.name} has type {expected}; the source's column is "
                f"{given.simpleString()}"
            )


def _structured(found: Column, given: s.DataType, type: Type) -> tuple[Column, str | None]:
    """Return a column of an Option, a Date or a DateTime as text of the language; None if it is something else."""
    match type:
        case t.Named(name) if name in (DATE, MOMENT):
            return _moment(found, given, name), f"{t.show(type)} (a {'date' if name == DATE else 'timestamp'})"
        case t.Named(name, (inner,)) if name == OPTION:
            if inner == t.STRING and isinstance(given, s.StringType):
                return found, ""  # texts are what they are, and null is None
            value = _inner(found, given, inner)
            if value is None:
                return found, None
            some = f.concat(f.lit("Some{.x = "), value, f.lit("}"))
            if isinstance(given, s.StringType):
                some = f.when(found.rlike(r"^\s*(std::)?(None|Some)\b"), found).otherwise(some)
            return f.when(found.isNull(), f.lit("None{}")).otherwise(some), f"{t.show(inner)} or null"
        case _:
            return found, None


def _inner(found: Column, given: s.DataType, type: Type) -> Column | None:
    """Return a value as text of the language, null where it does not fit; None where the driver knows better."""
    text = isinstance(given, s.StringType)
    match type:
        case t.Named(name) if name in (DATE, MOMENT):
            return _moment(found, given, name)
        case t.Bool() if isinstance(given, s.BooleanType):
            return found.cast("string")
        case t.Bool() if text:
            lower = f.lower(f.trim(found))
            return f.when(lower.isin("true", "false"), lower)
        case t.Bit(width) | t.Signed(width) if width <= 64 and (text or _is_whole(given)):
            return _integer(found, type, text=text)[0].cast("string")
        case _:
            return None


def _is_whole(given: s.DataType) -> bool:
    return isinstance(given, s.IntegralType) or (isinstance(given, s.DecimalType) and given.scale == 0)


def _moment(found: Column, given: s.DataType, name: str) -> Column:
    """Return a date or a timestamp as text of the language; text that is in that form already stays."""
    kind = "date" if name == DATE else "timestamp"
    at = found.try_cast("timestamp_ntz" if kind == "timestamp" else kind)
    date = _made(DATE, year=f.year(at), month=f.month(at), day=f.day(at))
    made = date
    if name == MOMENT:
        nanos = f.date_format(at, "SSSSSS").cast("long") * 1000
        time = _made("time::Time", hour=f.hour(at), minute=f.minute(at), second=f.second(at), nanosecond=nanos)
        made = _made(MOMENT, date=date, time=time)
    if isinstance(given, s.StringType):
        return f.when(found.contains("{"), found).otherwise(made)
    return made


def _made(name: str, **fields: Column) -> Column:
    """Return a struct as text of the language; null if a part is."""
    parts: list[Column] = []
    for place, (field, value) in enumerate(fields.items()):
        parts += [f.lit(f"{', ' if place else ''}.{field} = "), value.cast("string")]
    return f.concat(f.lit(f"{name}{{"), *parts, f.lit("}"))


def _integer(found: Column, type: Type, *, text: bool) -> tuple[Column, str]:
    assert isinstance(type, t.Bit | t.Signed)
    low, high = bounds(type)
    number = found.cast(_WIDE)
    if text:
        trimmed = f.trim(found)
        number = f.when(trimmed.rlike("^[+-]?[0-9]{1,38}$"), trimmed.try_cast(_WIDE))
    fits = (number >= f.lit(str(low)).cast(_WIDE)) & (number <= f.lit(str(high)).cast(_WIDE))
    target = s.DecimalType(20, 0) if type == t.Bit(64) else s.LongType()
    return f.when(fits, number.cast(target)), f"{t.show(type)} ({low} to {high})"
