"""Module `regex`: a `Regex` is a struct with its pattern, in Rust's syntax (`rust_patterns`); RE2 does the work.

Its time is linear in the text, whatever the pattern. A wrong pattern is an error when it is used; `try_regex` tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from tidelog.base.process.meter import current
from tidelog.base.values import NONE, Variant, err, ok, some
from tidelog.logic.std.texts.rust_patterns import PatternError, translated

LONGEST = 1 << 16
"""Characters that a pattern may have: to compile one takes time that nothing can interrupt."""
MEMORY = 16 << 20
"""Bytes that RE2 may take for a pattern, compiled, and for what it remembers while it matches."""
WORK = 5
"""Nanoseconds that a state of a pattern takes for a byte of the text, if matching is at its worst: RE2 took 6 to 12."""
_REFERENCE = re.compile(r"\$(?:(\$)|([0-9A-Za-z_]+)|\{([^{}]*)\})")


@lru_cache(maxsize=64)
def compiled(pattern: str) -> Any:
    """Return a compiled pattern; raise `PatternError` with what is wrong with it."""
    wrong = f"wrong pattern `{pattern[:200]}`"
    if len(pattern) > LONGEST:
        raise PatternError(f"{wrong}: it has more than {LONGEST} characters")
    try:
        return linear(translated(pattern))
    except ValueError as error:
        raise PatternError(f"{wrong}: {error}") from None


@lru_cache(maxsize=64)
def states(pattern: str) -> int:
    """Return in how many states matching can be at once, about: those of the pattern with small classes."""
    return int(linear(translated(pattern, narrow=True)).programsize)


def linear(pattern: str) -> Any:
    """Return a compiled pattern of RE2's own syntax, for texts as bytes; raise `PatternError` if it is wrong."""
    import re2  # noqa: PLC0415  (few programs need it)

    options = re2.Options()
    options.log_errors = False
    options.max_mem = MEMORY
    try:
        return re2.compile(pattern.encode(), options)
    except re2.error as error:
        told = error.args[0]
        raise PatternError(told.decode(errors="replace") if isinstance(told, bytes) else str(told)) from None


def mistake(pattern: str) -> str | None:
    """Return what is wrong with a pattern, if something is."""
    try:
        compiled(pattern)
    except PatternError as error:
        return str(error)
    return None


def checked(patterns: Iterable[str], result: Variant) -> Variant:
    """Return the result if the patterns are right, else the first mistake."""
    wrong = next(filter(None, map(mistake, patterns)), None)
    return ok(result) if wrong is None else err(wrong)


def found_at(pattern: str, data: bytes, start: int = 0) -> Any:
    """Return the first match from a place on. A call takes time in proportion to the text and to the pattern."""
    meter = current.get()
    if meter is not None:
        meter.look()
        meter.work((len(data) - start) * states(pattern) * WORK)
    return compiled(pattern).search(data, start)


def occurs(pattern: str, text: str) -> bool:
    """Tell whether a pattern occurs in a text."""
    return found_at(pattern, _encoded(text)) is not None


def first_match(pattern: Variant, text: str) -> Variant:
    """Return the text of the first match, if there is one."""
    found = found_at(pattern.fields[0], _encoded(text))
    return some(_decoded(found[0])) if found else NONE


def matches(pattern: str, data: bytes) -> Iterator[Any]:
    """Yield all matches that do not overlap, as Rust does: none is empty just behind the one before."""
    start, last = 0, -1
    while start <= len(data):
        found = found_at(pattern, data, start)
        if found is None:
            return
        begin, end = found.span()
        if begin == end == last:
            start = _after(data, end)
            continue
        yield found
        start, last = (_after(data, end) if begin == end else end), end


def _after(data: bytes, place: int) -> int:
    """Return the place behind the character at a place."""
    place += 1
    while place < len(data) and data[place] & 0xC0 == 0x80:
        place += 1
    return place


def all_matches(pattern: Variant, text: str) -> tuple[str, ...]:
    """Return the texts of all matches."""
    return tuple([_decoded(found[0]) for found in matches(pattern.fields[0], _encoded(text))])


def captures(pattern: Variant, text: str) -> Variant:
    """Return the groups of the first match, if there is one."""
    found = found_at(pattern.fields[0], _encoded(text))
    return some(tuple(map(_optional, (found[0], *found.groups())))) if found else NONE


def _optional(data: bytes | None) -> Variant:
    return NONE if data is None else some(_decoded(data))


def replaced(pattern: Variant, text: str, by: str) -> str:
    """Return the text with every match replaced."""
    made, data, last = [], _encoded(text), 0
    for found in matches(pattern.fields[0], data):
        made += [data[last : found.start()], _expanded(_encoded(by), found)]
        last = found.end()
    return _decoded(b"".join([*made, data[last:]]))


def _expanded(by: bytes, found: Any) -> bytes:
    """Return what takes the place of a match: `$1` or `${name}` is a group, empty if there is none, `$$` a dollar."""
    names = found.re.groupindex

    def group(reference: re.Match[str]) -> str:
        if reference[1]:
            return "$"
        name = reference[2] or reference[3]
        number = int(name) if name.isdecimal() else names.get(name.encode(), -1)
        part = found[number] if 0 <= number <= found.re.groups else None
        return _decoded(part or b"")

    return _encoded(_REFERENCE.sub(group, _decoded(by))) if b"$" in by else by


def any_match(patterns: Sequence[str], text: str) -> bool:
    """Tell whether one of the patterns, all of which must be right, occurs in the text."""
    data = _encoded(text)
    for one in patterns:
        compiled(one)
    return any(found_at(one, data) is not None for one in patterns)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "try_regex": lambda pattern: checked((pattern,), Variant("regex::Regex", 0, (pattern,))),
    "regex_match": lambda pattern, text: occurs(pattern.fields[0], text),
    "regex_first_match": first_match,
    "regex_all_matches": all_matches,
    "regex_captures": captures,
    "regex_replace": replaced,
    "try_regex_set": lambda patterns: checked(patterns, Variant("regex::RegexSet", 0, (patterns,))),
    "regex_set_match": lambda patterns, text: any_match(patterns.fields[0], text),
}
