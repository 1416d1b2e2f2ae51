"""Rules from the imperative form: each inserted atom becomes a rule, whose body is what leads to it.

    for (h in Host(.os = os)) {                  Admin(h.name, m) :- h in Host(.os = os), os == "tide",
        if (os == "tide") {                                          var m = mail(h).
            var m = mail(h) in Admin(h.name, m)  Plain(h.name) :- h in Host(.os = os), not (os == "tide").
        } else Plain(h.name)
    }

The arm of a `match` that is taken is the first whose pattern fits, so the rule of an arm also says that the patterns
before it do not fit:

    match (e) { Some{x} -> A(x), _ -> B() }      A(x) :- var #m = e, Some{x} = #m.
                                                 B() :- var #m = e, match (#m) { Some{_} -> false, _ -> true }.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import assert_never

from tidelog.base.diagnostic import Report
from tidelog.base.span import Span
from tidelog.lang import syntax
from tidelog.lang.syntax import Clause, Expr, RuleDef, Statement
from tidelog.logic.names.patterns import pattern_names, without_names
from tidelog.logic.rewrite.rule_names import bound_names

Body = tuple[Clause, ...]


def imperative_rules(rule: syntax.ImperativeRule, report: Report) -> tuple[RuleDef, ...]:
    """Return the rules that an imperative rule stands for, one for each inserted atom."""
    rules = _Walk(report).statement(rule.statement, ())
    return tuple(
        RuleDef((syntax.Head(atom, None, span=atom.span),), body, rule.attributes, span=span)
        for atom, body, span in rules
    )


@dataclass(slots=True)
class _Walk:
    report: Report
    made: int = field(default=0)
    """How many variables were made up."""

    def statement(self, statement: Statement, before: Body) -> Iterator[tuple[syntax.Atom, Body, Span]]:
        match statement:
            case syntax.InsertStatement(atom, span=span):
                yield atom, before, span
            case syntax.SkipStatement():
                pass
            case syntax.BlockStatement(items):
                for item in items:
                    yield from self.statement(item, before)
            case syntax.VarStatement(target, value, body, span=span):
                assign = syntax.Assign(target, value, span=target.span.to(value.span))
                yield from self.statement(body, (*before, syntax.Condition(assign, span=assign.span)))
            case syntax.IfStatement(condition, then, otherwise, span=_):
                yield from self.statement(then, (*before, syntax.Condition(condition, span=condition.span)))
                if otherwise is not None:
                    negated = syntax.Unary("not", condition, span=condition.span)
                    yield from self.statement(otherwise, (*before, syntax.Condition(negated, span=condition.span)))
            case syntax.ForStatement():
                yield from self.statement(statement.body, before + self._loop(statement))
            case syntax.MatchStatement():
                yield from self._match(statement, before)
            case _:
                assert_never(statement)

    def _loop(self, loop: syntax.ForStatement) -> Body:
        clauses: list[Clause] = []
        match loop.pattern:
            case syntax.Name((name,)) | syntax.VarDecl(name):
                clauses.append(syntax.Positive(replace(loop.atom, binding=name), span=loop.atom.span))
            case syntax.Wildcard():
                clauses.append(syntax.Positive(loop.atom, span=loop.atom.span))
            case pattern:
                row = self._fresh("row")
                clauses.append(syntax.Positive(replace(loop.atom, binding=row), span=loop.atom.span))
                assign = syntax.Assign(pattern, syntax.Name((row,), span=pattern.span), span=pattern.span)
                clauses.append(syntax.Condition(assign, span=pattern.span))
        if loop.condition is not None:
            clauses.append(syntax.Condition(loop.condition, span=loop.condition.span))
        return tuple(clauses)

    def _match(self, match: syntax.MatchStatement, before: Body) -> Iterator[tuple[syntax.Atom, Body, Span]]:
        span = match.subject.span
        name = self._fresh("match")
        subject = syntax.Name((name,), span=span)
        bound = syntax.Assign(syntax.VarDecl(name, span=span), match.subject, span=span)
        before = (*before, syntax.Condition(bound, span=span))
        earlier: list[tuple[Expr, Expr]] = []
        for pattern, body in match.arms:
            self._check_new(pattern, before)
            clauses = before
            if earlier:
                # With the arm's own span, so that a warning that it is never reached points to the arm.
                otherwise = (syntax.Wildcard(span=pattern.span), syntax.BoolLiteral(True, span=pattern.span))
                clauses += (
                    syntax.Condition(
                        syntax.Match(subject, (*earlier, otherwise), span=pattern.span), span=pattern.span
                    ),
                )
            if not isinstance(pattern, syntax.Wildcard):
                clauses += (syntax.Condition(syntax.Assign(pattern, subject, span=pattern.span), span=pattern.span),)
            yield from self.statement(body, clauses)
            earlier.append((without_names(pattern), syntax.BoolLiteral(False, span=span)))

    def _check_new(self, pattern: Expr, before: Body) -> None:
        known = {name for clause in before for name, _ in bound_names(clause)}
        for name, span in pattern_names(pattern):
            if name in known:
                self.report.add(
                    "E0401",
                    f"variable `{name}` of the pattern is already in use",
                    span,
                    note="the patterns of a `match` bind new variables",
                    hint=f"choose another name, and compare it with `{name}` if they must be equal",
                )

    def _fresh(self, what: str) -> str:
        self.made += 1
        return f"#{what}{self.made}"
