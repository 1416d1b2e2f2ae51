"""From a tree of a rule to a query: a DataFrame of derivations.

A tree is left-deep, so it is a row of steps; the bindings so far are a DataFrame with a column for each variable. A
variable's column is called `v` and a number, since names of variables may hold anything. Scans of the stratum at work
bring ranks; a derivation's rank is the greatest of them. Runs of conditions, bindings and elements become Columns as
far as Spark has them; from the first that it has not, the rest of the run is one step in Python.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, assert_never

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as s

from tidelog.base.expr import Const, Expr, Function, Var
from tidelog.base.record import record
from tidelog.base.types import TypeDefinition
from tidelog.plan.closures.components import is_grouping
from tidelog.plan.nodes import Aggregate, AntiJoin, Extend, Project, Rule, Scan, Select, Unnest, Version
from tidelog.run.columnar.rules.join_plan import Step, steps_of
from tidelog.run.phases import AFTER, View
from tidelog.run.spark.frames import worker
from tidelog.run.spark.frames.checkpoint import settle
from tidelog.run.spark.frames.encode import Cells, spark_type
from tidelog.run.spark.frames.grouped import GROUP, NODE, Grouped, Regrouped, grouped
from tidelog.run.spark.frames.named import integer, named, once, renamed, truth
from tidelog.run.spark.frames.relation import RANK, TIMES, Relation, by_hash, column_name, columns_of
from tidelog.run.spark.rules.aggregate import reduction
from tidelog.run.spark.rules.scalars import column, constant

_OTHER_RANK = "other_rank"
_GROUP = "group"


class Reading(Protocol):
    """What a query needs to know: what its scans see now, and what its expressions need."""

    @property
    def members(self) -> frozenset[str]:
        """The relations of the stratum at work."""

    @property
    def ranked(self) -> bool:
        """Whether derivations carry ranks."""

    @property
    def in_loop(self) -> bool:
        """Whether more rounds of this kind will follow."""

    @property
    def partitions(self) -> int:
        """The number of partitions that rows are shuffled into."""

    @property
    def broadcast_rows(self) -> int:
        """Rows of at most this number are sent to all executors."""

    @property
    def cells(self) -> Cells:
        """Values as cells."""

    @property
    def functions(self) -> Mapping[str, Function]:
        """The functions that expressions may call."""

    @property
    def types(self) -> Mapping[str, TypeDefinition]:
        """The types of their values."""

    def one_row(self) -> DataFrame:
        """Return one row that says nothing."""

    def relation(self, name: str) -> Relation:
        """Return a relation."""

    def view(self, scan: Scan, rule: Rule, *, negated: bool) -> View:
        """Return what a scan of a rule sees now."""


@record
class Bindings:
    """Rows of variables; `size` is a bound on their number, if one is known.

    A scan is `narrowed` by constants or repeated variables: its rows may be far fewer than the bound.
    """

    frame: DataFrame
    variables: tuple[Var, ...]
    ranked: bool
    size: int | None
    narrowed: bool = False


class Pipeline:
    """Builds the query of one tree."""

    def __init__(self, rule: Rule, tree: Project, store: Reading) -> None:
        self._rule = rule
        self._tree = tree
        self._store = store
        self._names: dict[str, str] = {}

    def run(self) -> DataFrame | None:
        """Return the derivations: head tuples with `rank` and `times`; None if there can be none."""
        bindings: Bindings | None = None
        steps = list(steps_of(self._tree))
        for step in steps:
            read = step.input if isinstance(step, Aggregate) else step
            if isinstance(read, Scan) and self._size(read) == 0:
                return None
        place = 0
        while place < len(steps):
            step = steps[place]
            match step:
                case Scan():
                    placed = self._placed(bindings, step, negated=False)
                    if bindings is not None and placed is not None:
                        bindings = self._joined(bindings, placed, lasting=True)
                    else:
                        bindings = self._joined(bindings, self._scan(step, negated=False))
                case Aggregate():
                    view = self._store.view(step.input, self._rule, negated=False)
                    bindings = self._joined(bindings, self.groups(step, view, None))
                case AntiJoin(_, right):
                    if self._size(right, negated=True):
                        placed = self._placed(bindings, right, negated=True)
                        other = placed or self._scan(right, negated=True)
                        bindings = self._without(bindings or self._unit(), other, lasting=placed is not None)
                case Select() | Extend() | Unnest():
                    run = self._scalar_run(steps, place)
                    bindings, taken = self._native(bindings or self._unit(), run)
                    if taken < len(run):
                        if place + len(run) == len(steps):
                            return self._finish_in_python(bindings, run[taken:])
                        bindings = self._in_python(bindings, run[taken:])
                    place += len(run) - 1
                case _:
                    assert_never(step)
            place += 1
        return self.finish(bindings or self._unit())

    # --- scans and joins ---------------------------------------------------------------------------------------------

    def _unit(self) -> Bindings:
        return Bindings(self._store.one_row(), (), ranked=False, size=1)

    def _name(self, variable: Var) -> str:
        return self._names.setdefault(variable.name, f"v{len(self._names)}")

    def _view(self, scan: Scan, *, negated: bool) -> View:
        return self._store.view(scan, self._rule, negated=negated)

    def _size(self, scan: Scan, *, negated: bool = False) -> int:
        return self._store.relation(scan.relation).size(self._view(scan, negated=negated))

    def _scan(self, scan: Scan, *, negated: bool) -> Bindings:
        view = self._view(scan, negated=negated)
        # in a bootstrap all tuples of the delta have the same rank, and it is the greatest
        known = self._store.ranked or scan.version is Version.DELTA
        return self.scan_view(scan, view, ranked=not negated and known and scan.relation in self._store.members)

    def scan_view(self, scan: Scan, view: View, *, ranked: bool, placed: tuple[str, ...] = ()) -> Bindings:
        """Return the bindings that a scan gives of a view, perhaps partitioned by some columns."""
        relation = self._store.relation(scan.relation)
        frame = relation.placed_by(placed) if placed else relation.frame(view)
        firsts: dict[str, tuple[Var, str]] = {}
        for number, term in enumerate(scan.terms):
            name = column_name(number)
            if isinstance(term, Const):
                frame = frame.where(f.col(name) == constant(term.value, term.type, self._store.cells))
            elif isinstance(term, Var):
                if term.name in firsts:
                    frame = frame.where(f.col(name) == f.col(firsts[term.name][1]))
                firsts.setdefault(term.name, (term, name))
        chosen = [renamed(name, self._name(variable)) for variable, name in firsts.values()]
        rank = [named(RANK)] if ranked else []
        return Bindings(
            frame.select(*chosen, *rank),
            tuple(variable for variable, _ in firsts.values()),
            ranked,
            relation.size(view),
            narrowed=len(firsts) < sum(isinstance(term, Var | Const) for term in scan.terms),
        )

    def _placed(self, left: Bindings | None, scan: Scan, *, negated: bool) -> Bindings | None:
        """Return a scan as it is kept for joins on the variables known, if that serves later rounds as well.

        To send rows to all executors is a job of its own in every round; here only the few on the left are shuffled.
        """
        if left is None or not self._store.in_loop or scan.relation in self._store.members:
            return None
        known = {variable.name for variable in left.variables}
        shared: dict[str, str] = {}
        for number, term in enumerate(scan.terms):
            if isinstance(term, Var) and term.name in known:
                shared.setdefault(term.name, column_name(number))
        view = self._view(scan, negated=negated)
        if not shared or view != AFTER:
            return None
        return self.scan_view(scan, view, ranked=False, placed=tuple(shared.values()))

    def _joined(self, left: Bindings | None, right: Bindings, *, lasting: bool = False) -> Bindings:
        if left is None:
            return right
        if not lasting:
            left, right = self._measured(left, right)
        both = left.ranked and right.ranked
        other = right.frame.withColumnRenamed(RANK, _OTHER_RANK) if both else right.frame
        # by name: of one variable some atoms may know the type, others a reference to it, whose cells are the same
        known = {variable.name for variable in left.variables}
        keys = [self._name(variable) for variable in right.variables if variable.name in known]
        frame, other, small = self._hinted(left, right, other, lasting=lasting)
        joined = frame.join(other, keys) if keys else frame.crossJoin(other)
        variables = (*left.variables, *(variable for variable in right.variables if variable.name not in known))
        columns: list[Column] = [named(self._name(variable)) for variable in variables]
        if both:
            columns.append(_greater_rank())
        elif left.ranked or right.ranked:
            columns.append(named(RANK))
        return Bindings(joined.select(*columns), variables, left.ranked or right.ranked, small)

    def _measured(self, left: Bindings, right: Bindings) -> tuple[Bindings, Bindings]:
        """Compute a scan that constants narrow where both sides may be large: if its rows are few, none is shuffled."""
        if right.narrowed and not self._is_small(left) and not self._is_small(right):
            right = _counted(right)
        if left.narrowed and not self._is_small(left) and not self._is_small(right):
            left = _counted(left)
        return left, right

    def _is_small(self, bindings: Bindings) -> bool:
        return bindings.size is not None and bindings.size <= self._store.broadcast_rows

    def _hinted(
        self, left: Bindings, right: Bindings, other: DataFrame, *, lasting: bool
    ) -> tuple[DataFrame, DataFrame, int | None]:
        """Say which side is sent to all executors: the smaller if it is small; return a bound on the result, if any.

        Where the right side is `lasting`, partitioned as the join needs it, none is.
        """
        limit = -1 if lasting else self._store.broadcast_rows
        bound = None if left.size is None or right.size is None else left.size * right.size
        if right.size is not None and right.size <= limit and (left.size is None or right.size <= left.size):
            return left.frame, f.broadcast(other), bound
        if left.size is not None and left.size <= limit:
            return f.broadcast(left.frame), other, bound
        if left.size is not None and right.size is not None and left.size < right.size:
            return by_hash(left.frame), other, bound
        return left.frame, by_hash(other), bound

    def _without(self, left: Bindings, right: Bindings, *, lasting: bool) -> Bindings:
        keys = [self._name(variable) for variable in right.variables]
        other = right.frame
        if lasting:
            other = by_hash(other)
        elif right.size is not None and right.size <= self._store.broadcast_rows:
            other = f.broadcast(other)
        if keys:
            return Bindings(left.frame.join(other, keys, "left_anti"), left.variables, left.ranked, left.size)
        condition = f.lit(True)
        return Bindings(left.frame.join(other, condition, "left_anti"), left.variables, left.ranked, left.size)

    # --- aggregates --------------------------------------------------------------------------------------------------

    def groups(self, step: Aggregate, view: View, keys: DataFrame | None) -> Bindings:
        """Return keys and results of all groups of a view, or of those with the given keys (named as in `_name`)."""
        parts = self._store.relation(step.input.relation).held(view)
        equal = grouped(parts) if is_grouping(step) else None
        if equal is not None:
            return self._of_groups(step, equal, keys)
        rows = self.scan_view(step.input, view, ranked=False)
        names = [self._name(key) for key in step.keys]
        frame = rows.frame
        if keys is not None and names:
            frame = frame.join(f.broadcast(keys), names, "left_semi")
        value = column(step.value, self._scope(rows), self._store.cells)
        reduced = reduction(step, value)
        if reduced is None:
            made = self._reduced_in_python(step, frame, rows.variables)
        else:
            result = reduced.alias(self._name(step.result))
            made = frame.groupBy(*names).agg(result, f.count(f.lit(1)).alias(TIMES))
            # without keys Spark makes a group of nothing
            made = made.where(f.col(TIMES) > 0).select(*names, self._name(step.result))
        return Bindings(made, (*step.keys, step.result), ranked=False, size=rows.size)

    def _of_groups(self, step: Aggregate, equal: Grouped, keys: DataFrame | None) -> Bindings:
        """Return for each node the result of the group it is in, or for those nodes that are keys: one a group."""
        (key,) = step.keys
        other = next(term for term in step.input.terms if isinstance(term, Var) and term.name != key.name)
        name, group = self._name(key), _GROUP
        nodes = equal.nodes.select(f.col(NODE).alias(name), f.col(GROUP).alias(group))
        members = equal.nodes.select(f.col(GROUP).alias(group), f.col(NODE).alias(self._name(other)))
        if keys is not None:
            nodes = nodes.join(f.broadcast(keys), name, "left_semi")
            members = members.join(nodes.select(group).distinct(), group, "left_semi")
        rows = Bindings(members, (other,), ranked=False, size=equal.count)
        reduced = reduction(step, column(step.value, self._scope(rows), self._store.cells))
        result = self._name(step.result)
        if reduced is None:
            representative = replace(step, keys=(replace(key, name=group),))
            self._names[group] = group
            made = self._reduced_in_python(representative, members, (replace(key, name=group), other))
        else:
            made = members.groupBy(group).agg(reduced.alias(result))
        found = nodes.join(made, group).select(name, result)
        return Bindings(found, (*step.keys, step.result), ranked=False, size=equal.count)

    def _reduced_in_python(self, step: Aggregate, frame: DataFrame, variables: Sequence[Var]) -> DataFrame:
        names = [self._name(key) for key in step.keys]
        # as many partitions as a shuffle has, so that all rows of a group meet in one
        frame = frame.repartition(self._store.partitions, *names) if names else frame.coalesce(1)
        program = self._program([step.value, step.reduce])
        given = [worker.Column.of(self._name(variable), variable) for variable in variables]
        if not given:  # rows without columns do not travel
            frame, given = frame.withColumn(RANK, f.lit(0).cast("long")), [worker.Column(RANK, None)]
        found = [worker.Column.of(self._name(key), key) for key in step.keys]
        how = worker.Reduction(step.value, step.group, step.reduce)
        fields = [s.StructField(self._name(key), spark_type(key.type)) for key in step.keys]
        schema = s.StructType([*fields, s.StructField(worker.RESULT, spark_type(step.result.type))])
        reduced = frame.mapInArrow(worker.reduce_groups(program, given, found, how), schema)
        return reduced.withColumnRenamed(worker.RESULT, self._name(step.result))

    def keys(self, step: Aggregate, view: View) -> DataFrame:
        """Return the keys of the groups of a view, with repetitions."""
        parts = self._store.relation(step.input.relation).held(view)
        rows = parts[0].rows if len(parts) == 1 else None
        if isinstance(rows, Regrouped | Grouped) and is_grouping(step):
            return rows.nodes.select(f.col(NODE).alias(self._name(step.keys[0])))
        return self.scan_view(step.input, view, ranked=False).frame.select(*[self._name(key) for key in step.keys])

    # --- expressions -------------------------------------------------------------------------------------------------

    @staticmethod
    def _scalar_run(steps: Sequence[Step], place: int) -> list[Select | Extend | Unnest]:
        run: list[Select | Extend | Unnest] = []
        for step in steps[place:]:
            if not isinstance(step, Select | Extend | Unnest):
                break
            run.append(step)
        return run

    def _native(self, bindings: Bindings, run: Sequence[Select | Extend | Unnest]) -> tuple[Bindings, int]:
        """Take the steps that Spark has Columns for; return how many."""
        for taken, step in enumerate(run):
            scope = self._scope(bindings)
            match step:
                case Select(_, condition):
                    test = column(condition, scope, self._store.cells)
                    if test is None:
                        return bindings, taken
                    bindings = Bindings(bindings.frame.where(test), bindings.variables, bindings.ranked, bindings.size)
                case Extend(_, variable, expression):
                    made = column(expression, scope, self._store.cells)
                    if made is None:
                        return bindings, taken
                    frame = bindings.frame.withColumn(self._name(variable), made)
                    bindings = Bindings(frame, (*bindings.variables, variable), bindings.ranked, bindings.size)
                case Unnest():
                    return bindings, taken
                case _:
                    assert_never(step)
        return bindings, len(run)

    def _scope(self, bindings: Bindings) -> dict[str, Column]:
        return {variable.name: named(self._name(variable)) for variable in bindings.variables}

    def _in_python(self, bindings: Bindings, run: Sequence[Select | Extend | Unnest]) -> Bindings:
        bound = (*bindings.variables, *(step.variable for step in run if not isinstance(step, Select)))
        needed = {variable.name for variable in run[-1].columns}
        variables = tuple(variable for variable in bound if variable.name in needed)
        wanted = [(self._name(variable), variable) for variable in variables]
        frame = self._mapped(bindings, run, wanted)
        size = None if any(isinstance(step, Unnest) for step in run) else bindings.size
        return Bindings(frame, variables, bindings.ranked, size)

    def _mapped(
        self,
        bindings: Bindings,
        run: Sequence[Select | Extend | Unnest],
        wanted: Sequence[tuple[str, Expr]],
    ) -> DataFrame:
        """Take the steps and evaluate the wanted expressions in Python; the rank is handed on."""
        steps = [_worker_step(step) for step in run]
        expressions = [step.condition if isinstance(step, worker.Keep) else step.expression for step in steps]
        program = self._program([*expressions, *(expression for _, expression in wanted)])
        given = [worker.Column.of(self._name(variable), variable) for variable in bindings.variables]
        frame = bindings.frame
        if not bindings.ranked:
            frame = frame.withColumn(RANK, f.lit(0).cast("long"))
        rank = worker.Column(RANK, None)
        made: list[tuple[worker.Column, Expr | None]] = [
            (worker.Column.of(name, Var(name, expression.type)), expression) for name, expression in wanted
        ]
        fields = [s.StructField(name, spark_type(expression.type)) for name, expression in wanted]
        schema = s.StructType([*fields, s.StructField(RANK, s.LongType())])
        columns = [*(self._name(variable) for variable in bindings.variables), RANK]
        run_steps = worker.take_steps(program, steps, [*given, rank], [*made, (rank, None)])
        found = frame.select(*columns).mapInArrow(run_steps, schema)
        return found if bindings.ranked else found.drop(RANK)

    def _program(self, expressions: Sequence[Expr]) -> worker.Program:
        return worker.program_of(expressions, self._store.functions, self._store.types, self._rule.origin.quoted)

    # --- the head ----------------------------------------------------------------------------------------------------

    def finish(self, bindings: Bindings) -> DataFrame:
        """Return the head tuples of bindings."""
        scope = self._scope(bindings)
        made = [column(expression, scope, self._store.cells) for expression in self._tree.expressions]
        if any(one is None for one in made):
            return self._finish_in_python(bindings, ())
        named = [one.alias(column_name(number)) for number, one in enumerate(made) if one is not None]
        return self._bag(bindings.frame, bindings, named)

    def _finish_in_python(self, bindings: Bindings, run: Sequence[Select | Extend | Unnest]) -> DataFrame:
        wanted = [(column_name(number), expression) for number, expression in enumerate(self._tree.expressions)]
        frame = self._mapped(bindings, run, wanted)
        return self._bag(frame, bindings, [named(name) for name, _ in wanted])

    def _bag(self, frame: DataFrame, bindings: Bindings, columns: list[Column]) -> DataFrame:
        if not columns:
            columns = [truth(name) for name in columns_of(0)]
        rank = named(RANK) if bindings.ranked else integer(0, RANK)
        return frame.select(*columns, rank, integer(1, TIMES))


def _counted(bindings: Bindings) -> Bindings:
    rows, _ = settle(bindings.frame)
    return replace(bindings, frame=rows.frame, size=rows.count, narrowed=False)


@once
def _greater_rank() -> Column:
    return f.greatest(RANK, _OTHER_RANK).alias(RANK)


def _worker_step(step: Select | Extend | Unnest) -> worker.Step:
    match step:
        case Select(_, condition):
            return worker.Keep(condition)
        case Extend(_, variable, expression):
            return worker.Bind(variable, expression)
        case Unnest(_, variable, expression):
            return worker.Each(variable, expression)
        case _:
            assert_never(step)
