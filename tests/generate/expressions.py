"""Random typed expressions over variables of many types, as text, with rows of edge values to evaluate them on.

Divisors are made odd and shifts of bigints small, so that every expression has a value on every row.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from tidelog.base.conform import bounds
from tidelog.base.types import (
    BIGINT,
    BOOL,
    DOUBLE,
    FLOAT,
    STRING,
    BigInt,
    Bit,
    Double,
    Float,
    Signed,
    String,
    Type,
    is_integer,
    show,
)
from tidelog.base.values import real, single
from tidelog.session.soak.spec import Row

INTEGERS: tuple[Type, ...] = (
    Bit(1), Bit(8), Bit(10), Bit(32), Bit(63), Bit(64), Bit(65), Bit(128),
    Signed(8), Signed(32), Signed(33), Signed(64), Signed(128), BIGINT,
)  # fmt: skip
TYPES: tuple[Type, ...] = (*INTEGERS, BOOL, STRING, DOUBLE, FLOAT)
REALS = (0.0, 1.0, -1.5, 1e300, -1e-300, float("inf"), 0.1, 3.0e10)


def variable(type: Type) -> str:
    """The name of the variable of a type; there are two of each, `x...` and `y...`."""
    return show(type).replace("<", "").replace(">", "")


def random_value(random: Random, type: Type) -> Any:
    """A value, often at an edge."""
    match type:
        case Bit() | Signed():
            low, high = bounds(type)
            edges = [low, high, low + 1, high - 1, 0, 1, high // 2, random.randint(low, high)]
            return min(max(random.choice(edges), low), high)
        case BigInt():
            return random.choice((0, 1, -1, 2**63, -(2**64), 10**30, -(10**30), random.randint(-100, 100)))
        case Double():
            return real(random.choice(REALS))
        case Float():
            return single(random.choice(REALS))
        case String():
            return random.choice(("", "a", "tide", "naïve", "A b"))
        case _:
            return random.random() < 0.5


@dataclass
class Expressions:
    """Makes expressions; the variables `x<type>` and `y<type>` may occur in them."""

    random: Random

    def expression(self, type: Type, depth: int) -> str:
        """An expression of a type, nested so deep at most."""
        if depth == 0 or self.random.random() < 0.15:
            return self.leaf(type)
        if self.random.random() < 0.1:
            return f"(if ({self.expression(BOOL, depth - 1)}) {{ {self.two(type, depth, '} else {')} }})"
        if is_integer(type):
            return self.integer(type, depth - 1)
        match type:
            case Double() | Float():
                return self.number(type, depth - 1)
            case String():
                return self.text(depth - 1)
            case _:
                return self.truth(depth - 1)

    def leaf(self, type: Type) -> str:
        """A variable or a literal."""
        if self.random.random() < 0.75:
            return self.random.choice("xy") + variable(type)
        if is_integer(type):
            return f"({1 if type == Bit(1) else self.random.choice((0, 1, 2, 7, 100))}: {show(type)})"
        match type:
            case Double() | Float():
                return f"({self.random.choice(('0.5', '2.0', '100.25'))}: {show(type)})"
            case String():
                return self.random.choice(('""', '"b"', '"é"'))
            case _:
                return self.random.choice(("true", "false"))

    def two(self, type: Type, depth: int, between: str) -> str:
        """Two expressions of a type with something between them."""
        return f"{self.expression(type, depth)} {between} {self.expression(type, depth)}"

    def integer(self, type: Type, depth: int) -> str:
        """An operator that gives an integer."""
        a = self.expression(type, depth)
        choice = self.random.randrange(12)
        if choice < 5:
            return f"({a} {self.random.choice('+-*&|^')} {self.expression(type, depth)})"
        if choice == 5:
            return f"({a} {self.random.choice('/%')} ({self.expression(type, depth)} | 1))"
        if choice == 6:
            return f"(~{a})" if self.random.random() < 0.5 else f"(-{a})"
        if choice == 7:
            amount = self.expression(Bit(32), depth)
            amount = f"({amount} % 70)" if isinstance(type, BigInt) else amount
            return f"({a} {self.random.choice(('<<', '>>'))} {amount})"
        if choice == 8:
            return self.bits(type, depth)
        if choice == 9 and isinstance(type, Bit) and type.width == 64:
            return f"len({self.expression(STRING, depth)})"
        reals = () if isinstance(type, BigInt) else (DOUBLE, FLOAT)  # infinities are no bigints
        return f"({self.expression(self.random.choice((*INTEGERS, *reals)), depth)} as {show(type)})"

    def bits(self, type: Type, depth: int) -> str:
        """A slice or a concatenation, made to fit."""
        source = self.random.choice([t for t in INTEGERS if isinstance(t, Bit)])
        if self.random.random() < 0.5:
            other = self.random.choice([t for t in INTEGERS if isinstance(t, Bit)])
            return f"(({self.expression(source, depth)} ++ {self.expression(other, depth)}) as {show(type)})"
        high = self.random.randrange(source.width)
        return f"({self.leaf_of(source)}[{high}:{self.random.randint(0, high)}] as {show(type)})"

    def leaf_of(self, type: Type) -> str:
        """A variable."""
        return self.random.choice("xy") + variable(type)

    def number(self, type: Type, depth: int) -> str:
        """An operator that gives a floating point number."""
        if self.random.random() < 0.2:
            return f"({self.expression(self.random.choice((*INTEGERS, DOUBLE, FLOAT)), depth)} as {show(type)})"
        if self.random.random() < 0.1:
            return f"(-{self.expression(type, depth)})"
        return f"({self.two(type, depth, self.random.choice('+-*/%'))})"

    def text(self, depth: int) -> str:
        """An operator that gives a string."""
        if self.random.random() < 0.5:
            return f'"<${{{self.leaf_of(self.random.choice(TYPES))}}}>"'
        return f"({self.two(STRING, depth, '++')})"

    def truth(self, depth: int) -> str:
        """An operator that gives a bool."""
        if self.random.random() < 0.3:
            return f"({self.two(BOOL, depth, self.random.choice(('and', 'or', '=>')))})"
        if self.random.random() < 0.15:
            return f"(not {self.expression(BOOL, depth)})"
        operator = self.random.choice(("==", "!=", "<", "<=", ">", ">="))
        return f"({self.two(self.random.choice(TYPES), depth, operator)})"


def expression_program(random: Random, count: int = 8) -> tuple[str, dict[str, frozenset[Row]]]:
    """A program that evaluates random expressions on random rows, and its facts."""
    columns = [(f"{letter}{variable(type)}", type) for letter in "xy" for type in TYPES]
    declared = ", ".join(f"{name}: {show(type)}" for name, type in columns)
    body = f"I(i, {', '.join(name for name, _ in columns)})"
    lines = [f"input relation I(i: u32, {declared})"]
    maker = Expressions(random)
    for k in range(count):
        type = random.choice(TYPES)
        lines.append(f"output relation O{k}(i: u32, v: {show(type)})")
        lines.append(f"O{k}(i, {maker.expression(type, 3)}) :- {body}.")
    rows = frozenset((i, *(random_value(random, type) for _, type in columns)) for i in range(10))
    return "\n".join(lines) + "\n", {"I": rows}
