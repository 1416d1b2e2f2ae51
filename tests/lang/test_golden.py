"""What each construct becomes: golden/*.txt has a text and, indented below it, its tree in short (see compact.py)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lang.compact import compact
from tidelog.base.diagnostic import Report
from tidelog.base.span import Source, Span
from tidelog.lang.parse.parse import parse, parse_expression, parse_rules, parse_type

GOLDEN = Path(__file__).parent / "golden"


def cases(name: str) -> list[tuple[str, str]]:
    lines = (GOLDEN / f"{name}.txt").read_text().splitlines()
    return [(text, tree.removeprefix("    ")) for text, tree in zip(lines[::2], lines[1::2], strict=True)]


def shown(entry: Callable[[Source, Report], object], text: str) -> str:
    report = Report()
    tree = entry(Source("text", text), report)
    assert not report.diagnostics
    return compact(tree)


@pytest.mark.parametrize(("text", "tree"), cases("expressions"))
def test_expression(text: str, tree: str) -> None:
    assert shown(parse_expression, text) == tree


@pytest.mark.parametrize(("text", "tree"), cases("types"))
def test_type(text: str, tree: str) -> None:
    assert shown(parse_type, text) == tree


@pytest.mark.parametrize(("text", "tree"), cases("declarations"))
def test_declaration(text: str, tree: str) -> None:
    assert shown(lambda source, report: parse(source, report).declarations, text) == f"[{tree}]"


def test_spans() -> None:
    text = '#[name = "n"]\nR(x, y) :- S(x), var y = x + 1. // why'
    report = Report()
    module = parse(Source("text", text), report)
    (rule,) = parse_rules(Source("text", text), report)
    assert rule.span.text == text[14:-7]
    assert rule.span.source.position(rule.span.start) == (2, 1)
    assert [comment.text for comment in module.comments] == ["// why"]
    assert isinstance(module.span, Span)
    assert module.span.text == text


def test_spans_in_escaped_interpolation() -> None:
    text = r'"a\n${\"b\" ++ (c + 1)}"'
    tree = parse_expression(Source("text", text), Report())
    assert tree is not None
    embedded = tree.parts[1]  # type: ignore[union-attr]
    assert embedded.right.span.text == "c + 1"  # type: ignore[union-attr]
