"""The alternative-derivation program of DRed (Shapiro paper, section 4, example 4.2): one rule for each rule.

    TC(x, z) :- Edge(x, y), TC(y, z).

    +TC(x, z) :- -TC(x, z), Edge(x, y), TC(y, z).

`-TC` is what was over-deleted, and every other relation what is left without it; `+TC` is to be put back. A head that
computes is compared: `H(x + 1) :- R(x).` gives `+H(x + 1) :- -H('0), R(x), '0 == x + 1.`

This is the rule as a program; `rederive` is its plan, which begins at the over-deleted tuples.
"""

from __future__ import annotations

from dataclasses import replace

from tidelog.base.expr import Const, Expr, Var
from tidelog.logic.program import Atom, Condition, Positive, Rule
from tidelog.plan.join.assemble import equal
from tidelog.plan.rewrite.overdelete import signed


def derive_again(rule: Rule) -> Rule:
    """Return the rule that finds over-deleted tuples which a rule still derives."""
    terms = tuple([head_term(column, argument) for column, argument in enumerate(rule.arguments)])
    pairs = zip(terms, rule.arguments, strict=True)
    computed = [Condition(equal(term, argument)) for term, argument in pairs if term is not argument]
    deleted = Positive(signed("-", Atom(rule.head, terms)))
    return replace(rule, head=f"+{rule.head}", body=(deleted, *rule.body, *computed))


def head_term(column: int, expression: Expr) -> Var | Const:
    """Return a column of a head as the term of an atom: itself, or a fresh variable for a computed one."""
    match expression:
        case Var() | Const():
            return expression
        case _:
            return Var(f"'{column}", expression.type)
