"""Datatypes of literals: the lexical and value spaces of those that OWL 2 RL knows.

A value is a pair of its space and something that compares: numbers are fractions in the space `decimal` (all integer
types are within it), floats and doubles have spaces of their own, as XML Schema 1.1 says. A datatype that is not here
has no values that anything could be said of.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any, Final

from tidelog.base.values import NONE, Variant, real, single, some

XSD: Final = "http://www.w3.org/2001/XMLSchema#"
RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS: Final = "http://www.w3.org/2000/01/rdf-schema#"
OWL: Final = "http://www.w3.org/2002/07/owl#"

Value = tuple[str, Any]
LONGEST = 4000
"""A number with more characters than this has no value here; Python reads a few hundred more."""

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_REAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN")
_DATE_TIME = re.compile(
    r"(-?(?:[1-9][0-9]{3,}|0[0-9]{3}))-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?"
    r"(Z|[+-](?:(?:0[0-9]|1[0-3]):[0-5][0-9]|14:00))?"
)
_BASE64 = re.compile(
    r"(?:(?:[A-Za-z0-9+/] ?){4})*+"
    r"(?:(?:[A-Za-z0-9+/] ?){2}[AEIMQUYcgkosw048] ?=|[A-Za-z0-9+/] ?[AQgw] ?= ?=)?"
)
_NAME = r"[A-Za-z_\u00c0-\uffff][\w\u00b7.\-]*"
_TEXTS: Final = {
    "string": re.compile(r"(?s:.*)"),
    "normalizedString": re.compile(r"[^\t\n\r]*"),
    "token": re.compile(r"(?:[^ \t\n\r]++(?: [^ \t\n\r]++)*+)?"),
    "language": re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*+"),
    "Name": re.compile(r"[A-Za-z_:\u00c0-\uffff][\w\u00b7.:\-]*"),
    "NCName": re.compile(_NAME),
    "NMTOKEN": re.compile(r"[\w\u00b7.:\-]+"),
}
_BOUNDS: Final[dict[str, tuple[int | None, int | None]]] = {
    "integer": (None, None),
    "nonNegativeInteger": (0, None),
    "nonPositiveInteger": (None, 0),
    "positiveInteger": (1, None),
    "negativeInteger": (None, -1),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-(2**7), 2**7 - 1),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 2**8 - 1),
}
_FLAT = str.maketrans("\t\n\r", "   ")


def _within(number: int | Fraction, name: str) -> bool:
    low, high = _BOUNDS[name]
    return (low is None or number >= low) and (high is None or number <= high)


def _integer(name: str) -> Callable[[str], Value | None]:
    def read(text: str) -> Value | None:
        if not _INTEGER.fullmatch(text) or len(text) > LONGEST:
            return None
        number = Fraction(int(text))
        return ("decimal", number) if _within(number, name) else None

    return read


def _decimal(text: str) -> Value | None:
    return ("decimal", Fraction(text)) if _DECIMAL.fullmatch(text) and len(text) <= LONGEST else None


def _real(space: str, rounded: Callable[[float], float]) -> Callable[[str], Value | None]:
    def read(text: str) -> Value | None:
        if not _REAL.fullmatch(text):
            return None
        number = rounded(float(text.replace("INF", "inf")))
        return space, "NaN" if math.isnan(number) else number

    return read


def _boolean(text: str) -> Value | None:
    return ("boolean", text in {"true", "1"}) if text in {"true", "false", "1", "0"} else None


def _text(name: str) -> Callable[[str], Value | None]:
    return lambda text: ("string", text) if _TEXTS[name].fullmatch(text) else None


def _hexadecimal(text: str) -> Value | None:
    return ("hexBinary", text.upper()) if re.fullmatch(r"(?:[0-9A-Fa-f]{2})*", text) else None


def _base64(text: str) -> Value | None:
    return ("base64Binary", text.replace(" ", "")) if _BASE64.fullmatch(text) else None


def _moment(zoned: bool) -> Callable[[str], Value | None]:
    def read(text: str) -> Value | None:
        found = _DATE_TIME.fullmatch(text)
        if found is None or len(text) > LONGEST or (zoned and found[8] is None):
            return None
        year, month, day, hour, minute, second = map(int, found.groups()[:6])
        fraction = Fraction(found[7] or 0)
        whole_day = hour == 24 and minute == second == 0 and not fraction
        try:
            # Years beyond Python's: 400 years have the same days.
            moment = datetime(2000 + year % 400, month, day, 0 if whole_day else hour, minute, second, tzinfo=UTC)
        except ValueError:
            return None
        moment += timedelta(days=whole_day)
        zone = found[8]
        if zone not in {None, "Z"}:
            away = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6]))
            moment += -away if zone[0] == "+" else away
        seconds = (moment - datetime(2000, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)
        cycle = (year - year % 400) // 400 - 5
        return "dateTime" if zone is None else "dateTimeStamp", Fraction(seconds + cycle * 146097 * 86400) + fraction

    return read


READERS: Final[dict[str, Callable[[str], Value | None]]] = {
    **{XSD + name: _integer(name) for name in _BOUNDS},
    **{XSD + name: _text(name) for name in _TEXTS},
    XSD + "decimal": _decimal,
    XSD + "double": _real("double", real),
    XSD + "float": _real("float", single),
    XSD + "boolean": _boolean,
    XSD + "hexBinary": _hexadecimal,
    XSD + "base64Binary": _base64,
    XSD + "anyURI": lambda text: ("anyURI", text),
    XSD + "dateTime": _moment(zoned=False),
    XSD + "dateTimeStamp": _moment(zoned=True),
}
"""The datatypes of OWL 2 RL that have a lexical space of their own."""


def value_of(term: Variant) -> Value | None:
    """Return the value of a literal; None if it has none, or none that is known."""
    if term.position != 2:
        return None
    text, datatype, language = term.fields
    if language:
        return f"@{language}", text
    if datatype == f"{RDF}PlainLiteral":
        plain, at, tag = text.rpartition("@")
        return (f"@{tag.lower()}" if tag else "string", plain) if at else None
    reader = READERS.get(datatype)
    if reader is None:
        return None
    # White space around numbers, truth values and times is no part of them; in texts it is.
    return reader(text if datatype.removeprefix(XSD) in _TEXTS else text.translate(_FLAT).strip(" "))


def value_key(term: Variant) -> Variant:
    """Return a text that is the same for literals of the same value; None for those without one that is known."""
    value = value_of(term)
    return NONE if value is None else some(f"{value[0]} {value[1]}")


def is_ill_typed(term: Variant) -> bool:
    """Tell whether a literal of a known datatype has a text that is none of it."""
    known = term.position == 2 and (term.fields[1] in READERS or term.fields[1] == f"{RDF}PlainLiteral")
    return bool(known and not term.fields[2] and value_of(term) is None)


def same_value(a: Variant, b: Variant) -> bool:
    """Tell whether two literals surely have the same value."""
    one = value_of(a)
    return a == b or (one is not None and one == value_of(b))


def different_values(a: Variant, b: Variant) -> bool:
    """Tell whether two literals surely have different values."""
    one, other = value_of(a), value_of(b)
    return one is not None and other is not None and one != other


def value_datatypes(term: Variant) -> tuple[str, ...]:
    """Return the datatypes of OWL 2 RL that the value of a literal belongs to."""
    value = value_of(term)
    if value is None:
        return ()
    space, held = value
    if space == "decimal":
        whole = held.denominator == 1
        return (XSD + "decimal", *(XSD + name for name in _BOUNDS if whole and _within(held, name)))
    if space == "string":
        return tuple([XSD + name for name, form in _TEXTS.items() if form.fullmatch(held)] + [f"{RDF}PlainLiteral"])
    if space.startswith("@"):
        return (f"{RDF}langString", f"{RDF}PlainLiteral")
    if space == "dateTimeStamp":
        return (XSD + "dateTime", XSD + "dateTimeStamp")
    return (XSD + space,)


def integer_value(term: Variant) -> Variant:
    """Return the integer that a literal of an integer type stands for, if it does."""
    value = value_of(term)
    proper = value is not None and term.fields[1].removeprefix(XSD) in _BOUNDS
    return some(int(value[1])) if value is not None and proper else NONE


def number_value(term: Variant) -> Variant:
    """Return the number that a literal stands for, as a double."""
    value = value_of(term)
    if value is None or value[0] not in {"decimal", "double", "float"}:
        return NONE
    if value[1] == "NaN":
        return some(real(math.nan))
    try:
        return some(real(float(value[1])))
    except OverflowError:
        return some(math.inf if value[1] > 0 else -math.inf)


def boolean_value(term: Variant) -> Variant:
    """Return the truth value that a literal stands for."""
    value = value_of(term)
    return some(value[1]) if value is not None and value[0] == "boolean" else NONE
