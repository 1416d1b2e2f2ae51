"""A small notation for typed programs, so that tests of planning need neither parser nor checker.

    H(x, z) :- R(x, y), S(y, z, 1), not T(z, _), w = z + 1, v in f(w), n = sum(w) by z of G(z, w), z > 3.

Everything is a bigint; an expression is an operand, or two with an operator between; `f(...)` is a call. Relations are
declared by their use; those with rules are internal, the others inputs. A name with `#` is auxiliary.
"""

from __future__ import annotations

import re

from tidelog.base import types
from tidelog.base.diagnostic import Report
from tidelog.base.expr import Call, Const, Expr, Operate, Var
from tidelog.base.span import Source, Span
from tidelog.base.types import BIGINT, BOOL, Field, Named
from tidelog.logic.program import (
    Aggregate,
    Atom,
    Bind,
    Condition,
    Index,
    Literal,
    Negative,
    Origin,
    Positive,
    Program,
    Relation,
    Rule,
    Unnest,
    Wildcard,
)
from tidelog.plan.nodes import Plan
from tidelog.plan.passes import plan_program

_ATOM = re.compile(r"([A-Z][\w#]*)\((.*)\)")
_AGGREGATE = re.compile(r"(\w+) = (\w+)\((.*)\) by ([\w ,]*) of (.*)", re.DOTALL)


def program(text: str, indexes: tuple[Index, ...] = ()) -> Program:
    """Read a whole program, one rule after the other, each ending in a full stop at the end of a line."""
    source = Source("small.dl", text)
    found = re.finditer(r"(?:#\[(\w+)\] )?([A-Z].*?\.)$", text, re.MULTILINE | re.DOTALL)
    rules = [_rule(each[2], each[1], source, each.start(2)) for each in found]
    arities: dict[str, int] = {}
    for each in rules:
        arities[each.head] = len(each.arguments)
    for each in rules:
        for literal in each.body:
            if isinstance(literal, Positive | Negative | Aggregate):
                arities.setdefault(literal.atom.relation, len(literal.atom.arguments))
    heads = {each.head for each in rules}
    relations = {
        name: Relation(
            name,
            "internal" if name in heads else "input",
            tuple(Field("abcdefgh"[i], BIGINT) for i in range(arity)),
            types.Tuple((BIGINT,) * arity),
            auxiliary="#" in name,
        )
        for name, arity in arities.items()
    }
    return Program({}, relations, {}, tuple(rules), {index.name: index for index in indexes})


def rule(text: str) -> Rule:
    """Read one rule."""
    return _rule(text, None, Source("small.dl", text), 0)


def plan(text: str) -> Plan:
    """Read and plan a program."""
    report = Report()
    planned = plan_program(program(text), report)
    assert planned is not None, report.diagnostics
    return planned


def _rule(text: str, name: str | None, source: Source, start: int) -> Rule:
    origin = Origin(text, name, span=Span(source, start, start + len(text)))
    head, _, body = text.removesuffix(".").partition(":-")
    relation, arguments = _parts(head.strip())
    literals = []
    offset = start + len(head) + 2
    for piece in _split(body):
        stripped = piece.strip()
        if stripped:
            at = offset + piece.index(stripped)
            literals.append(_literal(stripped, Span(source, at, at + len(stripped))))
        offset += len(piece) + 1
    return Rule(relation, tuple(expression(a) for a in arguments), tuple(literals), origin)


def _literal(text: str, span: Span) -> Literal:
    if text.startswith("not "):
        return Negative(_atom(text[4:], span))
    if found := _AGGREGATE.fullmatch(text):
        keys = tuple(_variable(key) for key in found[4].replace(" ", "").split(",") if key)
        group = Var("group", Named(types.GROUP, (BIGINT, BIGINT)))
        reduce = Call(found[2], (group,), BIGINT)
        return Aggregate(
            _atom(found[5], span), keys, expression(found[3]), group, reduce, _variable(found[1]), span=span
        )
    if _ATOM.fullmatch(text):
        return Positive(_atom(text, span))
    if found := re.fullmatch(r"(\w+) = (.*)", text, re.DOTALL):
        return Bind(_variable(found[1]), expression(found[2]), span=span)
    if found := re.fullmatch(r"(\w+) in (.*)", text, re.DOTALL):
        return Unnest(_variable(found[1]), expression(found[2]), span=span)
    return Condition(expression(text), span=span)


def _atom(text: str, span: Span) -> Atom:
    relation, arguments = _parts(text)
    return Atom(relation, tuple(Wildcard(BIGINT) if a == "_" else _term(a) for a in arguments), span=span)


def _term(text: str) -> Var | Const:
    return Const(int(text), BIGINT) if re.fullmatch(r"-?\d+", text) else _variable(text)


def _variable(text: str) -> Var:
    return Var(text.strip(), BIGINT)


def expression(text: str) -> Expr:
    """Read an expression."""
    text = text.strip()
    if " and " in text:
        left, right = text.split(" and ", 1)
        return Operate("and", (expression(left), expression(right)), BOOL)
    if found := re.fullmatch(r"([a-z]\w*)\((.*)\)", text):
        return Call(found[1], tuple(expression(a) for a in _split(found[2]) if a.strip()), BIGINT)
    for operators, type in (("==|!=|<=|>=|<|>", BOOL), (r"\+|-", BIGINT), (r"\*|/|%", BIGINT)):
        if found := re.fullmatch(rf"(.+?) ({operators}) (.+)", text):
            return Operate(found[2], (expression(found[1]), expression(found[3])), type)
    return _term(text)


def _parts(text: str) -> tuple[str, list[str]]:
    found = _ATOM.fullmatch(text)
    assert found is not None, text
    return found[1], [a.strip() for a in _split(found[2]) if a.strip()]


def _split(text: str) -> list[str]:
    """Split at commas outside parentheses; the keys of an aggregate are separated by commas too."""
    pieces, depth, last = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == "," and not depth and not re.search(r" by [\w ,]*$", text[last:i]):
            pieces.append(text[last:i])
            last = i + 1
    return [*pieces, text[last:]]
