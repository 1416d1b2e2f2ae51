"""Regular expressions: Rust's syntax on RE2, and what is wrong is an error wherever it is used."""

from __future__ import annotations

import pytest

from tests.std.evaluating import evaluate
from tidelog.base.errors import EvaluationError
from tidelog.base.values import Variant
from tidelog.logic.std.texts.patterns import all_matches, mistake, occurs
from tidelog.logic.std.texts.rust_patterns import translated

TEXT = "Ünï_1 ΑΒΓ\t٣\u2003x-y"
FOUND = {
    r"\w+": ["Ünï_1", "ΑΒΓ", "٣", "x", "y"],
    r"\W+": [" ", "\t", "\u2003", "-"],
    r"[\W]+": [" ", "\t", "\u2003", "-"],
    r"[^\W\d]+": ["Ünï_", "ΑΒΓ", "x", "y"],
    r"\d": ["1", "٣"],
    r"(?-u:\d)": ["1"],
    r"[^\S\t]": [" ", "\u2003"],
    r"\pL+": ["Ünï", "ΑΒΓ", "x", "y"],
    r"\p{Uppercase_Letter}": ["Ü", "Α", "Β", "Γ"],
    r"\p{sc=greek}+": ["ΑΒΓ"],
    r"(?i)\x{dc}N": ["Ün"],
    r"\u{3a9}|Γ": ["Γ"],
    r"(?x) [ A-Z x ] # letters": ["x"],
    r"(?x: \d ) Α": ["1 Α"],
    "[]x-]": ["x", "-"],
}


@pytest.mark.parametrize("pattern", FOUND)
def test_patterns_of_rust(pattern: str) -> None:
    assert list(all_matches(Variant("regex::Regex", 0, (pattern,)), TEXT)) == FOUND[pattern]


@pytest.mark.parametrize(
    "pattern",
    ["(", ")", "[a", "\\", "a{", "a{x}", r"\1", r"\Q", r"\<", r"\b{start}", "(?=a)", "(?<=a)", "(?R)a", "(?z)",
     "[a&&b]", "[a[b]]", "[a--b]", "a**", r"\p{Alphabetic}", r"\p{scx=Greek}", r"\p{Nothing}", r"\x{110000}",
     "(?<n>a)(?<n>b)", "(?:a{1000}){1000}", "a" * 70_000],
)  # fmt: skip
def test_wrong_patterns_are_refused(pattern: str) -> None:
    assert mistake(pattern) is not None


@pytest.mark.parametrize(
    "expression",
    ['regex("(").regex_match("(")', 'regex_set(["a", "("]).regex_set_match("a")', 'regex("[").regex_replace("a", "b")'],
)
def test_using_a_wrong_pattern_is_an_error(expression: str) -> None:
    with pytest.raises(EvaluationError, match="wrong pattern"):
        evaluate([expression], "import regex")


def test_any_pattern_takes_time_in_proportion_to_the_text() -> None:
    assert not occurs("^(a+)+$", "a" * 1_000_000 + "b")


def test_what_stands_between_groups_is_not_changed() -> None:
    assert translated(r"(?P<a>x{2,3})|(?i-s:y)?") == r"(?P<a>x{2,3})|(?i-s:y)?"
