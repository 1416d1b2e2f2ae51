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
commit costs grows with the relations of a stratum, and a rule more or less is a change of this one. What the module
derives comes back as an edge; that is one look at each tuple, and no work for the module. A symmetric part says what is
equal; rules that replace equals are a module, too (`replace_equals`). For the engine alone: nobody else sees the plan
that comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

from tidelog.base.expr import Const, Var
from tidelog.base.record import record
from tidelog.logic.program import Atom, Literal, Negative, Positive
from tidelog.logic.program import Rule as Source
from tidelog.plan.closures.recognise import Closure, Form, Kind, chain, closure_of
from tidelog.plan.closures.replace_equals import Replaced, Terms, plain, replacing, replacing_rule, unequal
from tidelog.plan.closures.split_closures import Wanted
from tidelog.plan.closures.split_modules import ClosureRule, closing_rule
from tidelog.plan.join.estimate import Estimate
from tidelog.plan.join.plan_rules import plan_rule
from tidelog.plan.nodes import Plan, Relation, Rule, Stratum

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
    strata = [_divided(stratum, relations, known) if wanted(stratum, plan) else stratum for stratum in plan.strata]
    return replace(plan, relations=relations, strata=tuple(strata)) if len(relations) > len(plan.relations) else plan


def _divided(stratum: Stratum, relations: dict[str, Relation], known: Known) -> Stratum:
    """Return a stratum with its parts as modules, whose relations are added to those there are."""
    found = parts(stratum)
    if not found:
        return stratum
    gone = {id(rule) for part in found for rule in (part.rule, part.symmetric)}
    equals = [(part, one) for part in found for one in replaced(stratum, part)]
    taken = [(part, one) for part, one in equals if one.alone]
    gone |= {id(one.rule) for _, one in taken}
    narrowed = {
        id(one.rule): _planned(one.narrowed(part.place[3]), one.rule.identity, known)
        for part, one in equals
        if id(one.rule) not in gone
    }
    rules = [narrowed.get(id(rule), rule) for rule in stratum.rules if id(rule) not in gone]
    names = list(stratum.relations)

    def beside(own: Relation, module: str) -> tuple[Relation, Relation]:
        fed, closed = (
            replace(own, name=f"{own.name}#{what} {module}", role="internal", primary_key=None, auxiliary=True)
            for what in ("fed", "closed")
        )
        relations[fed.name], relations[closed.name] = fed, closed
        names.extend((fed.name, closed.name))
        return fed, closed

    for alike in _alike(found):
        own = relations[alike[0].rule.head]
        fed, closed = beside(own, alike[0].module)
        closing = _closing(alike, own, fed, closed, known)
        rules += [*_feeding(alike, own, fed, known), _back(own, closed, alike[0].rule, known), closing]
        for part in alike:
            those = [one for other, one in taken if other is part]
            if those and closing.closure is not None:
                closure = replace(closing.closure, partition=(), constants=part.place[3])
                rules += _replacing(those, own, *beside(own, f"equals by {part.rule.identity}"), closure, known)
    return replace(stratum, relations=tuple(names), rules=tuple(rules))


def replaced(stratum: Stratum, part: Part) -> Iterator[Replaced]:
    """Yield the rules that replace equals by equals, if a part says what is equal."""
    source, target, partition, constants = part.place
    if part.symmetric is None or partition or len(constants) != 1:
        return
    for rule in stratum.rules:
        one = replacing(rule, source, target, constants) if rule.head == part.rule.head else None
        if one is not None and rule is not part.rule:
            yield one


def _alike(found: Sequence[Part]) -> list[list[Part]]:
    """Return parts of the same relation in the same columns, closed alike, together."""
    alike: dict[tuple[str, str], list[Part]] = {}
    for part in found:
        alike.setdefault((part.rule.head, part.module), []).append(part)
    return list(alike.values())


