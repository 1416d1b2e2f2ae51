"""What a plan node means: a bag of rows, each a dictionary from variable names to values.

`Algebra.rows` is one short case a node. What a scan reads is up to the caller, so the same definition serves
evaluation from scratch and, in tests, the delta variants of a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TypeVar, assert_never

from tidelog.base.expr import Const, Expr, Var
from tidelog.base.record import record
from tidelog.base.text.write import show_value
from tidelog.base.values import Group, Value
from tidelog.plan import nodes as p
from tidelog.run.reference.evaluate import Environment, Evaluator
from tidelog.run.reference.operators import Failure, same

Row = tuple[Value, ...]
Result = TypeVar("Result")


@record
class Algebra:
    """Evaluates plan nodes: `read` gives the tuples a scan sees, `tick` is called for every row that is made."""

    evaluator: Evaluator
    read: Callable[[p.Scan], Iterable[Row]]
    tick: Callable[[], None] = lambda: None

    def derivations(self, tree: p.Project) -> Iterator[Row]:
        """Yield a tuple of the head for every derivation."""
        for row in self.rows(tree.input):
            yield tuple([self._value(x, row, tree.input) for x in tree.expressions])

    def rows(self, node: p.Node) -> Iterator[Environment]:
        """Yield the rows of a node."""
        match node:
            case p.Unit():
                yield {}
            case p.Scan(_, terms):
                bind = binder(terms)
                for values in self.read(node):
                    self.tick()
                    row = bind(values)
                    if row is not None:
                        yield row
            case p.Select(source, condition):
                yield from (row for row in self.rows(source) if self._value(condition, row, source))
            case p.Extend(source, variable, expression):
                for row in self.rows(source):
                    yield {**row, variable.name: self._value(expression, row, source)}
            case p.Unnest(source, variable, expression):
                for row in self.rows(source):
                    for element in self._elements(expression, row, source):
                        self.tick()
                        yield {**row, variable.name: element}
            case p.Product(left, right):
                yield from self._join(left, right, ())
            case p.Join(left, right, keys):
                yield from self._join(left, right, keys)
            case p.AntiJoin(left, right, keys):
                present = {_key(keys, row) for row in self.rows(right)}
                yield from (row for row in self.rows(left) if _key(keys, row) not in present)
            case p.Aggregate():
                yield from self._groups(node)
            case p.Project():
                raise AssertionError("a head stands only at the root")
            case _:
                assert_never(node)

    def _join(self, left: p.Node, right: p.Node, keys: tuple[Var, ...]) -> Iterator[Environment]:
        rows = self.rows(left)
        first = next(rows, None)
        if first is None:
            return
        index: dict[Row, list[Environment]] = {}
        for row in self.rows(right):
            index.setdefault(_key(keys, row), []).append(row)
        for row in chain((first,), rows):
            for match in index.get(_key(keys, row), ()):
                self.tick()
                yield {**row, **match}

    def _groups(self, node: p.Aggregate) -> Iterator[Environment]:
        groups: dict[Row, dict[Value, int]] = {}
        for row in self.rows(node.input):
            weights = groups.setdefault(_key(node.keys, row), {})
            value = self._value(node.value, row, node.input)
            weights[value] = weights.get(value, 0) + 1
        for key, weights in groups.items():
            row = {variable.name: value for variable, value in zip(node.keys, key, strict=True)}
            row[node.group.name] = Group(key[0] if len(key) == 1 else key, weights)
            yield {**row, node.result.name: self._value(node.reduce, row, node)}

    def _value(self, expression: Expr, row: Environment, source: p.Node) -> Value:
        return self._explained(lambda: self.evaluator.value(expression, dict(row)), row, source)

    def _elements(self, expression: Expr, row: Environment, source: p.Node) -> Iterable[Value]:
        return self._explained(lambda: self.evaluator.elements(expression, dict(row)), row, source)

    def _explained(self, evaluate: Callable[[], Result], row: Environment, source: p.Node) -> Result:
        """Evaluate; if that fails, say with which bindings."""
        try:
            return evaluate()
        except RecursionError:
            raise Failure("an expression is nested too deeply") from None
        except Failure as failure:
            types = self.evaluator.types
            shown = [f"{v.name} = {show_value(row[v.name], v.type, types)}" for v in source.columns if v.name in row]
            if not shown:
                raise
            raise Failure(f"{failure}, with {', '.join(shown)}") from failure


def binder(terms: tuple[Var | Const | None, ...]) -> Callable[[Row], Environment | None]:
    """Return what matches a tuple with the terms of an atom: the variables' values, or None if it does not fit."""
    constants = [(place, term.value) for place, term in enumerate(terms) if isinstance(term, Const)]
    names = [(place, term.name) for place, term in enumerate(terms) if isinstance(term, Var)]

    def bind(values: Row) -> Environment | None:
        for place, constant in constants:
            if not same(constant, values[place]):
                return None
        row: Environment = {}
        for place, name in names:
            if not same(row.setdefault(name, values[place]), values[place]):
                return None
        return row

    return bind


def _key(keys: tuple[Var, ...], row: Environment) -> Row:
    return tuple([row[variable.name] for variable in keys])
