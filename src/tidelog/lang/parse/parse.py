"""From text to the syntax tree. Reports every mistake it finds, and always returns what it understood.

The grammar is `grammar.ebnf` beside this file; each production is one method of the parser classes, which are a chain:
`cursor` <- `types` <- `literals` <- `expressions` <- `blocks` <- `rules` <- `statements` <- `functions` <-
`declarations`.
Hand-written, so that a mistake can be met where it is made.
"""

from __future__ import annotations

from collections.abc import Callable

from tidelog.base.diagnostic import Report
from tidelog.base.process.gc_pause import collector_paused
from tidelog.base.span import Source, Span
from tidelog.lang.parse.cursor import Failure, Item
from tidelog.lang.parse.declarations import DeclarationParser
from tidelog.lang.parse.lex import END, lex
from tidelog.lang.syntax import Expr, ImperativeRule, Module, RuleDef, TypeExpr


def parse(source: Source, report: Report) -> Module:
    r"""Parse a whole program.

    >>> module = parse(Source("a.dl", "relation R(x: bool)\nR(true)."), Report())
    >>> [type(declaration).__name__ for declaration in module.declarations]
    ['RelationDef', 'RuleDef']
    """
    with collector_paused():  # to visit the tree again and again doubles the time
        parser = DeclarationParser(lex(source, report), report)
        declarations = parser.module()
    comments = tuple(sorted(parser.comments, key=lambda comment: comment.span.start))
    return Module(declarations, comments, span=Span(source, 0, len(source.text)))


def parse_rules(source: Source, report: Report) -> tuple[RuleDef | ImperativeRule, ...]:
    """Parse a text of rules and facts only; anything else is a mistake.

    >>> [rule.heads[0].atom.relation for rule in parse_rules(Source("rules", "R(1). R(2) :- S(2)."), Report())]
    [('R',), ('R',)]
    """
    rules: list[RuleDef | ImperativeRule] = []
    for declaration in parse(source, report).declarations:
        if isinstance(declaration, RuleDef | ImperativeRule):
            rules.append(declaration)
        else:
            report.add(
                "E0127",
                "only rules and facts can stand here",
                declaration.span,
                note="types, functions and relations are declared in the program",
            )
    return tuple(rules)


def parse_goal(source: Source, report: Report) -> tuple[RuleDef, tuple[str, ...]] | None:
    """Parse a goal, as a rule without head, and name its parameters in order; None if it is mistaken.

    >>> parse_goal(Source("goal", "Reach($from, x), not Blocked(x)"), Report())[1]
    ('$from',)
    """
    parameters: dict[str, None] = {}
    body = _alone(DeclarationParser.goal, source, report, parameters)
    return None if body is None else (RuleDef((), body, (), span=Span(source, 0, len(source.text))), tuple(parameters))


def parse_expression(source: Source, report: Report) -> Expr | None:
    """Parse one expression; None if it is mistaken.

    >>> parse_expression(Source("e", "x + 1"), Report())
    Binary(operator='+', left=Name(path=('x',)), right=IntLiteral(value=1, width=None, signed=False, radix=10))
    """
    return _alone(DeclarationParser.expression, source, report)


def parse_type(source: Source, report: Report) -> TypeExpr | None:
    """Parse one type; None if it is mistaken.

    >>> parse_type(Source("t", "bit<8>"), Report())
    SizedType(kind='bit', width=8)
    """
    return _alone(DeclarationParser.type_expression, source, report)


def _alone(
    production: Callable[[DeclarationParser], Item],
    source: Source,
    report: Report,
    parameters: dict[str, None] | None = None,
) -> Item | None:
    """Parse a text that is one production; None if it is mistaken."""
    parser = DeclarationParser(lex(source, report, parameters), report)
    try:
        found = production(parser)
        parser.expect(END)
    except Failure:
        return None
    except RecursionError:  # within MAX_DEPTH, but the caller's stack was deep already; or looking ahead
        report.add("E0107", "this is nested too deeply", parser.span_at(0))
        return None
    return None if report.errors else found
