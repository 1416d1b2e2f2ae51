"""The visible grammar and the parser say the same."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from tidelog.base.text.show import PRECEDENCE
from tidelog.lang.parse import parse
from tidelog.lang.parse.declarations import DeclarationParser
from tidelog.lang.parse.lex import KEYWORDS

TEXT = (Path(parse.__file__).parent / "grammar.ebnf").read_text()
PRODUCTION = re.compile(r"^([a-z_]+) = (.*?) \.$", re.MULTILINE | re.DOTALL)


def productions(text: str) -> dict[str, str]:
    plain = re.sub(r"\(\*.*?\*\)", "", text, flags=re.DOTALL)
    return {found[1]: " ".join(found[2].split()) for found in PRODUCTION.finditer(plain)}


PARSED, LEXED = map(productions, TEXT.split("(* === tokens, which the lexer makes === *)"))


def quoted(production: str) -> set[str]:
    return {a or b for a, b in re.findall(r'"([^"]+)"|\'([^\']+)\'', production)}


def quotation(method: object) -> str:
    """The production that a parser's method quotes in its docstring."""
    found = re.search(r"`([a-z_]+ = .*)`", inspect.getdoc(method) or "", re.DOTALL)
    return " ".join(found[1].split()) if found else ""


@pytest.mark.parametrize("name", PARSED)
def test_a_production_is_a_method_that_quotes_it(name: str) -> None:
    assert quotation(getattr(DeclarationParser, name)) == f"{name} = {PARSED[name]}"


def test_a_method_that_quotes_a_production_is_in_the_grammar() -> None:
    quotations = {name: quotation(method) for name, method in inspect.getmembers(DeclarationParser, inspect.isfunction)}
    assert {name for name, text in quotations.items() if text} == set(PARSED)


def test_every_name_is_defined_and_used() -> None:
    everything = PARSED | LEXED
    used = {
        word
        for production in everything.values()
        for word in re.findall(r"[a-z_]+", re.sub(r'"[^"]*"|\'[^\']*\'', "", production))
    }
    assert used <= set(everything)
    assert set(everything) - used == {"module", "goal"}


def test_operators_and_keywords() -> None:
    assert quoted(LEXED["operator"]) == set(PRECEDENCE)
    words = {word for production in PARSED.values() for word in quoted(production) if word.isalpha()}
    contextual = {
        "apply",
        "transformer",
        "type",
        "primary",
        "key",
        "index",
        "prefix",
        "on",
        "min",
        "max",
        "multiset",
        "stream",
        "bit",
        "signed",
        "s",
        "d",
        "h",
        "o",
        "b",
        "f",
    }
    assert words | {"or", "and", "Inspect"} >= KEYWORDS - {"_"}
    assert words - KEYWORDS == contextual
