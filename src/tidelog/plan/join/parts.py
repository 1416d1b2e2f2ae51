"""The body of a rule as a set of parts, between two shapes: a tree is taken apart, put in another order, put together.

A part is a literal without its place. `Body` numbers the variables of the rule and keeps, for each part, the set of
variables it `needs` (must be bound before it) and `gives` (are bound after it) as bit sets, so that an order is found
by a few operations on integers.

An `Equation` works both ways: it gives its variable a value, or compares if something else has bound it already.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from tidelog.base.expr import Expr, Operate, Var
from tidelog.base.free import free_variables
from tidelog.base.record import record
from tidelog.plan.join.may_fail import may_fail
from tidelog.plan.join.spine import spine
from tidelog.plan.nodes import Aggregate, AntiJoin, Extend, Join, Product, Project, Scan, Select, Unit, Unnest


@record
class Present:
    """Rows of a relation or of an aggregate: binds their columns."""

    node: Scan | Aggregate

    @property
    def scan(self) -> Scan:
        """The scan itself, or the one the aggregate reads."""
        return self.node if isinstance(self.node, Scan) else self.node.input


@record
class Absent:
    """No row of a relation fits."""

    scan: Scan


@record
class Filter:
    """A condition holds."""

    condition: Expr


@record
class Equation:
    """A variable equals an expression."""

    variable: Var
    expression: Expr


@record
class Element:
    """A variable is one of the elements of a collection."""

    variable: Var
    expression: Expr


Part = Present | Absent | Filter | Equation | Element


@dataclass(slots=True)
class Body:
    """The parts of a rule in body order, and its head.

    `needs[i]` and `gives[i]` are sets of variables, as the sum of their `bits`; `head` is that of the head's variables.
    """

    parts: Sequence[Part]
    relation: str
    expressions: tuple[Expr, ...]
    bits: dict[str, int] = field(init=False)
    needs: list[int] = field(init=False)
    gives: list[int] = field(init=False)
    head: int = field(init=False)
    touching: dict[int, list[int]] = field(init=False)
    """The parts that mention a variable, by its bit."""
    guards: dict[int, int] = field(init=False)
    """For each part that may fail, the set of parts before it that may keep it from failing (bit i: part i)."""

    def __post_init__(self) -> None:
        self.bits, self.needs, self.gives, self.guards = {}, [], [], {}
        careful = []
        for i, part in enumerate(self.parts):
            needs = gives = 0
            match part:
                case Present(node):
                    gives = self._numbers([v.name for v in node.columns])
                case Absent(scan):
                    needs = self._numbers([v.name for v in scan.columns])
                case Filter(condition):
                    needs = self._numbers(free_variables(condition))
                    if may_fail(condition):
                        careful.append(i)
                case Equation(variable, expression) | Element(variable, expression):
                    needs = self._numbers(free_variables(expression))
                    gives = self._numbers((variable.name,))
                    if may_fail(expression):
                        careful.append(i)
                case _:
                    assert_never(part)
            self.needs.append(needs)
            self.gives.append(gives)
        self.head = 0
        for expression in self.expressions:
            self.head |= self._numbers(free_variables(expression))
        self.touching = {bit: [] for bit in self.bits.values()}
        for i, (needs, gives) in enumerate(zip(self.needs, self.gives, strict=True)):
            for bit in bits_of(needs | gives):
                self.touching[bit].append(i)
        if careful:
            self._guard(careful)

    def part_of(self, occurrence: int) -> int:
        """Return the number of the part that an occurrence stands in."""
        for i, part in enumerate(self.parts):
            if isinstance(part, Present | Absent) and part.scan.occurrence == occurrence:
                return i
        raise KeyError(occurrence)

    def _guard(self, careful: list[int]) -> None:
        """Note for each careful part those before it that it shares variables with, directly or through others."""
        pieces: list[tuple[int, int]] = []  # connected parts so far: their variables, and the set of them
        for i, (needs, gives) in enumerate(zip(self.needs, self.gives, strict=True)):
            if i in careful:
                self.guards[i] = sum(members for variables, members in pieces if variables & needs)
            variables, members, apart = needs | gives, 1 << i, []
            for piece in pieces:
                if piece[0] & variables:
                    variables, members = variables | piece[0], members | piece[1]
                else:
                    apart.append(piece)
            pieces = [*apart, (variables, members)]

    def _numbers(self, names: Iterable[str]) -> int:
        """Return the bit set of variables; all are bound by some part, maybe a later one."""
        bits = self.bits
        found = 0
        for name in names:
            bit = bits.get(name)
            if bit is None:
                bits[name] = bit = 1 << len(bits)
            found |= bit
        return found


def bits_of(mask: int) -> list[int]:
    """Return the single bits of a set.

    >>> bits_of(0b101)
    [1, 4]
    """
    found = []
    while mask:
        bit = mask & -mask
        found.append(bit)
        mask ^= bit
    return found


def parts(tree: Project) -> list[Part]:
    """Take a tree apart, leftmost leaf first; versions stay in the scans."""
    found: list[Part] = []
    for node in spine(tree):
        match node:
            case Unit() | Project():
                pass
            case Scan() | Aggregate():
                found.append(Present(node))
            case Join(right=right) | Product(right=right):
                assert isinstance(right, Scan | Aggregate), "only left-deep trees can be taken apart"
                found.append(Present(right))
            case AntiJoin(right=right):
                found.append(Absent(right))
            case Select(condition=condition):
                found.append(Filter(condition))
            case Extend(variable=variable, expression=expression):
                found.append(Equation(variable, expression))
            case Unnest(variable=variable, expression=expression):
                found.append(Element(variable, expression))
            case _:
                assert_never(node)
    return found


def conjuncts(condition: Expr) -> list[Part]:
    """Split a conjunction, and see equations in it.

    A conjunction with a part that may fail stays whole: `d != 0 and n / d > 1` stops at its first half.
    """
    match condition:
        case Operate("and", (left, right)) if not may_fail(condition):
            return conjuncts(left) + conjuncts(right)
        case Operate("==", (Var() as variable, expression)) | Operate("==", (expression, Var() as variable)):
            return [Equation(variable, expression)]
        case _:
            return [Filter(condition)]
