"""Which relations are computed only as far as they are asked for.

Those that are declared so, or all that rules derive. Goals, facts and all other relations are computed in full, and ask
for what their rules read. An auxiliary relation goes with what it is made for: it is computed by demand if it reads
something that is, or if nothing that is computed in full needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Literal

from tidelog.logic.literals import atoms
from tidelog.logic.program import Program, Relation

Extent = Literal["nothing", "declared", "everything"]
"""What is computed by demand: the relations that are declared so, all, or none although they are declared so."""


def choose_demanded(program: Program, extent: Extent) -> frozenset[str]:
    """Return the relations of a program that are computed by demand."""
    if extent == "nothing":
        return frozenset()
    reads: dict[str, set[str]] = {}
    for rule in program.rules:
        reads.setdefault(rule.head, set()).update(atom.relation for atom in atoms(rule.body))
    derived = {name: relation for name, relation in program.relations.items() if name in reads}
    named = to_be_demanded(program.relations.values(), extent) & derived.keys()
    if not named:
        return frozenset()
    auxiliary = {name for name, relation in derived.items() if relation.auxiliary and _may_be(relation)}
    wanting = _reaching(auxiliary, reads, named)
    whole = _needed(derived.keys() - named - auxiliary, reads, auxiliary - wanting)
    return frozenset(named | (auxiliary - whole))


def to_be_demanded(relations: Iterable[Relation], extent: Extent) -> frozenset[str]:
    """Return the relations that users know and that are to be computed by demand, whether they have rules or not."""
    shown = (relation for relation in relations if not relation.auxiliary and _may_be(relation))
    return frozenset(r.name for r in shown if extent == "everything" or (r.demand and extent == "declared"))


def _may_be(relation: Relation) -> bool:
    return relation.role not in ("input", "goal")


def _reaching(auxiliary: set[str], reads: Mapping[str, set[str]], named: AbstractSet[str]) -> set[str]:
    """Return the auxiliary relations that read one of those named, directly or through others."""
    found: set[str] = set()
    while more := {name for name in auxiliary - found if reads[name] & (named | found)}:
        found |= more
    return found


def _needed(heads: Iterable[str], reads: Mapping[str, set[str]], auxiliary: set[str]) -> set[str]:
    """Return the auxiliary relations that some relations need, directly or through others."""
    found: set[str] = set()
    waiting = list(heads)
    while waiting:
        more = reads[waiting.pop()] & auxiliary - found
        found |= more
        waiting += more
    return found
