"""Recognise same generation: a relation whose pairs two relations lead on from, side by side.

    S(x, y) :- L(a, x), S(a, b), R(b, y).
    S(x, y) :- L(b, x), S(a, b), R(a, y).      crossed: each side goes on from the other ("reverse same generation")

with the atoms in any order, steps written either way (`L(x, a)`), and perhaps `x != y`. S is what its other rules,
which do not read it, derive, and what is reached from there. L and R are from below the stratum and may be the same.
"""

from __future__ import annotations

from tidelog.base.expr import Expr, Operate, Var
from tidelog.base.record import record
from tidelog.plan.closures.classify import recursive_scans
from tidelog.plan.closures.recognise import head_terms
from tidelog.plan.join.spine import spine
from tidelog.plan.nodes import Join, Product, Project, Rule, Scan, Select, Stratum

Step = tuple[Scan, tuple[int, int]]
"""The scan of a step relation, and its columns to come from and to go to."""


@record
class SameGeneration:
    """A relation that is nothing but same generation: its rule, the other rules that feed it, and its steps.

    `first` makes the first column of the head and `second` the second, from the same column of the body's atom or, if
    they are `crossed`, from the other one. `apart` if the rule asks for two different values.
    """

    relation: str
    rule: Rule
    feeds: tuple[Rule, ...]
    first: Step
    second: Step
    crossed: bool
    apart: bool


def same_generation(stratum: Stratum) -> SameGeneration | None:
    """Return the same generation that a stratum is, if it is nothing else."""
    if not stratum.recursive or len(stratum.relations) != 1:
        return None
    recursive = [rule for rule in stratum.rules if recursive_scans(rule, stratum)]
    if len(recursive) != 1:
        return None
    (rule,) = recursive
    head, atoms = head_terms(rule), _atoms(rule)
    if head is None or atoms is None or len(head) != 2:
        return None
    scans, conditions = atoms
    own = [scan for scan in scans if scan.relation == rule.head]
    if len(scans) != 3 or len(own) != 1:
        return None
    x, y = head
    a, b = own[0].terms
    names = {term for term in (x, y, a, b) if isinstance(term, Var)}
    if len(names) != 4 or len({term.type for term in names}) != 1:
        return None
    apart = [sorted(_different(condition)) for condition in conditions]
    if any(pair != sorted(term.name for term in head if isinstance(term, Var)) for pair in apart):
        return None
    steps = [scan for scan in scans if scan is not own[0]]
    for first, second in (steps, steps[::-1]):
        for crossed, (from_first, from_second) in ((False, (a, b)), (True, (b, a))):
            one, other = _step(first, from_first, x), _step(second, from_second, y)
            if one is not None and other is not None:
                feeds = tuple(feed for feed in stratum.rules if feed is not rule)
                return SameGeneration(rule.head, rule, feeds, one, other, crossed, bool(apart))
    return None


def _atoms(rule: Rule) -> tuple[list[Scan], list[Expr]] | None:
    """Return the atoms and conditions of a body that has nothing else."""
    found: list[Scan] = []
    conditions: list[Expr] = []
    for node in spine(rule.body):
        match node:
            case Scan():
                found.append(node)
            case Join(right=Scan() as scan) | Product(right=Scan() as scan):
                found.append(scan)
            case Select(condition=condition):
                conditions.append(condition)
            case Project():
                pass
            case _:
                return None
    return found, conditions


def _different(condition: Expr) -> list[str]:
    """Return the names of two variables that a condition says are different."""
    match condition:
        case Operate("!=", (Var(one), Var(other))):
            return [one, other]
        case _:
            return []


def _step(scan: Scan, near: object, far: object) -> Step | None:
    """Return the columns of a step, if its only variables are these two, each once."""
    variables = [term for term in scan.terms if isinstance(term, Var)]
    if len(variables) != 2 or near not in variables or far not in variables:
        return None
    return scan, (scan.terms.index(near), scan.terms.index(far))
