"""Module `time`: dates and times as text. What can be computed is in the language; here are formats.

The Gregorian calendar repeats every 400 years, weekdays included, so Python's `date`, which begins with the year 1,
answers for every year.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date as PythonDate  # noqa: N812  # a class, whatever Python calls it
from typing import Any

from tidelog.base.values import Value, Variant, err, ok
from tidelog.logic.std.texts.patterns import linear
from tidelog.logic.std.texts.rust_patterns import PatternError

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_SHORT = {
    "D": "%m/%d/%y", "x": "%m/%d/%y", "F": "%Y-%m-%d", "v": "%e-%b-%Y", "R": "%H:%M", "T": "%H:%M:%S",
    "X": "%H:%M:%S", "r": "%I:%M:%S %p", "c": "%a %b %e %H:%M:%S %Y", "h": "%b",
}  # fmt: skip
_SPECIFIER = re.compile(r"%([-_0]?)(:z|\.[369]?f|[369]f|[\s\S]|$)")
_NAMED = re.compile(r"\(\?P<(\w)>")
Fields = dict[str, tuple[int | str, int, str]]
"""What a specifier shows: a text, or a number with the width and the character it is padded with."""

_DATE, _TIME, _DATETIME = "%Y-%m-%d", "%H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f"


def make_date(year: int, month: int, day: int) -> Variant:
    """Return a Date; ValueError if there is none."""
    try:
        _python_date(year, month, day)
    except ValueError:
        raise ValueError(f"there is no date {year}-{month}-{day}") from None
    if not -9999 <= year <= 9999:
        raise ValueError(f"the year {year} is not between -9999 and 9999")
    return Variant("time::Date", 0, (year, month, day))


def make_time(hour: int, minute: int, second: int, nanosecond: int) -> Variant:
    """Return a Time; ValueError if there is none."""
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError(f"there is no time of day {hour}:{minute:02}:{second:02}")
    return Variant("time::Time", 0, (hour, minute, second, nanosecond))


def _python_date(year: int, month: int, day: int) -> PythonDate:
    return PythonDate(2000 + year % 400, month, day)


# --- writing ---------------------------------------------------------------------------------------------------------


def format_parts(pattern: str, date: Variant | None, time: Variant | None, offset: int | None = None) -> Variant:
    """Write the parts that are given; a specifier of another part is a mistake."""
    expanded = _expand(pattern)
    known: Fields = {}
    if date:
        known |= _date_fields(*date.fields)
    if time:
        known |= _time_fields(*time.fields)
    if offset is not None:
        sign, minutes = "-" if offset < 0 else "+", abs(offset) // 60
        known["z"] = (f"{sign}{minutes // 60:02}{minutes % 60:02}", 0, "")
        known[":z"] = (f"{sign}{minutes // 60:02}:{minutes % 60:02}", 0, "")
    try:
        return ok(_SPECIFIER.sub(lambda found: _written(found, known), expanded))
    except KeyError as error:
        return err(f"`%{error.args[0]}` has no meaning here in the format `{pattern}`")


def _expand(pattern: str) -> str:
    return _SPECIFIER.sub(lambda found: _SHORT.get(found[2], found[0]), pattern)


def _written(found: re.Match[str], known: Fields) -> str:
    if found[2] in {"%", "n", "t"}:
        return {"%": "%", "n": "\n", "t": "\t"}[found[2]]
    value, width, pad = known[found[2]]
    if isinstance(value, str):
        return value
    pad = {"": pad, "-": "", "_": " ", "0": "0"}[found[1]]
    digits = str(abs(value)).rjust(width, pad) if pad else str(abs(value))
    return f"-{digits}" if value < 0 else digits


def _date_fields(year: int, month: int, day: int) -> Fields:
    python = _python_date(year, month, day)
    iso_year, iso_week, iso_day = python.isocalendar()
    return {
        "Y": (year, 4, "0"),
        "C": (year // 100, 2, "0"),
        "y": (year % 100, 2, "0"),
        "m": (month, 2, "0"),
        "b": (MONTHS[month - 1][:3], 0, ""),
        "B": (MONTHS[month - 1], 0, ""),
        "d": (day, 2, "0"),
        "e": (day, 2, " "),
        "a": (DAYS[iso_day - 1][:3], 0, ""),
        "A": (DAYS[iso_day - 1], 0, ""),
        "w": (iso_day % 7, 1, "0"),
        "u": (iso_day, 1, "0"),
        "j": (python.timetuple().tm_yday, 3, "0"),
        "G": (iso_year - python.year + year, 4, "0"),
        "V": (iso_week, 2, "0"),
    }


def _time_fields(hour: int, minute: int, second: int, nanosecond: int) -> Fields:
    digits = f"{nanosecond:09}"
    return {
        "H": (hour, 2, "0"),
        "k": (hour, 2, " "),
        "I": ((hour + 11) % 12 + 1, 2, "0"),
        "l": ((hour + 11) % 12 + 1, 2, " "),
        "p": ("AM" if hour < 12 else "PM", 0, ""),
        "P": ("am" if hour < 12 else "pm", 0, ""),
        "M": (minute, 2, "0"),
        "S": (second, 2, "0"),
        "f": (digits, 0, ""),
        ".f": (f".{digits.rstrip('0')}" if nanosecond else "", 0, ""),
        **{f"{n}f": (digits[:n], 0, "") for n in (3, 6, 9)},
        **{f".{n}f": ("." + digits[:n], 0, "") for n in (3, 6, 9)},
    }


# --- reading ---------------------------------------------------------------------------------------------------------

_READ = {
    "Y": r"(?P<Y>[+-]?\d{1,4})", "y": r"(?P<y>\d\d)", "m": r"(?P<m>\d\d?)", "d": r"(?P<d>\d\d?)",
    "e": r" ?(?P<d>\d\d?)", "j": r"(?P<j>\d{1,3})", "b": rf"(?P<b>{'|'.join(f'{m}|{m[:3]}' for m in MONTHS)})",
    "a": rf"(?:{'|'.join(f'{d}|{d[:3]}' for d in DAYS)})", "H": r"(?P<H>\d\d?)", "k": r" ?(?P<H>\d\d?)",
    "I": r"(?P<I>\d\d?)", "l": r" ?(?P<I>\d\d?)", "p": r"(?P<p>[AP]M)", "M": r"(?P<M>\d\d?)", "S": r"(?P<S>\d\d?)",
    "f": r"(?P<f>\d{1,9})", ".f": r"(?:\.(?P<f>\d{1,9}))?", "z": r"(?P<z>Z|[+-]\d\d:?\d\d)", "s": r"(?P<s>-?\d{1,12})",
    "%": "%", "n": r"\s+", "t": r"\s+",
}  # fmt: skip
_READ |= {"B": _READ["b"], "h": _READ["b"], "A": _READ["a"], "P": _READ["p"], ":z": _READ["z"]}
_READ |= {f"{n}f": rf"(?P<f>\d{{{n}}})" for n in (3, 6, 9)} | {f".{n}f": rf"\.(?P<f>\d{{{n}}})" for n in (3, 6, 9)}


def read_parts(text: str, pattern: str, make: Callable[[dict[str, str]], Value]) -> Variant:
    """Read a text by a format, and make a value of what stands for each specifier."""
    regex, position, expanded = "", 0, _expand(pattern)
    for found in _SPECIFIER.finditer(expanded):
        if found[2] not in _READ:
            return err(f"`%{found[2]}` cannot be read in the format `{pattern}`")
        regex += re.escape(expanded[position : found.start()]) + _READ[found[2]]
        position = found.end()
    parts = _NAMED.findall(regex)
    if len(parts) != len(set(parts)):
        return err(f"the format `{pattern}` asks for the same part twice")
    try:
        matched = linear(f"(?i:{regex}{re.escape(expanded[position:])})").fullmatch(text.encode("utf-8", "replace"))
    except PatternError as error:
        return err(f"the format `{pattern}` cannot be read: {error}")
    if not matched:
        return err(f"`{text}` does not have the format `{pattern}`")
    try:
        return ok(make({key.decode(): part.decode() for key, part in matched.groupdict().items() if part is not None}))
    except KeyError as error:
        return err(f"the format `{pattern}` lacks `%{error.args[0]}`")
    except ValueError as error:
        return err(f"`{text}`: {error}")


def _read_date(parts: dict[str, str]) -> Variant:
    if "s" in parts:
        return _from_timestamp(int(parts["s"]))[0]
    if "Y" in parts or "y" not in parts:
        year = int(parts["Y"])
    else:
        year = int(parts["y"]) + (2000 if int(parts["y"]) < 70 else 1900)
    if "j" in parts:
        first = _python_date(year, 1, 1)
        python = PythonDate.fromordinal(first.toordinal() + int(parts["j"]) - 1)
        if python.year != first.year:
            raise ValueError(f"there is no day {parts['j']} of the year {year}")
        return make_date(year, python.month, python.day)
    if "b" in parts:
        return make_date(year, [m[:3] for m in MONTHS].index(parts["b"][:3].capitalize()) + 1, int(parts["d"]))
    return make_date(year, int(parts["m"]), int(parts["d"]))


def _read_time(parts: dict[str, str]) -> Variant:
    if "s" in parts:
        return _from_timestamp(int(parts["s"]))[1]
    hour = int(parts["H"]) if "I" not in parts else int(parts["I"]) % 12 + 12 * (parts["p"].upper() == "PM")
    return make_time(hour, int(parts["M"]), int(parts.get("S", 0)), int(parts.get("f", "0").ljust(9, "0")))


def _read_datetime(parts: dict[str, str]) -> Variant:
    return Variant("time::DateTime", 0, (_read_date(parts), _read_time(parts)))


def _read_local(parts: dict[str, str]) -> tuple[Variant, int]:
    zone = "+0000" if parts["z"] in {"Z", "z"} else parts["z"].replace(":", "")
    offset = (int(zone[1:3]) * 60 + int(zone[3:5])) * 60
    return _read_datetime(parts), -offset if zone[0] == "-" else offset


def _from_timestamp(seconds: int) -> tuple[Variant, Variant]:
    days, second = divmod(seconds, 86400)
    cycles, rest = divmod(days, 146097)
    python = PythonDate.fromordinal(PythonDate(1970, 1, 1).toordinal() + rest)
    date = make_date(python.year + 400 * cycles, python.month, python.day)
    return date, make_time(second // 3600, second // 60 % 60, second % 60, 0)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "time2string": lambda t: format_parts(_TIME, None, t).fields[0],
    "string2time": lambda s: read_parts(s, _TIME, _read_time),
    "time_format": lambda t, pattern: format_parts(pattern, None, t),
    "time_parse": lambda s, pattern: read_parts(s, pattern, _read_time),
    "date2string": lambda d: format_parts(_DATE, d, None).fields[0],
    "string2date": lambda s: read_parts(s, _DATE, _read_date),
    "date_format": lambda d, pattern: format_parts(pattern, d, None),
    "date_parse": lambda s, pattern: read_parts(s, pattern, _read_date),
    "dateTime2string": lambda d: format_parts(_DATETIME, *d.fields).fields[0],
    "string2datetime": lambda s: read_parts(s, _DATETIME, _read_datetime),
    "datetime_format": lambda d, pattern: format_parts(pattern, *d.fields),
    "datetime_parse": lambda s, pattern: read_parts(s, pattern, _read_datetime),
    "local_format": lambda d, offset, pattern: format_parts(pattern, d.fields[0], d.fields[1], offset),
    "local_parse": lambda s, pattern: read_parts(s, pattern, _read_local),
}
LITERALS: dict[str, Callable[[str], Variant]] = {
    "time::Time": FUNCTIONS["string2time"],
    "time::Date": FUNCTIONS["string2date"],
    "time::DateTime": FUNCTIONS["string2datetime"],
}
"""How texts of facts are read where a type of this module is expected."""
