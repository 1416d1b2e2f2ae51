"""What runs in Spark's Python workers: steps of a rule that Spark has no Columns for, and groups.

A `Program` carries the functions and types that the steps need; each worker compiles them once a task. Errors of
single rows are sent to the driver in the text of an exception, between marks, since a class would be lost on the way
through the JVM; `failure` finds them there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

import pyarrow as pa

from tidelog.base.expr import Expr, Function, Var
from tidelog.base.free import free_variables
from tidelog.base.record import record
from tidelog.base.text.show import show_value
from tidelog.base.types import TypeDefinition
from tidelog.base.values import Group
from tidelog.run.scalar.closures import Closure, Closures, called, elements
from tidelog.run.spark.frames.encode import Cells, arrow_type

BEGIN, END = "[[tidelog: ", " :tidelog]]"
RESULT = "result"
_FAILURE = re.compile(re.escape(BEGIN) + "(.*?)" + re.escape(END), re.DOTALL)

Environment = dict[str, Any]


@record
class Keep:
    """Keep the rows for which a condition is true."""

    condition: Expr


@record
class Bind:
    """Bind a variable to the value of an expression."""

    variable: Var
    expression: Expr


@record
class Each:
    """Bind a variable to each element of a collection in turn."""

    variable: Var
    expression: Expr


Step = Keep | Bind | Each


@record
class Program:
    """The functions and types that some expressions of a rule need, and the rule for error messages."""

    functions: Mapping[str, Function]
    types: Mapping[str, TypeDefinition]
    rule: str


@record
class Column:
    """A column that travels: its name in the DataFrame, the variable it holds (None: passed on as it is), its type."""

    name: str
    variable: Var | None
    type: pa.DataType = field(default_factory=pa.int64)

    @staticmethod
    def of(name: str, variable: Var) -> Column:
        """Return the column of a variable."""
        return Column(name, variable, arrow_type(variable.type))


@record
class Reduction:
    """What an aggregate makes of a group: the value of each row, and an expression over the group of them."""

    value: Expr
    group: Var
    reduce: Expr


class EvaluationFailedError(Exception):
    """An expression failed; the text between the marks is for the user."""


def failure(error: BaseException) -> str | None:
    """Return what went wrong in a worker, if it was an expression of the program."""
    found = _FAILURE.search(str(error))
    return found[1] if found else None


def program_of(
    expressions: Iterable[Expr], functions: Mapping[str, Function], types: Mapping[str, TypeDefinition], rule: str
) -> Program:
    """Return what expressions need, so that no more than that is sent to workers."""
    return Program(called(expressions, functions), types, rule)


class _Evaluator:
    """Evaluates expressions in environments, naming rule and bindings when one fails."""

    def __init__(self, program: Program) -> None:
        self._closures = Closures(program.functions, program.types)
        self._rule = program.rule

    def compile(self, expression: Expr) -> Closure:
        """Return a closure that does not touch the environment it is given."""
        closure, names = self._closures.compile(expression), list(free_variables(expression))

        def evaluate(environment: Environment) -> Any:
            bindings = {name: environment[name] for name in names}
            try:
                return closure(dict(bindings))
            except Exception as error:
                shown = ", ".join(f"{name} = {show_value(value)}" for name, value in bindings.items())
                where = f", with {shown}" if shown else ""
                text = f"{error}{where}\n  in the rule {self._rule}"
                raise EvaluationFailedError(f"{BEGIN}{text}{END}") from error

        return evaluate


def take_steps(
    program: Program, steps: Sequence[Step], given: Sequence[Column], wanted: Sequence[tuple[Column, Expr | None]]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for `mapInArrow`: the given columns through the steps, then the wanted ones.

    A wanted column is an expression over the bindings, or without one the column given under its name.
    """
    schema = pa.schema([(column.name, column.type) for column, _ in wanted])

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        evaluator, cells = _Evaluator(program), Cells(program.types)
        actions = [_action(step, evaluator) for step in steps]
        results = [(column, None if node is None else evaluator.compile(node)) for column, node in wanted]
        for batch in batches:
            rows: Iterable[Environment] = _environments(batch, given, cells)
            for action in actions:
                rows = action(rows)
            found = list(rows)
            arrays = [
                _column(column, closure, found, cells, node)
                for (column, closure), (_, node) in zip(results, wanted, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return run


def _column(column: Column, closure: Closure | None, rows: list[Environment], cells: Cells, node: Expr | None) -> Any:
    if closure is None or node is None:
        return pa.array([row[column.name] for row in rows], column.type)
    return cells.array([closure(row) for row in rows], node.type)


def _environments(batch: Any, given: Sequence[Column], cells: Cells) -> Iterable[Environment]:
    names = [column.name if column.variable is None else column.variable.name for column in given]
    columns = [
        batch.column(column.name).to_pylist()
        if column.variable is None
        else cells.values(batch.column(column.name), column.variable.type)
        for column in given
    ]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _action(step: Step, evaluator: _Evaluator) -> Callable[[Iterable[Environment]], Iterable[Environment]]:
    match step:
        case Keep(condition):
            test = evaluator.compile(condition)
            return lambda rows: [row for row in rows if test(row)]
        case Bind(variable, expression):
            name, made = variable.name, evaluator.compile(expression)
            return lambda rows: [{**row, name: made(row)} for row in rows]
        case Each(variable, expression):
            name, many = variable.name, evaluator.compile(expression)
            return lambda rows: [{**row, name: one} for row in rows for one in elements(many(row))]


def reduce_groups(
    program: Program, given: Sequence[Column], keys: Sequence[Column], reduction: Reduction
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for `mapInArrow`: all rows of some groups to the keys and the result of each."""
    fields = [(key.name, key.type) for key in keys]
    schema = pa.schema([*fields, (RESULT, arrow_type(reduction.reduce.type))])
    variables = [key.variable for key in keys if key.variable is not None]

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        evaluator, cells = _Evaluator(program), Cells(program.types)
        value_of, result_of = evaluator.compile(reduction.value), evaluator.compile(reduction.reduce)
        groups: dict[tuple[Any, ...], dict[Any, int]] = {}
        for batch in batches:
            for row in _environments(batch, given, cells):
                weights = groups.setdefault(tuple([row[variable.name] for variable in variables]), {})
                member = value_of(row)
                weights[member] = weights.get(member, 0) + 1
        results = []
        for key, weights in groups.items():
            named = {variable.name: part for variable, part in zip(variables, key, strict=True)}
            whole = Group(key[0] if len(key) == 1 else key, weights)
            results.append(result_of({**named, reduction.group.name: whole}))
        columns = [cells.array([key[i] for key in groups], variable.type) for i, variable in enumerate(variables)]
        arrays = [*columns, cells.array(results, reduction.reduce.type)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    return run
