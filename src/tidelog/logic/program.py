"""The typed program: what the rules mean. Names are resolved, types are filled in, sugar is gone.

Every rule here has one head and a flat body; it remembers the rule of the text it came from (`origin`). Bodies are in
an order in which each literal's inputs are bound by those before it, but their meaning does not depend on order.

A body argument is a variable, a constant or a wildcard: patterns and expressions inside atoms have become conditions
and bindings. Grouping has become two rules: an auxiliary relation that holds one tuple for each derivation of the
grouped body, and an `Aggregate` literal that reads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from tidelog.base.diagnostic import shortened
from tidelog.base.expr import Const, Expr, Function, Pattern, Var
from tidelog.base.record import record
from tidelog.base.span import Placed, Span
from tidelog.base.types import Field, Tuple, Type, TypeDefinition


@record
class Bound:
    """Of each key, which is all other columns, a relation keeps the least value of a column, or the greatest."""

    column: int
    greatest: bool

    @property
    def word(self) -> str:
        """How it is declared."""
        return "max" if self.greatest else "min"


@record
class Relation(Placed):
    """A relation and its typed columns.

    `element` is the type of a whole row: a struct with the columns as fields for `R(f: T, ...)`; for `R[T]` the type
    T, whose fields are the columns if T is a struct, otherwise there is one column named `value`.
    The `primary_key` of an input relation's row is an expression over its columns, as variables named like them.
    `strategy` says how it is to follow changes (`names.attributes`), if something else than what engines choose.
    `demand` says that it is computed only as far as it is asked for. The role is `input`, `output`, `internal`, or, of
    a goal, `goal`.
    `bound` says that only the best value of each key is kept.
    `auxiliary` relations were made by a rewrite and are not shown unless asked for.
    The `kind` is `relation`, or `stream`, whose rows last one commit, or `multiset`, whose rows have weights. `past`
    names the relation whose rows of one commit ago an auxiliary one has: `R-1` has those of `R`, `R-2` those of `R-1`.
    """

    name: str
    role: str
    columns: tuple[Field, ...]
    element: Type
    primary_key: Expr | None = None
    auxiliary: bool = False
    strategy: str | None = None
    demand: bool = False
    kind: str = "relation"
    past: str | None = None
    bound: Bound | None = None


@record
class Wildcard:
    """A column that does not matter."""

    type: Type


def each_of(multiset: str) -> str:
    """Return the name of the relation that has a row for each derivation of a row of a multiset."""
    return f"{multiset}#each"


def auxiliary_relation(name: str, columns: Iterable[Field | Var], span: Span) -> Relation:
    """Return a relation that a rewrite makes."""
    fields = tuple(Field(column.name, column.type) for column in columns)
    return Relation(name, "internal", fields, Tuple(tuple(f.type for f in fields)), auxiliary=True, span=span)


Term = Var | Const | Wildcard


@record
class Atom(Placed):
    """A relation applied to one term for each column. The same variable may occur twice."""

    relation: str
    arguments: tuple[Term, ...]


@record
class Positive:
    """The atom holds; binds its variables."""

    atom: Atom


@record
class Negative:
    """No tuple fits the atom. Binds nothing; all its variables are bound elsewhere."""

    atom: Atom


@record
class Condition(Placed):
    """The expression is true."""

    expression: Expr


@record
class Bind(Placed):
    """The variable has the value of the expression."""

    variable: Var
    expression: Expr


@record
class Unnest(Placed):
    """The variable is one of the elements of a collection: Vec and Set elements, Map (key, value) tuples."""

    variable: Var
    expression: Expr


@record
class Aggregate(Placed):
    """Groups the tuples of `atom` by `keys`; binds `keys`, and `result` to `reduce` of the group.

    `group` is the variable, of type Group, that stands in `reduce` for the group of the values of `value`. All other
    variables of the atom are local. The atom is over an auxiliary relation with a tuple for each derivation.
    """

    atom: Atom
    keys: tuple[Var, ...]
    value: Expr
    group: Var
    reduce: Expr
    result: Var


Literal = Positive | Negative | Condition | Bind | Unnest | Aggregate


@record
class Origin(Placed):
    """The rule as the user wrote it, with its name and place, for errors, plans, profiles and explanations."""

    text: str
    name: str | None = None

    @property
    def quoted(self) -> str:
        """The rule's text, of a long one its ends, and where it stands."""
        return f"`{shortened(self.text)}` ({self.span})"


@record
class Rule:
    """`head(arguments) :- body`. `arguments` are expressions over the body's variables."""

    head: str
    arguments: tuple[Expr, ...]
    body: tuple[Literal, ...]
    origin: Origin = field(compare=False)


@record
class Index(Placed):
    """A declared index: look up rows of a relation by some of its columns, or by parts of them.

    `atom` has the parameters as variables; where a column has a pattern, it has a wildcard, and `patterns` the pattern.
    """

    name: str
    parameters: tuple[Var, ...]
    atom: Atom
    patterns: tuple[tuple[int, Pattern], ...] = ()


@record
class Program:
    """A whole checked program. Mappings are in order of declaration.

    In the dialect of DDlog there may be `groups_in_recursion`; they mean what the rounds of evaluation end with.
    """

    types: Mapping[str, TypeDefinition]
    relations: Mapping[str, Relation]
    functions: Mapping[str, Function]
    rules: tuple[Rule, ...]
    indexes: Mapping[str, Index]
    groups_in_recursion: bool = False
