"""From the syntax tree to text, in one layout: 4 spaces, lines up to 100 characters, a clause a line if a rule is long.

`parse(format(m)) == m`, and formatting twice changes nothing. Comments are kept, and at most one empty line between
declarations. A module keeps the spelling of its literals (`1_000`, raw strings); everything else is canonical, so that
equal trees have equal texts.
"""

from __future__ import annotations

from typing import Final

from tidelog.base.diagnostic import Report
from tidelog.base.span import Source
from tidelog.lang.format.declarations import DeclarationFormatter
from tidelog.lang.format.expressions import write_type
from tidelog.lang.format.layout import render
from tidelog.lang.parse.parse import parse
from tidelog.lang.syntax import Declaration, Expr, ImperativeRule, Module, RuleDef, TypeExpr

WIDTH: Final = 100
_PASSES: Final = 4


def format_module(module: Module, width: int = WIDTH) -> str:
    r"""Write a module.

    >>> text = "relation R(x:bool) // all\nR( x ):-S(x , _),not T(x)."
    >>> print(format_module(parse(Source("a.dl", text), Report())), end="")
    relation R(x: bool) // all
    R(x) :- S(x, _), not T(x).
    """
    text = _laid_out(module, width)
    # A comment at an unusual place moves, and may be laid out otherwise where it comes to stand.
    for _ in range(_PASSES if module.comments else 0):
        report = Report()
        again = parse(Source(module.span.source.name, text), report)
        before, text = text, _laid_out(again, width)
        if text == before or report.errors:
            return before
    return text


def _laid_out(module: Module, width: int) -> str:
    source = module.span.source
    formatter = DeclarationFormatter(source if source.text else None, module.comments, faithful=True)
    return render(formatter.module(module), width)


def format_declaration(declaration: Declaration, width: int = WIDTH) -> str:
    """Write a declaration in canonical form, with its attributes and without comments."""
    return render(DeclarationFormatter().declaration(declaration), width)


def format_rule(rule: RuleDef | ImperativeRule, width: int = WIDTH) -> str:
    """Write a rule in canonical form, which identifies it: without attributes and comments."""
    formatter = DeclarationFormatter()
    written = formatter.rule(rule) if isinstance(rule, RuleDef) else formatter.statement(rule.statement)
    return render(written, width)


def format_expression(expression: Expr, width: int = WIDTH) -> str:
    """Write an expression in canonical form.

    >>> from tidelog.lang.syntax import Binary, IntLiteral, Name
    >>> x = Name(("x",))
    >>> format_expression(Binary("*", Binary("+", x, IntLiteral(1)), x))
    '(x + 1) * x'
    """
    return render(DeclarationFormatter().expression(expression), width)


def format_type(type: TypeExpr) -> str:
    """Write a type.

    >>> from tidelog.lang.syntax import SizedType, TypeName
    >>> format_type(TypeName(("Vec",), (SizedType("bit", 8),)))
    'Vec<bit<8>>'
    """
    return write_type(type)
