"""`parse(format(m)) == m`, formatting twice changes nothing, and no comment is lost."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lang.strategies import declarations, expressions, fresh, modules, types
from tidelog.base.diagnostic import Report, render
from tidelog.base.span import Source
from tidelog.lang.format.format import format_declaration, format_expression, format_module, format_type
from tidelog.lang.parse.lex import lex
from tidelog.lang.parse.parse import parse, parse_expression, parse_type
from tidelog.lang.syntax import Declaration, Expr, IntLiteral, Module, RuleDef, TypeExpr


def parsed(text: str) -> Module:
    report = Report()
    module = parse(Source("program.dl", text), report)
    assert not report.diagnostics, text + "\n" + "\n".join(map(render, report.diagnostics))
    return module


@given(fresh(types))
def test_types(tree: TypeExpr) -> None:
    assert parse_type(Source("type", format_type(tree)), Report()) == tree


@given(fresh(expressions))
def test_expressions(tree: Expr) -> None:
    report = Report()
    text = format_expression(tree)
    assert parse_expression(Source("expression", text), report) == tree, text


@pytest.mark.long(reason="many random texts")
@given(fresh(declarations))
def test_declarations(tree: Declaration) -> None:
    text = format_declaration(tree)
    assert parsed(text).declarations == (tree,), text
    assert format_declaration(parsed(text).declarations[0]) == text


@pytest.mark.long(reason="many random texts")
@given(fresh(modules))
def test_modules(tree: Module) -> None:
    text = format_module(tree)
    again = parsed(text)
    assert again == tree, text
    assert format_module(again) == format_module(parsed(format_module(again)))


def with_comments(text: str, seed: int) -> tuple[str, list[str]]:
    """Put comments between random tokens of a text, where that does not change its meaning."""
    rng = random.Random(seed)
    tokens = lex(Source("program.dl", text), Report())
    pieces: list[str] = []
    comments: list[str] = []
    position = 0
    for i, start in enumerate(tokens.starts):
        glued = i and tokens.ends[i - 1] == start and tokens.kinds[i - 1] in {".", ">", "::"}
        if not glued and rng.random() < 0.15:
            word = f"c{len(comments)}"
            comment = rng.choice([f"// {word}", f"/* {word} */", f"/* {word}\n   {word} */"])
            comments.append(comment)
            pieces += [text[position:start], rng.choice(["", " ", "\n", "\n\n"]), comment]
            # Only what was at the margin stays there: a capital letter at the margin begins a declaration.
            margin = start == 0 or text[start - 1] == "\n"
            pieces.append("\n" if margin else "\n " if comment.startswith("//") else rng.choice([" ", "\n "]))
            position = start
    return "".join([*pieces, text[position:]]), comments


@settings(max_examples=settings().max_examples // 2)
@given(fresh(modules), st.integers())
def test_comments(tree: Module, seed: int) -> None:
    text, comments = with_comments(format_module(tree), seed)
    module = parsed(text)
    assert module == tree, text
    formatted = format_module(module)
    again = parsed(formatted)
    assert again == tree, formatted
    assert sorted(comment.text for comment in again.comments) == sorted(comments), text + "\n===\n" + formatted
    assert format_module(again) == formatted


def test_spelling_is_kept_only_while_it_is_true() -> None:
    module = parsed("R(1_000, [|a\\b|], 'hFF).")
    assert format_module(module) == "R(1_000, [|a\\b|], 'hFF).\n"
    (rule,) = module.declarations
    assert isinstance(rule, RuleDef)
    assert format_declaration(rule) == 'R(1000, "a\\\\b", \'hff).'
    atom = rule.heads[0].atom
    assert atom.arguments
    changed = replace(atom.arguments[0], value=IntLiteral(7, span=atom.arguments[0].span))
    head = replace(rule.heads[0], atom=replace(atom, arguments=(changed, *atom.arguments[1:])))
    stale = replace(module, declarations=(replace(rule, heads=(head,)),))
    assert format_module(stale) == "R(7, [|a\\b|], 'hFF).\n"


def test_a_branch_ends_where_a_rule_over_references_begins() -> None:
    text = "input relation R() primary key (x) for (x in x) _\n\n&R().\n"
    assert format_module(parsed(text)) == text
