"""Expressions and aggregates of rules on columns of codes, by the evaluators of the columnar engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from tidelog.base.expr import Const, Expr, Var
from tidelog.base.free import free_variables
from tidelog.base.process.meter import ask
from tidelog.plan.nodes import Rule
from tidelog.run.columnar.arrays.table import Mask, Places, U, Words
from tidelog.run.columnar.rules.aggregate import group, reduce_groups
from tidelog.run.columnar.rules.bindings import Table, unit
from tidelog.run.columnar.rules.scalars import Scalars
from tidelog.run.columnar.storage.dictionary import Codec
from tidelog.run.columnar.storage.layout import place, range_of
from tidelog.run.dbsp.rewriting.kit import Each, Gather, Let, Made, Where
from tidelog.run.dbsp.rewriting.parts import Bindings, Columns, head_rows
from tidelog.run.dbsp.rewriting.rewrites import order_of
from tidelog.run.dbsp.zsets.zset import ZSet
from tidelog.run.scalar.failure import ScalarError, failed


class ColumnExpressions:
    """Evaluates parts of rules.

    Of each rule, by the key that its parts begin with, `rules` has its text, to be named when it fails, and what
    evaluates it.
    """

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self.rules: Mapping[str, tuple[Rule, Scalars]] = {}

    @contextmanager
    def _of(self, key: str) -> Iterator[Scalars]:
        rule, scalars = self.rules[key.partition("|")[0]]
        try:
            yield scalars
        except ScalarError as failure:
            raise failed(failure, rule) from failure.error

    def mask(self, part: Where, columns: Columns, count: int) -> Mask:
        """Return whether a condition holds in each row."""
        with self._of(part.key) as scalars:
            return scalars.mask(part.condition, _table(part.condition, columns, count))

    def codes(self, part: Let | Made, columns: Columns, count: int) -> Words:
        """Return the code of an expression in each row."""
        with self._of(part.key) as scalars:
            return scalars.codes(part.expression, _table(part.expression, columns, count))

    def elements(self, part: Each, columns: Columns, count: int) -> tuple[Places, Words]:
        """Return the elements of a collection in each row: the row's place and the element's code."""
        with self._of(part.key) as scalars:
            found = scalars.elements(part.expression, part.type, _table(part.expression, columns, count))
            ask(8 * (len(columns) + 2) * int(found.counts.sum()))
            return found.part(0, count, scalars.arrays)

    def gathered(self, rule: Gather, groups: ZSet) -> ZSet:
        """Return the facts that an aggregating rule makes of whole groups."""
        columns, count = self._bound(rule, groups)
        if not count:
            return ZSet.zero(len(rule.terms))
        table = _packed(columns, count)
        with self._of(rule.key) as scalars:
            found = group(rule.node, table, scalars)
            codes = reduce_groups(rule.node, found, scalars, self._codec)
        made = {key.name: found.table.codes(key.name)[found.groups] for key in rule.node.keys}
        made[rule.node.result.name] = codes
        ones = np.ones(len(codes), np.int64)
        bindings = Bindings(made, ones, np.zeros(len(codes), U))
        return ZSet.made(head_rows(rule.terms, bindings, self), ones)

    def _bound(self, rule: Gather, groups: ZSet) -> tuple[Columns, int]:
        """Return the variables of the facts that fit the atom."""
        terms = rule.node.input.terms
        keep = np.ones(len(groups), bool)
        columns: Columns = {}
        for column, position in zip(groups.rows, order_of(rule.positions, groups.columns), strict=True):
            match terms[position]:
                case Const(value, type):
                    keep &= column == U(self._codec.code(value, type))
                case Var(name) if name in columns:
                    keep &= column == columns[name]
                case Var(name):
                    columns[name] = column
                case None:
                    pass
        return {name: column[keep] for name, column in columns.items()}, int(keep.sum())


def _table(expression: Expr, columns: Columns, count: int) -> Table:
    """Return the variables that an expression reads as bindings of the columnar engine."""
    return _packed({name: columns[name] for name in free_variables(expression) if name in columns}, count)


def _packed(columns: Columns, count: int) -> Table:
    if not columns:
        return Table(unit().layout, np.zeros((1, count), U))
    layout = place((name, range_of(column)) for name, column in columns.items())
    return Table(layout, layout.pack(columns, count))  # type: ignore[arg-type]
