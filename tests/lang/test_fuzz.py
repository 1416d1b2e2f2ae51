"""Whatever the text, the parser returns a tree and reports mistakes; it never raises."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lang.strategies import fresh, modules
from tidelog.base.diagnostic import Report, render
from tidelog.base.span import Source
from tidelog.lang.format.format import format_module
from tidelog.lang.parse.lex import KEYWORDS, lex
from tidelog.lang.parse.parse import parse, parse_expression, parse_rules, parse_type
from tidelog.lang.syntax import Module

WORDS = [
    *sorted(KEYWORDS), "x", "f", "R", "Some", "index", "on", "primary", "key", "apply", "multiset", "type", "bit", "12",
    "1.5", "8'hff", "'A", '"s"', '"${', "}", "[|", "|]", "$[|", '"', "//", "/*", "*/", "\n", "\\", "#[", ":-", "::",
    "->", "=>", "==", "!=", "<=", ">=", "<<", ">>", "++", *"()[]{},;.:=<>+-*/%&|^~?@#'!$§", "\n\n", " ", "\u0000", "é",
    '"s"@en', '"s"^^x:y', '"s"^^<http://a>',
]  # fmt: skip


def check(text: str) -> None:
    source = Source("soup.dl", text)
    for entry in (parse, parse_rules, parse_expression, parse_type):
        report = Report()
        tree = entry(source, report)
        for diagnostic in report.diagnostics:
            assert diagnostic.code.startswith("E01")
            assert render(diagnostic)
        if isinstance(tree, Module) and not report.diagnostics:
            assert parse(Source("again.dl", format_module(tree)), report) == tree
            assert not report.diagnostics


@given(st.lists(st.sampled_from(WORDS), max_size=30), st.sampled_from(["", " "]))
def test_token_soup(words: list[str], glue: str) -> None:
    check(glue.join(words))


@pytest.mark.long(reason="many random texts")
@given(st.text(max_size=30))
def test_any_text(text: str) -> None:
    check(text)


@settings(max_examples=settings().max_examples // 2)
@given(fresh(modules), st.integers())
def test_damaged_programs(tree: Module, seed: int) -> None:
    """A program with some tokens removed, repeated or replaced."""
    text = format_module(tree)
    tokens = lex(Source("good.dl", text), Report())
    rng = random.Random(seed)
    pieces: list[str] = []
    position = 0
    for start, end in zip(tokens.starts, tokens.ends, strict=True):
        word = text[start:end]
        if rng.random() < 0.05:
            word = rng.choice(["", word + " " + word, rng.choice(WORDS), word + rng.choice(WORDS)])
        pieces += [text[position:start], word]
        position = end
    check("".join(pieces))


DEEP = 5000


@pytest.mark.parametrize(
    "text",
    [
        "R(" * DEEP,
        "R(" + "(" * DEEP + ")" * DEEP + ").",
        "R(" + "[" * DEEP + "]" * DEEP + ").",
        "R(" + "-" * DEEP + "1).",
        "R(" + "not " * DEEP + "true).",
        "R(" + "|x| " * DEEP + "1).",
        "R(" + "C{" * DEEP + "}" * DEEP + ").",
        "R(" + "x @ " * DEEP + "1).",
        "R(" + "return " * DEEP + "1).",
        "R(" + "f(" * DEEP + ")" * DEEP + ").",
        "R(x) :- " + "(A(x); " * DEEP,
        "function f() = " + "{" * DEEP + "}" * DEEP,
        "function f() = " + "if (true) " * DEEP + "1",
        "function f() = " + "if (true) {1} else " * DEEP + "{1}",
        "function f() = " + "for (x in y) " * DEEP + "1",
        "typedef T = " + "(" * DEEP + ")" * DEEP,
        "typedef T = " + "V<" * DEEP + "T" + ">" * DEEP,
        "typedef T = " + "function(): " * DEEP + "T",
        "for (x in R) " * DEEP + "skip",
        "for (x in R) " + "{" * DEEP + "}" * DEEP,
        "for (x in R) " + "if (true) " * DEEP + "skip",
        "for (x in R) " + "var x = 1 in " * DEEP + "skip",
        '"${' * DEEP,
        '"${' * 100 + '"' * 100,
        "/*" * DEEP,
        "R(" + "0 => 0 or 0 and 0 | 0 ^ 0 & 0 == 0 ++ 0 << 0 + 0 * (" * DEEP,
    ],
    ids=lambda text: text[:20],
)
def test_nesting_is_limited(text: str) -> None:
    report = Report()
    parse(Source("deep.dl", text), report)
    assert report.errors


@pytest.mark.long(reason="many random texts")
def test_chains_are_not_limited() -> None:
    chain = " + ".join(f"x{i}" for i in range(DEEP))
    calls = "x" + ".f(1)" * DEEP
    clauses = ", ".join(f"A{i}(x)" for i in range(DEEP))
    text = f"R({chain}, {calls}) :- {clauses}.\n"
    report = Report()
    module = parse(Source("long.dl", text), report)
    assert not report.errors
    assert format_module(parse(Source("again.dl", format_module(module)), report)) == format_module(module)
    assert not report.errors
