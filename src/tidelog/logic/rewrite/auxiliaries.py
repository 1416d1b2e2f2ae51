"""The auxiliary relations that rewrites make, and their rules.

They are named after the head and the text of the rule they were made for (`Reach#1f0a`), not by counting: when other
rules come and go, a relation keeps its name and what an engine holds for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

from tidelog.base.expr import Expr, Var
from tidelog.logic.program import Literal, Origin, Relation, Rule, auxiliary_relation


@dataclass(slots=True)
class Auxiliaries:
    """What the rewrites of one program have made so far."""

    relations: dict[str, Relation] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)

    def relation(self, head: str, columns: Sequence[Var], origin: Origin) -> Relation:
        """Make a relation whose columns are named and typed like variables."""
        relation = auxiliary_relation(self._name(head, origin), columns, origin.span)
        self.relations[relation.name] = relation
        return relation

    def _name(self, head: str, origin: Origin) -> str:
        """Return a name that is not taken; rules of one text number theirs."""
        number = 0
        while True:
            name = f"{head}#{blake2b(f'{number} {origin.text}'.encode(), digest_size=2).hexdigest()}"
            if name not in self.relations:
                return name
            number += 1

    def rule(self, relation: Relation, arguments: Sequence[Expr], body: Sequence[Literal], origin: Origin) -> None:
        """Add a rule for an auxiliary relation."""
        self.rules.append(Rule(relation.name, tuple(arguments), tuple(body), origin))
