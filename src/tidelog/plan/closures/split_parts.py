"""Let closures of a part of a relation, of triples by property for instance, be modules beside all other rules.

    P(x, "in", z) :- P(x, "in", y), P(y, "in", z).      Fed(x, "in", y) :- P(x, "in", y).
                                                  =>    Closed is Fed, closed
                                                        P(x, "in", y) :- Closed(x, "in", y).

    P(x, p, z) :- Transitive(p), P(x, p, y), P(y, p, z).   Fed(x, p, y) :- Transitive(p), P(x, p, y).
                                                  =>       Closed is Fed, closed by p
                                                           P(x, p, y) :- Closed(x, p, y).

The part is said by constants and by whatever else the rule asks of its other columns: they are the same in its two
atoms and in its head. So no other rule is touched, a relation may have any number of such parts, and they may overlap.
All that are closed alike, by the same columns, are one module, which keeps apart what differs in other columns: what a
commit costs grows with the relations of a stratum, and a rule more or less is a change of this one. What the module derives comes back as an edge; that is one look at each tuple, and no work for the module. For the
engine alone: nobody else sees the plan that comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations, product

from tidelog.base.expr import Const, Operate, Var
from tidelog.base.record import record
from tidelog.base.types import Bool
from tidelog.logic.program import Atom, Condition, Literal, Negative, Positive
from tidelog.logic.program import Rule as Source
from tidelog.plan.closures.recognise import Closure, Form, Kind, chain, closure_of
from tidelog.plan.closures.split_closures import Wanted
from tidelog.plan.closures.split_modules import ClosureRule, closing_rule
from tidelog.plan.join.estimate import Estimate
from tidelog.plan.join.plan_rules import plan_rule
from tidelog.plan.nodes import Plan, Relation, Rule, Stratum

Terms = tuple[Var | Const, ...]
Known = Mapping[tuple[str, str], Rule]
Place = tuple[int, int, tuple[int, ...], tuple[tuple[int, Const], ...]]


@record
class Part:
    """The transitive rule of a part of a relation: one of its atoms, what else it asks, where the closure lives."""

    rule: Rule
    terms: Terms
    others: tuple[Literal, ...]
    place: Place
    symmetric: Rule | None = None

    @property
    def kind(self) -> Kind:
        """What the part is closed under."""
        return Kind.TRANSITIVE if self.symmetric is None else Kind.SYMMETRIC_TRANSITIVE

    @property
    def module(self) -> str:
        """The module that closes the part, with all parts of the relation that are closed alike."""
        return f"{self.kind.value} {self.place[0]} {self.place[1]}"


def parts(stratum: Stratum) -> tuple[Part, ...]:
    """Return the closures of parts of relations in a stratum that is not a closure and nothing else."""
    if not stratum.recursive or closure_of(stratum) is not None:
        return ()
    found = (_part(rule, stratum) for rule in stratum.rules)
    return tuple(part for part in found if part is not None)


def split_parts(plan: Plan, wanted: Wanted, earlier: Plan | None = None) -> Plan:
    """Return the plan with closures of parts as modules; rules that `earlier` has too are the same objects."""
    known = {(rule.head, rule.identity): rule for s in earlier.strata for rule in s.rules} if earlier else {}
    relations = dict(plan.relations)
    strata = []
    for stratum in plan.strata:
        found = parts(stratum) if wanted(stratum, plan) else ()
        gone = {id(rule) for part in found for rule in (part.rule, part.symmetric)}
        rules = [_narrowed(rule, found, known) for rule in stratum.rules if id(rule) not in gone]
        names = list(stratum.relations)
        for alike in _alike(found):
            own, name = relations[alike[0].rule.head], alike[0].module
            fed, closed = (
                replace(own, name=f"{own.name}#{what} {name}", role="internal", primary_key=None, auxiliary=True)
                for what in ("fed", "closed")
            )
            relations |= {fed.name: fed, closed.name: closed}
            names += [fed.name, closed.name]
            rules += _module(alike, own, fed, closed, known)
        strata.append(replace(stratum, relations=tuple(names), rules=tuple(rules)) if found else stratum)
    return replace(plan, relations=relations, strata=tuple(strata)) if len(relations) > len(plan.relations) else plan


def _alike(found: Sequence[Part]) -> list[list[Part]]:
    """Return parts of the same relation in the same columns, closed alike, together."""
    alike: dict[tuple[str, str], list[Part]] = {}
    for part in found:
        alike.setdefault((part.rule.head, part.module), []).append(part)
    return list(alike.values())


def _module(alike: Sequence[Part], own: Relation, fed: Relation, closed: Relation, known: Known) -> Iterator[Rule]:
    """Yield the rules that make parts one module: each feeds it, and what is closed comes back."""
    first = alike[0]
    for part in alike:
        body = (*part.others, Positive(Atom(own.name, part.terms)))
        yield _planned(Source(fed.name, part.terms, body, part.rule.origin), part.rule.identity, known)
    every = tuple(Var(f"x{number}", column.type) for number, column in enumerate(own.columns))
    back = Source(own.name, every, (Positive(Atom(closed.name, every)),), first.rule.origin)
    yield _planned(back, closed.name, known)
    source, target, *_ = first.place
    constants = tuple(one for one in first.place[3] if all(one in part.place[3] for part in alike))
    partition = tuple(c for c in range(len(every)) if c not in (source, target, *(column for column, _ in constants)))
    rules = tuple(rule for part in alike for rule in (part.rule, part.symmetric) if rule is not None)
    closure = Closure(
        closed.name, first.kind, Form.NONLINEAR, source, target, partition, constants, rules, (), (), (), True, False
    )
    closing = closing_rule(closure, closed, fed)
    before = known.get((closing.head, closing.identity))
    yield before if isinstance(before, ClosureRule) else closing


def _planned(source: Source, identity: str, known: Known) -> Rule:
    before = known.get((source.head, identity))
    return before if before is not None and before.source == source else plan_rule(source, identity, Estimate())


def _part(rule: Rule, stratum: Stratum) -> Part | None:
    """Return the part that a rule makes transitive, if it does that and nothing else."""
    source = rule.source
    head = _plain(source.arguments) if source is not None else None
    if source is None or head is None:
        return None
    own = [one for one in source.body if isinstance(one, Positive) and one.atom.relation == rule.head]
    for first, second in permutations(own, 2):
        left, right = _plain(first.atom.arguments), _plain(second.atom.arguments)
        place = chain(head, left, right) if left is not None and right is not None else None
        if place is None or left is None:
            continue
        x, y, z = head[place[0]], left[place[1]], head[place[1]]
        inner = {x, y, z}
        rest = (literal for literal in source.body if literal is not first and literal is not second)
        # A step from a node to itself leads nowhere new: a rule may leave it out.
        others = tuple(literal for literal in rest if _unequal(literal) not in ({x, y}, {y, z}))
        if not all(_is_apart(literal, inner) for literal in others) or not (others or place[3]):
            continue
        turned = (
            None
            if others
            else next((one for one in stratum.rules if one.head == rule.head and _turns(one, place)), None)
        )
        return Part(rule, left, others, place, turned)
    return None


def _narrowed(rule: Rule, found: Sequence[Part], known: Known) -> Rule:
    """Let a rule that replaces equals by equals leave out the tuples that say what is equal: these are closed already.

    P(y, p, o) :- P(x, "same", y), P(x, p, o).   =>   P(y, p, o) :- P(x, "same", y), P(x, p, o), p != "same".
    """
    source = rule.source
    for part in found if source is not None else ():
        assert source is not None
        for column, constant in part.place[3] if _replaces(source, part) else ():
            term = source.arguments[column]
            if isinstance(term, Var):
                source = replace(source, body=(*source.body, Condition(Operate("!=", (term, constant), Bool()))))
    if source is None or source is rule.source:
        return rule
    return _planned(source, rule.identity, known)


def _replaces(source: Source, part: Part) -> bool:
    """Tell whether a rule replaces a node in one of the two columns of a part by one of the same component."""
    begin, end, partition, constants = part.place
    head = _plain(source.arguments)
    if part.symmetric is None or partition or head is None or source.head != part.rule.head:
        return False
    own = [one.atom.arguments for one in source.body if isinstance(one, Positive) and one.atom.relation == source.head]
    for equal, other in permutations(own, 2):
        pair, terms = _plain(equal), _plain(other)
        if pair is None or terms is None or any(pair[column] != constant for column, constant in constants):
            continue
        nodes = pair[begin], pair[end]
        for column, (old, new) in product((begin, end), (nodes, nodes[::-1])):
            if terms[column] == old and old != new and (*terms[:column], new, *terms[column + 1 :]) == head:
                return True
    return False


def _plain(terms: tuple[object, ...]) -> Terms | None:
    found = tuple(term for term in terms if isinstance(term, Var | Const))
    return found if len(found) == len(terms) else None


def _unequal(literal: Literal) -> set[Var] | None:
    """Return the two variables that a condition says are not equal."""
    match literal:
        case Condition(Operate("!=", (Var() as one, Var() as other))):
            return {one, other}
        case _:
            return None


def _is_apart(literal: Literal, inner: set[Var | Const]) -> bool:
    """Tell whether a literal is an atom or a condition that says nothing of the nodes of a closure."""
    match literal:
        case Positive(atom) | Negative(atom):
            return inner.isdisjoint(term for term in atom.arguments if isinstance(term, Var | Const))
        case _:
            return False


def _turns(rule: Rule, place: Place) -> bool:
    """Tell whether a rule makes a part symmetric."""
    source = rule.source
    if source is None or len(source.body) != 1 or not isinstance(source.body[0], Positive):
        return False
    atom, head = source.body[0].atom, _plain(source.arguments)
    body = _plain(atom.arguments)
    if atom.relation != rule.head or head is None or body is None:
        return False
    begin, end, partition, constants = place
    turned = list(body)
    turned[begin], turned[end] = turned[end], turned[begin]
    free = [head[begin], head[end], *(head[column] for column in partition)]
    same = tuple(turned) == head and all(head[column] == constant for column, constant in constants)
    return same and all(isinstance(term, Var) for term in free) and len(set(free)) == len(free)
