"""Put the parts of a body together in a given order, as a left-deep tree.

An equation becomes `Extend` if its variable is not bound yet, otherwise `Select`. An element of a collection whose
variable is bound already is unnested under a fresh name (with a prime) and compared, so that a row is found as often
as in any other order. With `prune`, each node keeps only the columns that something above it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from operator import or_
from typing import assert_never

from tidelog.base.expr import Expr, Operate, Var
from tidelog.base.types import BOOL
from tidelog.plan import nodes
from tidelog.plan.join.may_fail import may_fail
from tidelog.plan.join.parts import Absent, Body, Element, Equation, Filter, Present

EVERYTHING = -1
"""The set of all variables: every bit of a negative one is set."""

Columns = tuple[Var, ...]


def versions_for(delta: int | None) -> Callable[[int], nodes.Version]:
    """Return which version each occurrence reads when one of them reads its delta (see `plan.nodes`).

    >>> [versions_for(1)(occurrence).value for occurrence in range(3)]
    ['old', 'delta', 'new']
    """
    if delta is None:
        return lambda _: nodes.Version.ALL
    return lambda at: nodes.Version.DELTA if at == delta else nodes.Version.OLD if at < delta else nodes.Version.NEW


def assemble(
    body: Body,
    order: Sequence[int],
    delta: int | None = None,
    *,
    prune: bool = True,
) -> nodes.Project:
    """Build the tree of the parts in the order given; an absent part as delta (an occurrence) is joined instead."""
    builder = _Builder(body, delta, prune)
    if prune:
        used = [body.needs[i] | body.gives[i] for i in reversed(order)]
        live = list(accumulate(used, or_, initial=body.head))[-2::-1]
    else:
        live = [EVERYTHING] * len(order)
    for i, after in zip(order, live, strict=True):
        builder.add(i, after)
    return nodes.Project(builder.tree or nodes.Unit(), body.relation, body.expressions)


class _Builder:
    """A tree that grows by one part at a time."""

    __slots__ = ("bits", "body", "bound", "columns", "delta", "prune", "tree", "version")

    def __init__(self, body: Body, delta: int | None, prune: bool) -> None:
        self.body = body
        self.bits = body.bits
        self.delta = delta
        self.version = versions_for(delta)
        self.prune = prune
        self.tree: nodes.Node | None = None
        self.columns: Columns = ()
        self.bound = 0

    def add(self, i: int, after: int) -> None:
        """Put part i on top; `after` are the variables that parts above or the head need."""
        match part := self.body.parts[i]:
            case Present(node):
                self._join(node, after)
            case Absent(scan) if scan.occurrence == self.delta:
                self._join(scan, after)
            case Absent(scan):
                self.columns = self._kept(self.columns, after)
                right = self._scan(scan, EVERYTHING)
                self.tree = nodes.AntiJoin(self.tree or nodes.Unit(), right, right.columns, self.columns)
            case Filter(condition):
                self._select(condition, after)
            case Equation(variable, expression):
                self._equate(variable, expression, after)
            case Element(variable, expression):
                self._unnest(variable, expression, after)
            case _:
                assert_never(part)

    def _join(self, node: nodes.Scan | nodes.Aggregate, after: int) -> None:
        bits, bound = self.bits, self.bound
        if isinstance(node, nodes.Scan):
            right: nodes.Scan | nodes.Aggregate = self._scan(node, after | bound)
        else:
            scan = self._scan(node.input, EVERYTHING)
            right = node if scan is node.input else replace(node, input=scan)
        new = right.columns
        if self.tree is None:
            self.tree = right
            self.columns = new
        else:
            keys = tuple([v for v in new if bits[v.name] & bound])
            mixed = self.columns + tuple([v for v in new if not bits[v.name] & bound])
            self.columns = columns = self._kept(mixed, after)
            if keys:
                self.tree = nodes.Join(self.tree, right, keys, columns)
            else:
                self.tree = nodes.Product(self.tree, right, columns)
        for v in new:
            self.bound |= bits[v.name]

    def _scan(self, scan: nodes.Scan, needed: int) -> nodes.Scan:
        """Return the scan at its version, without variables that only it mentions."""
        version = scan.version if scan.version is nodes.Version.PART else self.version(scan.occurrence)
        terms, columns = scan.terms, scan.columns
        if self.prune and needed != EVERYTHING:
            bits = self.bits
            unneeded = {v.name for v in columns if not bits[v.name] & needed}
            if unneeded:
                names = [term.name for term in terms if isinstance(term, Var)]
                unneeded = {name for name in unneeded if names.count(name) == 1}
            if unneeded:
                terms = tuple([None if isinstance(t, Var) and t.name in unneeded else t for t in terms])
                columns = tuple([v for v in columns if v.name not in unneeded])
        if version is scan.version and terms is scan.terms:
            return scan
        return nodes.Scan(scan.relation, terms, version, scan.occurrence, columns)

    def _select(self, condition: Expr, after: int) -> None:
        self.columns = self._kept(self.columns, after)
        self.tree = nodes.Select(self.tree or nodes.Unit(), condition, self.columns)

    def _equate(self, variable: Var, expression: Expr, after: int) -> None:
        bit = self.bits[variable.name]
        if bit & self.bound:
            self._select(equal(variable, expression), after)
        elif bit & after or may_fail(expression):
            self.columns = (*self._kept(self.columns, after), variable)
            self.tree = nodes.Extend(self.tree or nodes.Unit(), variable, expression, self.columns)
            self.bound |= bit

    def _unnest(self, variable: Var, expression: Expr, after: int) -> None:
        bit = self.bits[variable.name]
        if bit & self.bound:
            again = Var(variable.name + "'", variable.type, span=variable.span)
            kept = self._kept(self.columns, after | bit)
            self.tree = nodes.Unnest(self.tree or nodes.Unit(), again, expression, (*kept, again))
            self._select(equal(variable, again), after)
        else:
            self.columns = (*self._kept(self.columns, after), variable)
            self.tree = nodes.Unnest(self.tree or nodes.Unit(), variable, expression, self.columns)
            self.bound |= bit

    def _kept(self, columns: Columns, needed: int) -> Columns:
        if needed == EVERYTHING:
            return columns
        bits = self.bits
        return tuple([v for v in columns if bits[v.name] & needed])


def equal(left: Expr, right: Expr) -> Expr:
    """Return the condition that two values of one type are equal."""
    return Operate("==", (left, right), BOOL)
