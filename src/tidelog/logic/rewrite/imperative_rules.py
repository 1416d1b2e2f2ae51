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
        RuleDef((syntax.Head(atom, None, atom.span),), body, rule.attributes, span) for atom, body, span in rules
    )


@dataclass(slots=True)
class _Walk:
    report: Report
    made: int = field(default=0)
    """How many variables were made up."""

    def statement(self, statement: Statement, before: Body) -> Iterator[tuple[syntax.Atom, Body, Span]]:
        match statement:
            case syntax.InsertStatement(atom, span):
                yield atom, before, span
            case syntax.SkipStatement():
                pass
            case syntax.BlockStatement(items):
                for item in items:
                    yield from self.statement(item, before)
            case syntax.VarStatement(target, value, body, span):
                assign = syntax.Assign(target, value, target.span.to(value.span))
                yield from self.statement(body, (*before, syntax.Condition(assign, assign.span)))
            case syntax.IfStatement(condition, then, otherwise, _):
                yield from self.statement(then, (*before, syntax.Condition(condition, condition.span)))
                if otherwise is not None:
                    negated = syntax.Unary("not", condition, condition.span)
                    yield from self.statement(otherwise, (*before, syntax.Condition(negated, condition.span)))
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
                clauses.append(syntax.Positive(replace(loop.atom, binding=name), loop.atom.span))
            case syntax.Wildcard():
                clauses.append(syntax.Positive(loop.atom, loop.atom.span))
            case pattern:
                row = self._fresh("row")
                clauses.append(syntax.Positive(replace(loop.atom, binding=row), loop.atom.span))
                assign = syntax.Assign(pattern, syntax.Name((row,), pattern.span), pattern.span)
                clauses.append(syntax.Condition(assign, pattern.span))
        if loop.condition is not None:
            clauses.append(syntax.Condition(loop.condition, loop.condition.span))
        return tuple(clauses)

    def _match(self, match: syntax.MatchStatement, before: Body) -> Iterator[tuple[syntax.Atom, Body, Span]]:
        span = match.subject.span
        name = self._fresh("match")
        subject = syntax.Name((name,), span)
        bound = syntax.Assign(syntax.VarDecl(name, span), match.subject, span)
        before = (*before, syntax.Condition(bound, span))
        earlier: list[tuple[Expr, Expr]] = []
        for pattern, body in match.arms:
            self._check_new(pattern, before)
            clauses = before
            if earlier:
                # With the arm's own span, so that a warning that it is never reached points to the arm.
                otherwise = (syntax.Wildcard(pattern.span), syntax.BoolLiteral(True, pattern.span))
                clauses += (syntax.Condition(syntax.Match(subject, (*earlier, otherwise), pattern.span), pattern.span),)
            if not isinstance(pattern, syntax.Wildcard):
                clauses += (syntax.Condition(syntax.Assign(pattern, subject, pattern.span), pattern.span),)
            yield from self.statement(body, clauses)
            earlier.append((without_names(pattern), syntax.BoolLiteral(False, span)))

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
