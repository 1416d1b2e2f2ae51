"""Internal relations whose rows have weights, in the dialect `ddlog`.

DDlog makes sets of input and output relations, and of those that recursion derives; a row of any other relation counts
as often as it is derived. That shows where a group, or a rule for a multiset, reads it, directly or through others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tidelog.base.diagnostic import Report
from tidelog.base.graph import components
from tidelog.lang import syntax
from tidelog.lang.syntax import Clause
from tidelog.logic.check.check_rules import SourceRule
from tidelog.logic.names.environment import Declarations
from tidelog.logic.program import Relation
from tidelog.logic.rewrite.rule_names import ends_group


def weigh_relations(rules: Sequence[SourceRule], declarations: Declarations) -> list[Relation]:
    """Return the internal relations of which weights show, as multisets."""
    quiet = Report()
    read: dict[str, dict[str, None]] = {}
    counted: list[str] = []
    for source in rules:
        environment = declarations.environments[source.module]
        head = environment.relation(source.rule.heads[0].atom.relation, source.rule.span, quiet)
        if head is None:
            continue
        found = (environment.relation(atom.relation, atom.span, quiet) for atom in _atoms(source.rule.body))
        names = [relation.name for relation in found if relation is not None]
        read.setdefault(head.name, {}).update(dict.fromkeys(names))
        if head.kind == "multiset" or any(map(ends_group, source.rule.body)):
            counted += names
    place = {name: i for i, names in enumerate(components(read)) for name in names}
    made: dict[str, Relation] = {}
    while counted:
        name = counted.pop()
        relation = declarations.relations[name]
        recursive = any(place.get(other) == place.get(name) for other in read.get(name, ()))
        of_sets = relation.bound is not None or (relation.role, relation.kind) != ("internal", "relation")
        if name in made or recursive or of_sets:
            continue
        made[name] = replace(relation, kind="multiset")
        counted += read.get(name, ())
    return list(made.values())


def _atoms(clauses: Iterable[Clause]) -> Iterator[syntax.Atom]:
    """The positive atoms of a body that read the present."""
    for clause in clauses:
        match clause:
            case syntax.Positive(atom) if not atom.delay:
                yield atom
            case syntax.Either(alternatives):
                for way in alternatives:
                    yield from _atoms(way)
            case _:
                pass