def _feeding(alike: Sequence[Part], own: Relation, fed: Relation, known: Known) -> Iterator[Rule]:
    """Yield the rules of what a module is fed: each of its parts."""
    for part in alike:
        body = (*part.others, Positive(Atom(own.name, part.terms)))
        yield _planned(Source(fed.name, part.terms, body, part.rule.origin), part.rule.identity, known)


def _closing(alike: Sequence[Part], own: Relation, fed: Relation, closed: Relation, known: Known) -> ClosureRule:
    """Return the one rule of a module that closes parts."""
    source, target, *_ = alike[0].place
    constants = tuple(one for one in alike[0].place[3] if all(one in part.place[3] for part in alike))
    others = (column for column in range(len(own.columns)) if column not in (source, target))
    partition = tuple(column for column in others if column not in dict(constants))
    rules = tuple(rule for part in alike for rule in (part.rule, part.symmetric) if rule is not None)
    closure = Closure(
        closed.name, alike[0].kind, Form.NONLINEAR, source, target, partition, constants, rules, (), (), (), True, False
    )
    return _unchanged(closing_rule(closure, closed, fed), known)


def _replacing(
    those: Sequence[Replaced], own: Relation, fed: Relation, closed: Relation, closure: Closure, known: Known
) -> Iterator[Rule]:
    """Yield the rules that make rules a module that replace equals by equals."""
    for one in those:
        yield _planned(one.feeding(fed.name, closure.constants), one.rule.identity, known)
    yield _back(own, closed, those[0].rule, known)
    yield _unchanged(replacing_rule(closed, fed, closure, those), known)


def _back(own: Relation, closed: Relation, rule: Rule, known: Known) -> Rule:
    """Return the rule by which a relation has what a module has made of its part."""
    every = tuple(Var(f"x{number}", column.type) for number, column in enumerate(own.columns))
    return _planned(Source(own.name, every, (Positive(Atom(closed.name, every)),), rule.origin), closed.name, known)


def _unchanged(rule: ClosureRule, known: Known) -> ClosureRule:
    before = known.get((rule.head, rule.identity))
    return before if isinstance(before, ClosureRule) else rule


def _planned(source: Source, identity: str, known: Known) -> Rule:
    before = known.get((source.head, identity))
    return before if before is not None and before.source == source else plan_rule(source, identity, Estimate())


def _part(rule: Rule, stratum: Stratum) -> Part | None:
    """Return the part that a rule makes transitive, if it does that and nothing else."""
    source = rule.source
    head = plain(source.arguments) if source is not None else None
    if source is None or head is None:
        return None
    own = [one for one in source.body if isinstance(one, Positive) and one.atom.relation == rule.head]
    for first, second in permutations(own, 2):
        left, right = plain(first.atom.arguments), plain(second.atom.arguments)
        place = chain(head, left, right) if left is not None and right is not None else None
        if place is None or left is None:
            continue
        x, y, z = head[place[0]], left[place[1]], head[place[1]]
        inner, steps = frozenset((x, y, z)), (frozenset((x, y)), frozenset((y, z)))
        rest = (literal for literal in source.body if literal is not first and literal is not second)
        # A step from a node to itself leads nowhere new: a rule may leave it out.
        others = tuple(literal for literal in rest if unequal(literal) not in steps)
        if not all(_is_apart(literal, inner) for literal in others) or not (others or place[3]):
            continue
        turned = (
            None
            if others
            else next((one for one in stratum.rules if one.head == rule.head and _turns(one, place)), None)
        )
        return Part(rule, left, others, place, turned)
    return None


def _is_apart(literal: Literal, inner: frozenset[Var | Const]) -> bool:
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
    atom, head = source.body[0].atom, plain(source.arguments)
    body = plain(atom.arguments)
    if atom.relation != rule.head or head is None or body is None:
        return False
    begin, end, partition, constants = place
    turned = list(body)
    turned[begin], turned[end] = turned[end], turned[begin]
    free = [head[begin], head[end], *(head[column] for column in partition)]
    same = tuple(turned) == head and all(head[column] == constant for column, constant in constants)
    return same and all(isinstance(term, Var) for term in free) and len(set(free)) == len(free)
