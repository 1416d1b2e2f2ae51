"""Module `regex`: a `Regex` is a struct with its pattern; compiled patterns are kept by Python's `re`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from tidelog.base.values import NONE, Variant, err, ok, some


@lru_cache(maxsize=1000)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a compiled pattern; a wrong one gives a pattern that matches nothing."""
    return re.compile(pattern) if mistake(pattern) is None else re.compile(r"(?!)")


@lru_cache(maxsize=1000)
def mistake(pattern: str) -> str | None:
    """Return what is wrong with a pattern, if something is."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"wrong pattern `{pattern}`: {error}"
    return None


def checked(patterns: Iterable[str], result: Variant) -> Variant:
    """Return the result if the patterns are right, else the first mistake."""
    wrong = next(filter(None, map(mistake, patterns)), None)
    return ok(result) if wrong is None else err(wrong)


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


def any_match(patterns: Sequence[str], text: str) -> bool:
    """Tell whether all patterns are right, and one occurs in the text."""
    return not any(map(mistake, patterns)) and any(compiled(pattern).search(text) for pattern in patterns)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "try_regex": lambda pattern: checked((pattern,), Variant("regex::Regex", 0, (pattern,))),
    "regex_match": lambda pattern, text: find(pattern, text) is not None,
    "regex_first_match": first_match,
    "regex_all_matches": all_matches,
    "regex_captures": captures,
    "regex_replace": lambda pattern, text, by: compiled(pattern.fields[0]).sub(by, text),
    "try_regex_set": lambda patterns: checked(patterns, Variant("regex::RegexSet", 0, (patterns,))),
    "regex_set_match": lambda patterns, text: any_match(patterns.fields[0], text),
}
