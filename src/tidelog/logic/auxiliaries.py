"""The auxiliary relations that rewrites make, and their rules. They are named after a head: `Reach#1`, `Reach#2`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tidelog.base.expr import Expr, Var
from tidelog.base.types import Field, Tuple
from tidelog.logic.program import Literal, Origin, Relation, Rule


@dataclass(slots=True)
class Auxiliaries:
    """What the rewrites of one program have made so far."""

    relations: dict[str, Relation] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    _made: dict[str, int] = field(default_factory=dict)

    def relation(self, head: str, columns: Sequence[Var], origin: Origin) -> Relation:
        """Make a relation whose columns are named and typed like variables."""
        number = self._made[head] = self._made.get(head, 0) + 1
        fields = tuple(Field(v.name, v.type) for v in columns)
        relation = Relation(
            f"{head}#{number}",
            "internal",
            fields,
            Tuple(tuple(f.type for f in fields)),
            auxiliary=True,
            span=origin.span,
        )
        self.relations[relation.name] = relation
        return relation

    def rule(self, relation: Relation, arguments: Sequence[Expr], body: Sequence[Literal], origin: Origin) -> None:
        """Add a rule for an auxiliary relation."""
        self.rules.append(Rule(relation.name, tuple(arguments), tuple(body), origin))
