"""Tokens: numbers, strings with what they embed, comments."""

from __future__ import annotations

import time

import pytest

from tidelog.base.diagnostic import Report
from tidelog.base.span import Source
from tidelog.lang.escape import escape, unescape
from tidelog.lang.parse.lex import FLOAT, INT, SIZED, STRING, TICK, Tokens, lex


def tokens(text: str) -> Tokens:
    report = Report()
    found = lex(Source("text", text), report)
    assert not report.diagnostics
    return found


def shown(found: Tokens) -> list[object]:
    """The words, with a list of parts for each string."""
    return [
        [part if isinstance(part, str) else shown(part) for part in found.strings[i]] if i in found.strings else word
        for i, word in enumerate(found.words[:-1])
    ]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("1 1_000", [INT, INT]),
        ("1.5 1e3 1.5E-3", [FLOAT] * 3),
        ("8'd1 'hff 8'sb1_0 16'o17 32'f1 64'f1.5e3 'sd1", [SIZED] * 7),
        ("x.0.1", ["lower-case name", ".", INT, ".", INT]),
        ("1.f", [INT, ".", "lower-case name"]),
        ("'A 'Abc", [TICK, TICK]),
        ('i"a" [|b|] $[|c|] i[|d|]', [STRING] * 4),
        ("x >>= y", ["lower-case name", ">", ">", "=", "lower-case name"]),
        ("i [| |]", ["lower-case name", STRING]),
        ("a<-1", ["lower-case name", "<", "-", INT]),
    ],
)
def test_kinds(text: str, kinds: list[str]) -> None:
    assert tokens(text).kinds[:-1] == kinds


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (r'"a\tb\"\\\x41\u{e9}\0"', ['a\tb"\\Aé\0']),
        ('"a\\\n      \\ b"', ["a b"]),
        ('"a\\\n      b"', ["ab"]),
        ("[|a\\n\nb[||]", ["a\\n\nb[|"]),
        ('"a${x}b"', ["a", ["x"], "b"]),
        ('"${f("}")}"', [["f", "(", ["}"], ")"], ""]),
        (r'"${\"}\"}"', ["", [["}"]], ""]),
        (r'"${\"${\\\"c\\\"}\"}"', ["", [["", [["c"]], ""]], ""]),
        ('"${{ var x = 1; x }}"', ["", ["{", "var", "x", "=", "1", ";", "x", "}"], ""]),
        (r'"\${x} $ $$"', ["${x} $ $$"]),
        ('$[|a"${"b"}\\|]', ['a"', [["b"]], "\\"]),
    ],
)
def test_strings(text: str, parts: list[object]) -> None:
    (found,) = shown(tokens(text))
    assert isinstance(found, list)
    assert [part for part in found if part != ""] == [part for part in parts if part != ""]


def test_comments() -> None:
    found = tokens("a /* b /* c */ d */ e // f\n/**/ // g  \n")
    assert found.words == ["a", "e", ""]
    assert [comment.text for comment in found.comments] == ["/* b /* c */ d */", "// f", "/**/", "// g"]


def test_places_in_escaped_text() -> None:
    text = r'"\t${\"\\n\" ++ x}"'
    inner = tokens(text).strings[0][1]
    assert isinstance(inner, Tokens)
    start, end = inner.starts[-2], inner.ends[-2]
    assert text[start:end] == "x"


@pytest.mark.parametrize("text", ["", "plain", 'a"b', "\\", "\n\r\t\0\x7f\u2028", "${", "$", "é", "\U0001f600"])
def test_escapes_both_ways(text: str) -> None:
    escaped = escape(text)
    assert escaped.isprintable()
    assert unescape(escaped, 0, len(escaped)).text == text


@pytest.mark.parametrize(
    "text",
    ["\n" * 100_000, " \n" * 50_000, '"' + "\\ " * 50_000, '"' + "\\ \\" * 30_000, '"\\' + " " * 100_000, '"${' * 30],
    ids=["blank lines", "blanks", "escaped blanks", "gaps", "one gap", "interpolations"],
)
def test_takes_time_in_proportion_to_the_text(text: str) -> None:
    start = time.process_time()
    lex(Source("a.dl", f"R(x).\n{text}"), Report())
    assert time.process_time() - start < 2
