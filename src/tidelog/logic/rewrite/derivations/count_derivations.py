"""Multisets: a row has a weight, the number of its derivations. Each of them is a row of a relation of its own.

    multiset M(x: u8)                      relation M#each(x: u8, each: Any)
    M(x) :- A(x, y), B(y, _).              M#each(x, to_any(("place", 0, x, y, #1))) :- A(x, y), B(y, #1).
    N(n) :- M(x), var n = x.group_by(()).count().    N(n) :- M#each(x, _), var n = x.group_by(()).count().

What tells two derivations of a rule apart is what a group counts, too (`split_groups`); what tells rules apart is where
they stand. The plan makes `M(x) :- M#each(x, _)`, so that whoever does not count reads a set (`separate_facts`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tidelog.base.expr import Call, Const, MakeTuple, Var
from tidelog.base.types import ANY, BIGINT, STRING, Field, Named, Tuple
from tidelog.logic import program
from tidelog.logic.names.environment import Declarations
from tidelog.logic.names.names import STD
from tidelog.logic.program import Atom, Literal, Positive, Relation, Wildcard, each_of
from tidelog.logic.rewrite.checked import Body, Rule
from tidelog.logic.rewrite.split_groups import derivation

ANY_TYPE = Named(ANY)


def each_relation(relation: Relation) -> Relation:
    """Return the relation with a row for each derivation of a row of a multiset."""
    columns = (*relation.columns, Field("each", ANY_TYPE))
    element = Tuple(tuple(column.type for column in columns))
    return Relation(each_of(relation.name), "internal", columns, element, auxiliary=True, span=relation.span)


def read_each(rule: Rule[Literal], relations: Mapping[str, Relation]) -> Rule[Literal]:
    """Return the rule with atoms over the derivations of multisets."""

    def literal(item: Literal) -> Literal:
        read = relations.get(item.atom.relation) if isinstance(item, Positive) else None
        if read is None or read.kind != "multiset" or not isinstance(item, Positive):
            return item
        atom = item.atom
        return Positive(Atom(each_of(atom.relation), (*atom.arguments, Wildcard(ANY_TYPE)), span=atom.span))

    def body(given: Body[Literal]) -> Body[Literal]:
        grouping = given.grouping
        if grouping is not None:
            grouping = replace(grouping, alternatives=tuple(map(body, grouping.alternatives)))
        return replace(given, grouping=grouping, literals=tuple(map(literal, given.literals)))

    return replace(rule, body=body(rule.body))


def count_derivations(rule: program.Rule, number: int, declarations: Declarations) -> program.Rule:
    """Return a rule for the derivations of a multiset; `number` tells the rules apart that came from one."""
    body = [Positive(_filled(item.atom, i)) if isinstance(item, Positive) else item for i, item in enumerate(rule.body)]
    span = rule.origin.span
    place = Const(f"{span.source.name}:{span.start}", STRING)
    parts: tuple[Const | Var, ...] = (place, Const(number, BIGINT), *derivation(body).values())
    all_parts = MakeTuple(parts, Tuple(tuple(part.type for part in parts)))
    (signature,) = declarations.signatures(declarations.tables[STD], "to_any")
    function = declarations.instances.name(signature, (all_parts.type,))
    each = Call(function, (all_parts,), ANY_TYPE, span=span)
    return program.Rule(each_of(rule.head), (*rule.arguments, each), tuple(body), rule.origin)


def _filled(atom: Atom, number: int) -> Atom:
    """Give each wildcard of an atom a variable."""
    terms = enumerate(atom.arguments)
    filled = [Var(f"#each{number}.{i}", t.type) if isinstance(t, Wildcard) else t for i, t in terms]
    return replace(atom, arguments=tuple(filled))
