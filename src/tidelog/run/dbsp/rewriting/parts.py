"""Rewrites in columns: from matched facts to what a step keeps, and expressions over them.

A set of rewrites with the same variables is a `Bindings`: a column of codes for each variable, and beside them weights
and inner times. All functions here are linear: they look at each rewrite by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, assert_never

import numpy as np

from tidelog.base.record import record
from tidelog.run.columnar.arrays.table import Mask, Places, U, Words
from tidelog.run.dbsp.rewriting.kit import Each, Gather, Let, Made, Part, Term, Where
from tidelog.run.dbsp.zsets.zset import Weights, ZSet

Columns = dict[str, Words]
"""A column for each variable."""


class Expressions(Protocol):
    """Evaluates the parts of rules on columns of codes, given by the names of variables."""

    def mask(self, part: Where, columns: Columns, count: int) -> Mask:
        """Return whether a condition holds in each row."""

    def codes(self, part: Let | Made, columns: Columns, count: int) -> Words:
        """Return the code of an expression in each row."""

    def elements(self, part: Each, columns: Columns, count: int) -> tuple[Places, Words]:
        """Return the elements of a collection in each row: the row's place and the element's code."""

    def gathered(self, rule: Gather, groups: ZSet) -> ZSet:
        """Return the facts that an aggregating rule makes of whole groups of facts, columns in the rule's order."""


@record
class Bindings:
    """Rewrites with the same variables."""

    columns: Columns
    weights: Weights
    times: Words

    def taken(self, places: Any) -> Bindings:
        """Return the rewrites at some places, or where a mask is true."""
        columns = {name: column[places] for name, column in self.columns.items()}
        return Bindings(columns, self.weights[places], self.times[places])

    def rows(self, names: Sequence[str]) -> Words:
        """Return the columns of some variables side by side."""
        return np.stack([self.columns[name] for name in names]) if names else np.empty((0, len(self.weights)), U)


def apply_parts(parts: Sequence[Part], bindings: Bindings, expressions: Expressions | None) -> Bindings:
    """Return what conditions leave of rewrites, with the variables that are computed."""
    for part in parts:
        assert expressions is not None, "rules with expressions need somebody to evaluate them"
        count = len(bindings.weights)
        if not count:
            missing = np.empty(0, U)
            names = [p.variable for p in parts if not isinstance(p, Where)]
            return Bindings({**dict.fromkeys(names, missing), **bindings.columns}, bindings.weights, bindings.times)
        match part:
            case Where():
                keep = expressions.mask(part, bindings.columns, count)
                bindings = bindings if keep.all() else bindings.taken(keep)
            case Let(_, variable):
                made = expressions.codes(part, bindings.columns, count)
                bindings = Bindings({**bindings.columns, variable: made}, bindings.weights, bindings.times)
            case Each(_, variable):
                places, codes = expressions.elements(part, bindings.columns, count)
                taken = bindings.taken(places)
                bindings = Bindings({**taken.columns, variable: codes}, taken.weights, taken.times)
            case _:
                assert_never(part)
    return bindings


def head_rows(terms: Sequence[Term | Made], bindings: Bindings, expressions: Expressions | None) -> Words:
    """Return the facts that rewrites make of a head."""
    count = len(bindings.weights)
    columns = []
    for term in terms:
        match term:
            case str(name):
                columns.append(bindings.columns[name])
            case int(code):
                columns.append(np.full(count, code, U))
            case Made():
                assert expressions is not None, "rules with expressions need somebody to evaluate them"
                columns.append(expressions.codes(term, bindings.columns, count))
            case None:
                raise AssertionError("a head has no place without a value")
            case _:
                assert_never(term)
    return np.stack(columns) if columns else np.empty((0, count), U)
