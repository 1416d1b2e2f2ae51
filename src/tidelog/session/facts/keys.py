"""Primary keys: the key of a row, keys as users give them, and the rows a relation has by key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Any

from tidelog.base.arguments import brief
from tidelog.base.errors import DataError
from tidelog.base.expr import Expr, MakeTuple, Var
from tidelog.base.plain.misfit import Misfit
from tidelog.base.plain.plain import Plain
from tidelog.base.text.write import show_row
from tidelog.base.values import Value
from tidelog.logic.program import Program
from tidelog.plan.nodes import Plan, Relation
from tidelog.run.contract.engine import Delta, Row, Rows


def key_function(relation: Relation, plan: Plan | Program) -> Callable[[Row], Value]:
    """Return the function from a row to its primary key."""
    key = relation.primary_key
    assert key is not None, f"{relation.name} has no primary key"
    names = [column.name for column in relation.columns]
    places = _columns(key, names)
    if places is not None:
        return itemgetter(*places)
    from tidelog.run.reference.evaluate import Evaluator  # noqa: PLC0415  (few keys are computed)
    from tidelog.run.reference.operators import Failure  # noqa: PLC0415

    evaluator = Evaluator(plan.functions, plan.types)

    def compute(row: Row) -> Value:
        try:
            return evaluator.value(key, dict(zip(names, row, strict=True)))
        except Failure as failure:
            shown = show_row(relation.name, relation.columns, row, plan.types)
            raise DataError(f"the primary key of {shown} cannot be computed: {failure}") from failure

    return compute


def read_keys(relation: Relation, keys: Iterable[Any], plain: Plain) -> list[Value]:
    """Return primary keys given by a user, checked."""
    assert relation.primary_key is not None, f"{relation.name} has no primary key"
    if isinstance(keys, str | bytes | Mapping) or not isinstance(keys, Iterable):
        raise DataError(f"{relation.name}: expected keys, found {brief(keys)}; one key is written [key]")
    read = plain.read(relation.primary_key.type)
    result = []
    for number, value in enumerate(keys):
        try:
            result.append(read(value))
        except Misfit as misfit:
            raise DataError(f"{relation.name}, keys[{number}]: {misfit}") from None
    return result


def _columns(key: Expr, names: list[str]) -> list[int] | None:
    """Return the places of the columns that the key consists of, if it is one or a tuple of several."""
    match key:
        case Var(name):
            return [names.index(name)]
        case MakeTuple(items) if len(items) > 1 and all(isinstance(item, Var) for item in items):
            return [names.index(item.name) for item in items if isinstance(item, Var)]
        case _:
            return None


class KeyedRows:
    """The rows of a relation by primary key.

    Operations on facts keep keys unique; facts that the program itself states may not, which is noticed here.
    """

    def __init__(self, rows: Rows, key: Callable[[Row], Value], show: Callable[[Row], str]) -> None:
        self.key = key
        self.rows: dict[Value, Row] = {}
        self._show = show
        self._add(rows)

    def apply(self, change: Delta) -> None:
        """Follow a commit; raise `DataError` if two rows would have one key."""
        for row in change.deleted:
            del self.rows[self.key(row)]
        self._add(change.inserted)

    def _add(self, rows: Rows) -> None:
        for row in rows:
            other = self.rows.setdefault(self.key(row), row)
            if other != row:
                raise DataError(f"{self._show(row)} has the same primary key as {self._show(other)}")


class Keys:
    """The rows of relations by primary key, of those relations where somebody has asked for them."""

    def __init__(self, rows: Callable[[str], Rows]) -> None:
        self._rows = rows
        self._keyed: dict[str, KeyedRows] = {}
        self._checked: Plan | None = None

    def of(self, relation: Relation, plan: Plan) -> KeyedRows:
        """Return the rows of a relation of a plan."""
        found = self._keyed.get(relation.name)
        if found is None:
            found = KeyedRows(self._rows(relation.name), key_function(relation, plan), shower(relation, plan))
            self._keyed[relation.name] = found
        return found

    def follow(self, changes: Mapping[str, Delta]) -> None:
        """Follow a commit; raise `DataError` if two rows would have one key."""
        for name, keyed in self._keyed.items():
            if name in changes:
                keyed.apply(changes[name])

    def check(self, plan: Plan) -> None:
        """Refuse facts of the program that have the key of another row; those of transactions are checked as given."""
        for rule in (rule for stratum in plan.strata for rule in stratum.rules if plan is not self._checked):
            if plan.relations[rule.head].primary_key is not None:
                self.of(plan.relations[rule.head], plan)
        self._checked = plan


def shower(relation: Relation, plan: Plan | Program) -> Callable[[Row], str]:
    """Return the function that writes a row of a relation as the language does."""
    return lambda row: show_row(relation.name, relation.columns, row, plan.types)
