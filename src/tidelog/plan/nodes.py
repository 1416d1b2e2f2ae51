"""How to compute a program: relational algebra, one tree for each rule and delta variant, in strata.

Columns of an algebra node are named by the rule's variables; a join is natural, on the variables both sides have, and
says so in `keys`. A node states what an engine would otherwise work out again: a scan says which version of a
relation it reads, every node says which `columns` it yields.

Every node yields a bag: one row a tuple, a pair of rows, a derivation. No node removes duplicates, so the rows of a
`Project` count derivations even where columns were dropped.

Trees are left-deep: the right side of a `Join` or `Product` is a `Scan` or an `Aggregate`, that of an `AntiJoin` a
`Scan`, so a tree is a pipeline that starts at its leftmost leaf (`spine`). In `Rule.body` the columns of a node are all
variables bound so far; in optimised trees they are those that something further up still needs, in the same order,
and a variable that nothing needs is None in its scan.

Versions of a relation. One maintenance round changes relations by a *delta*. `old` is a relation before the round's
delta, `new` after it, `delta` the tuples that changed. A rule's derivations touched by a round are the union, over its
body atoms i, of: atoms before i read `old`, atom i reads `delta`, atoms after i read `new`; each touched derivation is
found exactly once, for insertions and for deletions alike. `Version.ALL` is the current state (no delta: evaluation
from scratch). A negated atom as delta joins with the tuples that changed, positively, and its own anti-join is left
out: it has no wildcards here (see `project_negations`), so a changed tuple blocks or frees each derivation by itself.
An aggregated atom as delta is no algebra of tuples: an engine evaluates the groups touched, before and after.
`Version.PART` is what a delta has in some columns, each combination once: the one scan that removes duplicates, so that
a join with it filters bindings and never multiplies them (see `rediscover`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from operator import is_

from tidelog.base.expr import Const, Expr, Function, Pattern, Var
from tidelog.base.record import record
from tidelog.base.types import TypeDefinition
from tidelog.logic import program as logic


class Version(Enum):
    """Which state of a relation a scan reads."""

    ALL = "all"
    OLD = "old"
    DELTA = "delta"
    NEW = "new"
    PART = "part"


@record
class Unit:
    """One row without columns: the body of a fact."""

    columns: tuple[Var, ...] = ()


@record
class Scan:
    """The tuples of a relation; `terms` has one entry a relation column: a variable, a constant, or None.

    Constants and repeated variables select; None drops the column. `columns` are the distinct variables in order.
    `occurrence` is the atom's position among the rule's body atoms (positive, negative and aggregated, in body order).
    """

    relation: str
    terms: tuple[Var | Const | None, ...]
    version: Version
    occurrence: int
    columns: tuple[Var, ...]


@record
class Select:
    """The rows for which the condition is true."""

    input: Node
    condition: Expr
    columns: tuple[Var, ...]


@record
class Extend:
    """Each row with one more column, the value of an expression over it."""

    input: Node
    variable: Var
    expression: Expr
    columns: tuple[Var, ...]


@record
class Unnest:
    """Each row once for every element of a collection, as one more column."""

    input: Node
    variable: Var
    expression: Expr
    columns: tuple[Var, ...]


@record
class Product:
    """Every row of the left with every row of the right, which share no variable."""

    left: Node
    right: Node
    columns: tuple[Var, ...]


@record
class Join:
    """Rows of both sides that agree on `keys`, the variables they share (at least one)."""

    left: Node
    right: Node
    keys: tuple[Var, ...]
    columns: tuple[Var, ...]


@record
class AntiJoin:
    """Rows of the left for which no row of the right (a `Scan`) agrees on `keys`; `keys` may be empty."""

    left: Node
    right: Scan
    keys: tuple[Var, ...]
    columns: tuple[Var, ...]


@record
class Aggregate:
    """Groups of the input: the keys, and `result` = `reduce` over the group of the values of `value`.

    The input has set semantics: it is a `Scan` of a relation with one tuple a derivation. `group` is the variable
    that stands for the group (a `base.values.Group`) in `reduce`. In a plan an aggregate is the whole body of its rule
    (see `isolate_aggregates`).
    """

    input: Scan
    keys: tuple[Var, ...]
    value: Expr
    group: Var
    reduce: Expr
    result: Var
    columns: tuple[Var, ...]


@record
class Project:
    """The head: one expression for each column of the head relation. A bag: one row for each derivation.

    `columns` is empty: the rows are tuples of the relation, no longer bindings of variables.
    """

    input: Node
    relation: str
    expressions: tuple[Expr, ...]
    columns: tuple[Var, ...] = ()


Node = Unit | Scan | Select | Extend | Unnest | Product | Join | AntiJoin | Aggregate | Project


Relation = logic.Relation
Bound = logic.Bound
Origin = logic.Origin
"""A relation, and the rule as the user wrote it: all that engines know of a program beside its plan."""


@record
class Variant:
    """One way to evaluate a rule: the occurrence that reads its delta (None: all from scratch), and the tree.

    `negative` says that the delta occurrence is negated, so that its insertions take derivations away.
    """

    delta: int | None
    negative: bool
    tree: Project


@record
class Probe:
    """A look-up in a relation by the values of some of its columns, in ascending order."""

    relation: str
    columns: tuple[int, ...]


@record
class Rule:
    """A rule with its plans.

    `body` is the tree in body order with all scans `ALL`, as translated, not optimised: the definition of the rule.
    `full` is the optimised tree for evaluation from scratch; `variants` one for each atom occurrence as delta, except
    aggregated ones: look a variant up by its `delta`. Engines may order the body anew with live sizes (`order_joins`).
    `probes` are the distinct look-ups that all these trees make. Variants and probes are made when first looked at.
    `reads` are the relations of the occurrences, in order; `negated[i]` tells whether occurrence i is negated or
    aggregated, so that its relation must be complete before the rule's stratum.
    `identity` names the rule in a plan: its name or canonical text, with ` #2`, ` #3` ... when the text gave several
    rules. Planning anew keeps the `Rule` object of a rule that has not changed. Rules are compared by identity and by
    `source`, the typed rule, which the trees are made from: trees may be too deep to compare.
    """

    identity: str
    head: str
    body: Project = field(compare=False)
    full: Variant = field(compare=False)
    variants: Sequence[Variant] = field(compare=False)
    reads: tuple[str, ...]
    negated: tuple[bool, ...]
    aggregated: tuple[bool, ...]
    origin: Origin
    probes: Sequence[Probe] = field(default=(), compare=False, repr=False)
    source: logic.Rule | None = field(default=None, repr=False)


@record
class Stratum:
    """Mutually recursive relations, or a single one, with all rules for them; every stratum it reads is before it.

    `members` are its relations, `below` those that it reads of other strata; `aggregates` if one of its rules does.
    They are made once, since every update asks for them.
    """

    number: int
    relations: tuple[str, ...]
    recursive: bool
    rules: tuple[Rule, ...]
    members: frozenset[str] = field(init=False, compare=False, repr=False)
    below: frozenset[str] = field(init=False, compare=False, repr=False)
    aggregates: bool = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        members = frozenset(self.relations)
        object.__setattr__(self, "members", members)
        object.__setattr__(self, "below", frozenset(name for rule in self.rules for name in rule.reads) - members)
        object.__setattr__(self, "aggregates", any(any(rule.aggregated) for rule in self.rules))

    @property
    def iterated(self) -> bool:
        """Whether a group over its own relations is part of it, which means where the rounds of evaluation end.

        Only in the dialect of DDlog, and only the engine `reference` evaluates it.
        """
        read = (pair for rule in self.rules for pair in zip(rule.reads, rule.aggregated, strict=True))
        return self.aggregates and any(group and name in self.members for name, group in read)


def as_before(strata: Iterable[Stratum], earlier: Iterable[Stratum]) -> tuple[Stratum, ...]:
    """Return strata, of which those that are as they were are the same objects: by that engines know them."""
    before = {stratum.relations: stratum for stratum in earlier}
    return tuple([known if (known := before.get(one.relations)) and _is(known, one) else one for one in strata])


def _is(one: Stratum, other: Stratum) -> bool:
    return (
        one.number == other.number
        and one.recursive == other.recursive
        and len(one.rules) == len(other.rules)
        and all(map(is_, one.rules, other.rules))
    )


BOUNDS = "#bounds:"
"""What stands between the name of a relation and which bounds of it an auxiliary one has."""


def of_bounds(stratum: Stratum) -> bool:
    """Tell whether a stratum has relations of bounds, which no closure is, whatever its rules look like."""
    return any(BOUNDS in name for name in stratum.relations)


def shown(relations: Sequence[str]) -> tuple[str, ...]:
    """Return relations as users know them: bounds of one, what feeds a closure, and that of a part, are parts of it.

    >>> shown(["T#fed", "T", "R", "D#bounds:min.d"])
    ('T', 'R', 'D')
    """
    return tuple(dict.fromkeys(_PART.sub("", name) for name in relations))


_PART = re.compile("(#fed|#closed|#bounds:).*")


@record
class Index:
    """An order of a relation's columns: a probe on any prefix of `columns` is served by it."""

    relation: str
    columns: tuple[int, ...]


@record
class DeclaredIndex:
    """An `index` of the program: its parameters in order, and for each column of the relation a variable or None.

    `patterns` are of columns of which parameters stand for parts; their terms are None.
    """

    name: str
    parameters: tuple[Var, ...]
    relation: str
    terms: tuple[Var | Const | None, ...]
    patterns: tuple[tuple[int, Pattern], ...] = ()


@record
class Plan:
    """A whole program, ready for an engine. `indexes` are chosen when first looked at.

    `demanded` are the relations that are computed by demand. Of those that are `partial` only what is asked for is:
    they have no rules, and what an engine has of them is nothing. The others are asked for in full; `notes` say why.
    """

    types: Mapping[str, TypeDefinition]
    relations: Mapping[str, Relation]
    functions: Mapping[str, Function]
    strata: tuple[Stratum, ...]
    indexes: Sequence[Index]
    declared: Mapping[str, DeclaredIndex]
    demanded: frozenset[str] = frozenset()
    partial: frozenset[str] = frozenset()
    notes: Mapping[str, str] = field(default_factory=dict)


EMPTY_PLAN = Plan({}, {}, {}, (), (), {})
"""The program without relations, from which an engine goes over to its first one."""
