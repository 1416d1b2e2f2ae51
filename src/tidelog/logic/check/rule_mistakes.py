"""What can be wrong with a rule, in words: one function a mistake, so that the passes read without the prose.

Each states what is wrong, the rule of the language behind it, and what to do.
"""

from __future__ import annotations

from collections.abc import Iterable

from tidelog.base.diagnostic import Label, Report, did_you_mean
from tidelog.base.span import Span
from tidelog.logic.program import Relation

_BINDING = "a variable is bound by a positive atom, by an assignment (`var x = ...`) or by `FlatMap`"


def unbound(name: str, span: Span, known: Iterable[str], report: Report) -> None:
    """A head, a condition or a function reads a variable that nothing binds."""
    report.add(
        "E0402",
        f"variable `{name}` is not bound",
        span,
        note=_BINDING,
        hint=did_you_mean(name, _written(known)) or f"use `{name}` in a positive atom of the body",
    )


def unbound_in_negation(name: str, span: Span, known: Iterable[str], report: Report) -> None:
    """A negated atom has a variable that nothing else binds."""
    report.add(
        "E0403",
        f"variable `{name}` occurs only in a negated atom",
        span,
        note="a negated atom binds nothing: its variables must be bound elsewhere in the body",
        hint=did_you_mean(name, _written(known)) or "write `_` if no tuple at all may fit",
    )


def hidden(name: str, span: Span, grouping: Span, report: Report) -> None:
    """A variable of a grouped body is used after the grouping."""
    report.add(
        "E0407",
        f"variable `{name}` is hidden by `group_by`",
        span,
        labels=[Label(grouping, "hidden here")],
        note="after a `group_by` only the variables of its key and its result are visible",
        hint=f"add `{name}` to the key, or aggregate it",
    )


def cyclic(name: str, span: Span, needs: str, report: Report) -> None:
    """Assignments need each other's variables."""
    report.add(
        "E0414",
        f"variable `{name}` is not bound: computing it needs `{needs}`, which needs `{name}`"
        if name != needs
        else f"variable `{name}` is not bound: computing it needs itself",
        span,
        note="assignments are put in an order in which each reads only variables that are bound before it",
        hint=f"bind `{name}` or `{needs}` by a positive atom" if name != needs else f"bind `{name}` by a positive atom",
    )


def declared_again(name: str, span: Span, first: Span, report: Report) -> None:
    """`var x` for a variable that was bound before."""
    report.add(
        "E0412",
        f"variable `{name}` is already bound",
        span,
        labels=[Label(first, "bound here")],
        note="`var` introduces a new variable, and a rule has no two variables of one name",
        hint=f"choose another name, or compare: `{name} == ...`",
    )


def no_pattern(span: Span, report: Report) -> None:
    """The left side of `=` is an expression."""
    report.add(
        "E0406",
        "the left side of `=` is not a pattern",
        span,
        note="a pattern is made of variables, constants, `_`, tuples and constructors",
        hint="write `==` to compare two values",
    )


def several_groupings(span: Span, report: Report) -> None:
    """One clause groups twice."""
    report.add(
        "E0408",
        "a clause may use `group_by` only once",
        span,
        note="a `group_by` groups everything before its clause, and hides all variables but those of its key",
        hint="group a tuple of both values, or put each group into a relation of its own and join them",
    )


def one_key(span: Span, report: Report) -> None:
    """`group_by` with no or several arguments."""
    report.add(
        "E0408",
        "`group_by` takes one key",
        span,
        note="a key is a variable, a tuple of variables, or `()` for one group of everything",
        hint="write several variables as a tuple: `x.group_by((a, b))`",
    )


def misplaced_grouping(span: Span, report: Report) -> None:
    """`group_by` in a head or an atom."""
    report.add(
        "E0409",
        "`group_by` cannot be used here",
        span,
        note="`group_by` stands in an assignment, a condition or a `FlatMap` of a rule's body",
        hint="assign the result to a variable in the body: `var n = x.group_by(k).count()`",
    )


def no_collection(type: str, span: Span, report: Report) -> None:
    """`FlatMap` of something that has no elements."""
    report.add(
        "E0411",
        f"`FlatMap` needs a collection, but this is of type `{type}`",
        span,
        note="`FlatMap` yields the elements of a `Vec` or `Set`, the pairs (key, value) of a `Map`, "
        "or (value, weight) of a `Group`",
        hint="assign a single value with `var x = e`",
    )


def many_alternatives(ways: int, span: Span, report: Report) -> None:
    """Alternatives that multiply."""
    report.add(
        "E0422",
        f"the alternatives of this rule make {ways:,} rules",
        span,
        note="a rule with alternatives stands for one rule for each way through them; there may be 10,000",
        hint="give each group of alternatives a relation of its own",
    )


def many_literals(count: int, most: int, span: Span, report: Report) -> None:
    """A body that is too long."""
    report.add(
        "E0422",
        f"the body of this rule has {count:,} clauses; there may be {most}",
        span,
        note="a pattern in an atom's column counts as a clause of its own",
        hint="derive an internal relation from a part of the body",
    )


def keyed_head(relation: Relation, span: Span, report: Report) -> None:
    """A rule derives tuples of a relation with a primary key."""
    report.add(
        "E0410",
        f"`{relation.name}` has a primary key, so rules cannot derive it",
        span,
        labels=[Label(relation.span, "declared here")],
        note="a key tells which fact a transaction replaces; rules derive any number of rows with the same key",
        hint=f"derive another relation, with a rule that copies `{relation.name}` into it",
    )


def missing_columns(relation: Relation, missing: list[str], span: Span, report: Report) -> None:
    """A head leaves out columns."""
    names = ", ".join(f"`{name}`" for name in missing)
    report.add(
        "E0413",
        f"the head gives no value for {names} of `{relation.name}`",
        span,
        note="a head gives a value to every column",
        hint="; ".join(f"add `.{name} = ...`" for name in missing[:1]),
    )


def location(span: Span, report: Report) -> None:
    """A placement annotation."""
    report.add(
        "W0401",
        "the location has no effect",
        span,
        note="where facts are computed is decided by the engine; `@` is accepted so that DDlog programs run",
        severity="warning",
    )


def _written(names: Iterable[str]) -> list[str]:
    return [name for name in names if "#" not in name]
