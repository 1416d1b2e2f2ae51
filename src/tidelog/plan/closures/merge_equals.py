"""Let relations of a stratum that are equal, perhaps with columns exchanged, be one.

    stratum Broader, Narrower                        stratum Broader
      Broader(x, y) :- Fact(x, y).                     Broader(x, y) :- Fact(x, y).
      Broader(x, y) :- Narrower(y, x).           =>    Broader(x, z) :- Broader(x, y), Broader(y, z).
      Broader(x, z) :- Broader(x, y), Broader(y, z).
      Narrower(y, x) :- Broader(x, y).               stratum Narrower
                                                       Narrower(y, x) :- Broader(x, y).

A relation equals another if a rule copies the other to it and one copies it back, or if it has no other rule. Then its
rules and atoms are rules and atoms of the other, and it is read off in the end. What is left is often a closure that
stands alone: an inverse makes of the simplest one a recursion in which all it derives comes back. For the engine alone:
nobody else sees the plan that comes out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from tidelog.base.expr import Var
from tidelog.base.graph import components
from tidelog.base.record import record
from tidelog.logic.program import Atom, Literal, Origin, Positive
from tidelog.logic.program import Rule as Source
from tidelog.plan.closures.split_closures import Wanted
from tidelog.plan.join.estimate import Estimate
from tidelog.plan.join.plan_rules import plan_rule
from tidelog.plan.nodes import Plan, Relation, Rule, Stratum

T = TypeVar("T")
Places = tuple[int, ...]
"""For each column of a relation the column of another that it equals."""
Known = Mapping[tuple[str, str], Rule]
"""Rules that there were before, by head and identity."""


def merge_equals(plan: Plan, wanted: Wanted, earlier: Plan | None = None) -> Plan:
    """Return the plan with equal relations merged; rules that `earlier` has too are the same objects."""
    known = {(rule.head, rule.identity): rule for s in earlier.strata for rule in s.rules} if earlier else {}
    strata = [
        one
        for stratum in plan.strata
        for one in (_merged(stratum, plan, known) if _may_merge(stratum) and wanted(stratum, plan) else [stratum])
    ]
    return plan if len(strata) == len(plan.strata) else replace(plan, strata=tuple(strata))


def read_off(stratum: Stratum) -> tuple[str, str, bool] | None:
    """Return the relation that a stratum reads off from an equal one, that one, and whether by the same columns."""
    for rule in stratum.rules:
        if rule.source is not None and rule.identity == _identity(rule.head, rule.reads[0] if rule.reads else ""):
            places = _copied(rule.source)
            return rule.head, rule.reads[0], places == tuple(range(len(rule.source.arguments)))
    return None


def _identity(name: str, other: str) -> str:
    return f"{name} as it equals {other}"


def _may_merge(stratum: Stratum) -> bool:
    return len(stratum.relations) > 1 and all(rule.source is not None for rule in stratum.rules)


@record
class _Equal:
    """A relation, one that it equals, and by which columns."""

    name: str
    other: str
    places: Places


def _merged(stratum: Stratum, plan: Plan, known: Known) -> list[Stratum]:
    """Return the strata that a stratum becomes."""
    sources = {rule.identity: rule.source for rule in stratum.rules if rule.source is not None}
    found: list[_Equal] = []
    while (equal := _find(sources, stratum.relations, plan)) is not None:
        found.append(equal)
        renamed = {identity: _renamed(source, equal) for identity, source in sources.items()}
        sources = {identity: source for identity, source in renamed.items() if not _says_nothing(source)}
    if not found:
        return [stratum]
    left = [name for name in stratum.relations if name not in {equal.name for equal in found}]
    rules = [
        rule if sources[rule.identity] == rule.source else _planned(sources[rule.identity], rule.identity, known)
        for rule in stratum.rules
        if rule.identity in sources
    ]
    merged = _strata(stratum.number, left, rules)
    for equal in reversed(found):  # an earlier one may equal a later one
        made = _planned(_copy(equal, plan.relations), _identity(equal.name, equal.other), known)
        merged.append(Stratum(stratum.number, (equal.name,), recursive=False, rules=(made,)))
    return merged


def _find(sources: Mapping[str, Source], relations: Sequence[str], plan: Plan) -> _Equal | None:
    """Return a relation that equals another, if there is one."""
    heads = [source.head for source in sources.values()]
    copies = {
        (source.head, body.atom.relation, places)
        for source in sources.values()
        for body in source.body[:1]
        if isinstance(body, Positive) and (places := _copied(source)) is not None
    }
    for name, other, places in sorted(copies):
        if other == name or other not in relations or not _same_columns(plan, name, other, places):
            continue
        back = tuple(places.index(column) for column in range(len(places)))
        if heads.count(name) == 1 or ((other, name, back) in copies and heads.count(name) <= heads.count(other)):
            return _Equal(name, other, places)
    return None


def _copied(source: Source) -> Places | None:
    """Return the columns that a rule copies, if it does nothing else and leaves none out."""
    (literal,) = source.body if len(source.body) == 1 else (None,)
    if not isinstance(literal, Positive):
        return None
    terms, head = literal.atom.arguments, source.arguments
    plain = all(isinstance(term, Var) for term in (*terms, *head)) and len(set(terms)) == len(terms) == len(head)
    return tuple(terms.index(term) for term in head) if plain and set(terms) == set(head) else None


def _same_columns(plan: Plan, name: str, other: str, places: Places) -> bool:
    mine, its = plan.relations[name].columns, plan.relations[other].columns
    return [column.type for column in mine] == [its[place].type for place in places]


def _renamed(source: Source, equal: _Equal) -> Source:
    """Return a rule with the other relation in place of one that equals it."""

    def exchanged(literal: Literal) -> Literal:
        if not isinstance(literal, Positive) or literal.atom.relation != equal.name:
            return literal
        return Positive(replace(literal.atom, relation=equal.other, arguments=_turned(literal.atom.arguments, equal)))

    mine = source.head == equal.name
    arguments = _turned(source.arguments, equal) if mine else source.arguments
    body = tuple(map(exchanged, source.body))
    return replace(source, head=equal.other if mine else source.head, arguments=arguments, body=body)


def _turned(terms: Sequence[T], equal: _Equal) -> tuple[T, ...]:
    return tuple(terms[equal.places.index(column)] for column in range(len(terms)))


def _says_nothing(source: Source) -> bool:
    """Tell whether a rule derives just what it has read."""
    (literal,) = source.body if len(source.body) == 1 else (None,)
    return isinstance(literal, Positive) and (literal.atom.relation, literal.atom.arguments) == (
        source.head,
        source.arguments,
    )


def _copy(equal: _Equal, relations: Mapping[str, Relation]) -> Source:
    """Return the rule by which a relation is read off from another."""
    columns = relations[equal.other].columns
    variables = tuple(Var(f"x{number}", column.type) for number, column in enumerate(columns))
    head = tuple(variables[place] for place in equal.places)
    origin = Origin(_identity(equal.name, equal.other))
    return Source(equal.name, head, (Positive(Atom(equal.other, variables)),), origin)


def _planned(source: Source, identity: str, known: Known) -> Rule:
    before = known.get((source.head, identity))
    return before if before is not None and before.source == source else plan_rule(source, identity, Estimate())


def _strata(number: int, names: Sequence[str], rules: Sequence[Rule]) -> list[Stratum]:
    """Return the strata of relations, each after those it reads."""
    successors: dict[str, list[str]] = {name: [] for name in names}
    for rule in rules:
        successors[rule.head] += [name for name in rule.reads if name in successors]
    found = []
    for members in components(successors):
        own = tuple(rule for rule in rules if rule.head in members)
        recursive = len(members) > 1 or any(members[0] in rule.reads for rule in own)
        found.append(Stratum(number, tuple(sorted(members)), recursive, own))
    return found
