"""Datalog as a rewriting system, by definition (paper 000, section 3): the slow twin of the interpreter.

A *substitution* gives a variable a value, a *rewrite* is a set of substitutions, none for the same variable. The
*rewrite product* extends each rewrite of a set by each fact that fits an atom; applied to the head, the rewrites that
have come through the whole body are the immediate consequences of a rule. A negated atom keeps the rewrites that no
fact fits. `least_model` is the least fixed point, level by level of negation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from tidelog.run.dbsp.terms import ANY, Atom, Fact, Rule, Var, levels

Rewrite = Mapping[str, Any]
"""From the names of variables to values."""


def combine(a: Rewrite, b: Rewrite) -> Rewrite:
    """Return both rewrites; where they differ the first counts (Definition 3.1)."""
    return {**b, **a}


def apply(rewrite: Rewrite, atom: Atom) -> Atom:
    """Return an atom with the variables of a rewrite replaced by their values.

    >>> print(apply({"x": "a", "y": "b", "z": "c"}, Atom("P", (Var("x"), Var("y")))))
    P("a", "b")
    """
    terms = (rewrite.get(term.name, term) if isinstance(term, Var) else term for term in atom.terms)
    return Atom(atom.relation, tuple(terms), atom.negated)


def unify(atom: Atom, fact: Fact) -> Rewrite | None:
    """Return the values that variables of an atom have in a fact, or None if the fact does not fit."""
    found: dict[str, Any] = {}
    if fact.relation != atom.relation or len(fact.values) != len(atom.terms):
        return None
    for term, value in zip(atom.terms, fact.values, strict=True):
        if term == ANY:
            continue
        if isinstance(term, Var):
            if found.setdefault(term.name, value) != value:
                return None
        elif term != value:
            return None
    return found


def product(rewrites: Iterable[Rewrite], atom: Atom, facts: Collection[Fact]) -> Iterator[Rewrite]:
    """Yield the rewrite product of a set of rewrites and an atom (Definition 3.2)."""
    for rewrite in rewrites:
        applied = apply(rewrite, atom)
        fitting = [found for fact in facts if (found := unify(applied, fact)) is not None]
        if atom.negated:
            if not fitting:
                yield rewrite
        else:
            yield from (combine(rewrite, found) for found in fitting)


def consequences(rules: Iterable[Rule], facts: Collection[Fact]) -> set[Fact]:
    """Return the immediate consequences of a program: what its rules make of some facts."""
    found = set()
    for rule in rules:
        rewrites: Iterable[Rewrite] = [{}]
        for atom in rule.body:
            rewrites = product(rewrites, atom, facts)
        found |= {Fact(rule.head.relation, apply(rewrite, rule.head).terms) for rewrite in rewrites}
    return found


def least_model(rules: Collection[Rule], facts: Collection[Fact]) -> set[Fact]:
    """Return the facts and all that follows from them."""
    known = set(facts)
    at = levels(rules)
    for level in sorted(set(at.values())):
        upto = [rule for rule in rules if at[rule] <= level]
        while not (new := consequences(upto, known)) <= known:
            known |= new
    return known
