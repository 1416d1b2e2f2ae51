"""Module `regex`: a `Regex` is a struct with its pattern; compiled patterns are kept by Python's `re`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from tidelog.base.values import NONE, Value, Variant, err, ok, some


@lru_cache(maxsize=1000)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern; a wrong one raises ValueError."""
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"wrong pattern `{pattern}`: {error}") from None


def regex(pattern: str) -> Variant:
    """Check a pattern."""
    compiled(pattern)
    return Variant("regex::Regex", 0, (pattern,))


def regex_set(patterns: tuple[str, ...]) -> Variant:
    """Check patterns."""
    for pattern in patterns:
        compiled(pattern)
    return Variant("regex::RegexSet", 0, (patterns,))


def attempt(make: Callable[[Value], Variant], argument: Value) -> Variant:
    """Return what a function makes, or its complaint."""
    try:
        return ok(make(argument))
    except ValueError as error:
        return err(str(error))


def find(pattern: Variant, text: str) -> re.Match[str] | None:
    """Return the first match."""
    return compiled(pattern.fields[0]).search(text)


def first_match(pattern: Variant, text: str) -> Variant:
    """Return the text of the first match, if there is one."""
    found = find(pattern, text)
    return some(found[0]) if found else NONE


def all_matches(pattern: Variant, text: str) -> tuple[str, ...]:
    """Return the texts of all matches."""
    return tuple(found[0] for found in compiled(pattern.fields[0]).finditer(text))


def captures(pattern: Variant, text: str) -> Variant:
    """Return the groups of the first match, if there is one."""
    found = find(pattern, text)
    return some(tuple(map(_optional, (found[0], *found.groups())))) if found else NONE


def _optional(text: str | None) -> Variant:
    return NONE if text is None else some(text)


def any_match(patterns: Iterable[str], text: str) -> bool:
    """Tell whether a pattern occurs in the text."""
    return any(compiled(pattern).search(text) for pattern in patterns)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "regex": regex,
    "try_regex": lambda pattern: attempt(regex, pattern),
    "regex_match": lambda pattern, text: find(pattern, text) is not None,
    "regex_first_match": first_match,
    "regex_all_matches": all_matches,
    "regex_captures": captures,
    "regex_replace": lambda pattern, text, by: compiled(pattern.fields[0]).sub(by, text),
    "regex_set": regex_set,
    "try_regex_set": lambda patterns: attempt(regex_set, patterns),
    "regex_set_match": lambda patterns, text: any_match(patterns.fields[0], text),
}
