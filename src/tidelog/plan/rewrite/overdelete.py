"""The over-deletion program of DRed (Shapiro paper, section 4, example 4.1): one rule for each body atom of a rule.

    TC(x, z) :- Edge(x, y), TC(y, z).

    -TC(x, z) :- -Edge(x, y), TC(y, z).
    -TC(x, z) :- Edge(x, y), -TC(y, z).

`-R` holds what is deleted from R, `+R` what is inserted; R itself is what it was before. A head is over-deleted as
soon as one of its derivations may be gone. The paper has positive atoms only; a derivation is also lost when what it
denies is inserted, and when the group that it sums up changes:

    H(x) :- A(x), not B(x).                     -H(x) :- A(x), +B(x).
    N(k, n) :- group v of R(k, v) by (k): ...   -N(k, n) :- -R(k, _), group v of R(k, v) by (k): ...   and with +R(k, _)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from tidelog.base.expr import Const, Var
from tidelog.logic import program as logic


def overdelete(rule: logic.Rule) -> tuple[logic.Rule, ...]:
    """Return the rules that find what may no longer be derived by a rule."""
    return tuple(
        replace(rule, head=f"-{rule.head}", body=(*rule.body[:i], *changed, *rule.body[i + 1 :]))
        for i, literal in enumerate(rule.body)
        for changed in _changes(literal)
    )


def _changes(literal: logic.Literal) -> Iterator[tuple[logic.Literal, ...]]:
    """Yield what stands for a literal in the rules for its changes."""
    match literal:
        case logic.Positive(atom):
            yield (logic.Positive(signed("-", atom)),)
        case logic.Negative(atom):
            yield (logic.Positive(signed("+", atom)),)
        case logic.Aggregate(atom, keys):
            group = replace(atom, arguments=tuple([_key(term, keys) for term in atom.arguments]))
            yield logic.Positive(signed("-", group)), literal
            yield logic.Positive(signed("+", group)), literal
        case logic.Condition() | logic.Bind() | logic.Unnest():
            pass
        case _:
            assert_never(literal)


def _key(term: logic.Term, keys: tuple[Var, ...]) -> logic.Term:
    return term if isinstance(term, Const) or term in keys else logic.Wildcard(term.type)


def signed(sign: str, atom: logic.Atom) -> logic.Atom:
    """Return an atom over what is deleted from its relation (`-`), or inserted (`+`)."""
    return replace(atom, relation=f"{sign}{atom.relation}")
