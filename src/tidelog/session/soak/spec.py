"""Random programs as data: small typed rules that know their text. The brute-force oracle works on these, not on text.

Column types are small integers, strings, bools, options of small integers, pairs of a small integer and a bool; and
numbers that need room: of 64 bits, of arbitrarily many, of floating point. `word` is as wide as a word of a packed row;
programs have it only where rows shall be wider than a word. Values are represented as in `base.values`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tidelog.base.values import NONE, Variant, some

Kind = Literal["int", "str", "bool", "opt", "pair", "wide", "big", "real", "word"]
KINDS: tuple[Kind, ...] = ("int", "str", "bool", "opt", "pair", "wide", "big", "real")
TYPE_TEXT: dict[Kind, str] = {
    "int": "bit<8>",
    "str": "string",
    "bool": "bool",
    "opt": "Option<bit<8>>",
    "pair": "(bit<8>, bool)",
    "wide": "signed<64>",
    "big": "bigint",
    "real": "double",
    "word": "u64",
}
NUMBERS = tuple(range(6))
CONSTANTS: dict[Kind, tuple[Any, ...]] = {
    "int": NUMBERS,
    "str": ("a", "b", "c", "d", "e"),
    "bool": (False, True),
    "opt": (NONE, *(some(n) for n in NUMBERS)),
    "pair": tuple((n, b) for n in NUMBERS[:4] for b in (False, True)),
    "wide": (0, 1, -1, 300, -(2**40), 2**63 - 1, 1 - 2**63),
    "big": (0, 1, -1, 2**40, -(2**63) - 1, 2**64, 10**30),
    "real": (0.0, 0.5, -0.5, 3.0, 1e300, -1e-300),
    "word": tuple(n << shift for shift in (0, 20, 61) for n in range(1, 8)),
}

Row = tuple[Any, ...]


def text_of(value: Any) -> str:
    """Write a constant of the language."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return f'"{value}"'
        case tuple():
            return f"({', '.join(map(text_of, value))})"
        case Variant(fields=(inner,)):
            return f"Some{{{text_of(inner)}}}"
        case _:
            return "None"


@dataclass(frozen=True)
class V:
    """A variable."""

    name: str
    kind: Kind

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class C:
    """A constant."""

    value: Any
    kind: Kind

    def __str__(self) -> str:
        return text_of(self.value)


@dataclass(frozen=True)
class Given(C):
    """A constant that is given with a goal, as the value of a parameter."""

    name: str = ""

    def __str__(self) -> str:
        return f"${self.name}"


@dataclass(frozen=True)
class Wild:
    """`_`."""

    kind: Kind

    def __str__(self) -> str:
        return "_"


@dataclass(frozen=True)
class SomeOf:
    """The pattern `Some{x}`."""

    inner: V
    kind: Kind = "opt"

    def __str__(self) -> str:
        return f"Some{{{self.inner}}}"


@dataclass(frozen=True)
class PairOf:
    """The pattern `(x, b)`."""

    first: V
    second: V
    kind: Kind = "pair"

    def __str__(self) -> str:
        return f"({self.first}, {self.second})"


@dataclass(frozen=True)
class Sum:
    """The expression `(x + 1) % 6`, whose variable is bound elsewhere."""

    variable: V
    addend: int
    kind: Kind = "int"

    def __str__(self) -> str:
        return f"({self.variable} + {self.addend}) % {len(NUMBERS)}"


Term = V | C | Wild | SomeOf | PairOf | Sum


def variables_of(term: Term) -> tuple[V, ...]:
    """The variables that a term binds."""
    match term:
        case V():
            return (term,)
        case SomeOf(inner):
            return (inner,)
        case PairOf(first, second):
            return (first, second)
        case _:
            return ()


@dataclass(frozen=True)
class Atom:
    """`R(x, 1, _)`, in a body also `not R(x, 1, _)`; `named` writes `R(.c0 = x, .c1 = 1)`."""

    relation: str
    terms: tuple[Term, ...]
    negated: bool = False
    named: bool = False

    def __str__(self) -> str:
        columns = [f".c{i} = {t}" for i, t in enumerate(self.terms) if not isinstance(t, Wild)]
        arguments = columns if self.named else map(str, self.terms)
        return f"{'not ' if self.negated else ''}{self.relation}({', '.join(arguments)})"


@dataclass(frozen=True)
class Compare:
    """`x < y`."""

    operator: str
    left: V
    right: V | C

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


@dataclass(frozen=True)
class Compute:
    """`var z = f(x, y)`."""

    variable: V
    function: Literal["plus", "least", "wrap", "pack", "unwrap", "join"]
    arguments: tuple[V | C, ...]

    def __str__(self) -> str:
        a = [str(argument) for argument in self.arguments]
        if self.function == "join":  # what is joined may be of many types: nothing tells that of a parameter
            a = [f"({one}: string)" if isinstance(one, Given) else str(one) for one in self.arguments]
        expression = {
            "plus": lambda: f"({a[0]} + {a[1]}) % {len(NUMBERS)}",
            "least": lambda: f"min({a[0]}, {a[1]})",
            "wrap": lambda: f"Some{{{a[0]}}}",
            "pack": lambda: f"({a[0]}, {a[1]})",
            "unwrap": lambda: f"{a[0]}.unwrap_or(0)",
            "join": lambda: f"substr({a[0]} ++ {a[1]}, 0, 1)",
        }[self.function]()
        return f"var {self.variable} = {expression}"


@dataclass(frozen=True)
class Unpack:
    """`Some{var x} = o` or `(var x, var b) = p`: holds if the pattern fits."""

    pattern: SomeOf | PairOf
    value: V

    def __str__(self) -> str:
        match self.pattern:
            case SomeOf(inner):
                return f"Some{{var {inner}}} = {self.value}"
            case PairOf(first, second):
                return f"(var {first}, var {second}) = {self.value}"


@dataclass(frozen=True)
class Spread:
    """`var x = FlatMap([a, b])`."""

    variable: V
    items: tuple[V | C, ...]

    def __str__(self) -> str:
        return f"var {self.variable} = FlatMap([{', '.join(map(str, self.items))}])"


@dataclass(frozen=True)
class Either:
    """`(R(x), S(x); T(x))`: the alternatives bind the same variables."""

    alternatives: tuple[tuple[Atom, ...], ...]

    def __str__(self) -> str:
        return f"({'; '.join(', '.join(map(str, body)) for body in self.alternatives)})"


@dataclass(frozen=True)
class GroupBy:
    """`var n = value.group_by((k, l)).aggregate()`, after which only the keys and the result are visible."""

    variable: V
    value: V | C
    keys: tuple[V, ...]
    aggregate: str

    def __str__(self) -> str:
        keys = str(self.keys[0]) if len(self.keys) == 1 else f"({', '.join(map(str, self.keys))})"
        call = f"{self.value}.group_by({keys}).{self.aggregate}()"
        if isinstance(self.value, C) and self.value.kind == "int":
            call = f"({self.value}: bit<8>).group_by({keys}).{self.aggregate}()"
        narrow = {"count": " as bit<8>", "count_distinct": " as bit<8>"}.get(self.aggregate, "")
        return f"var {self.variable} = {call}{narrow}"


Clause = Atom | Compare | Compute | Unpack | Spread | Either | GroupBy


@dataclass(frozen=True)
class Rule:
    """`heads :- body.`; the body is in an order in which every variable is bound before it is used.

    `written` is the order in which the clauses are written, a permutation of their positions.
    """

    heads: tuple[Atom, ...]
    body: tuple[Clause, ...]
    written: tuple[int, ...]

    def __str__(self) -> str:
        heads = ", ".join(map(str, self.heads))
        body = ", ".join(str(self.body[i]) for i in self.written)
        return f"{heads} :- {body}." if body else f"{heads}."


@dataclass(frozen=True)
class Goal:
    """A goal: a rule whose head has the variables to be answered, and the values of parameters by name."""

    rule: Rule
    given: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        return str(self.rule).partition(" :- ")[2].removesuffix(".")

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the variables, in the order of the head."""
        return tuple(str(term) for term in self.rule.heads[0].terms)

    @property
    def relations(self) -> set[str]:
        """The relations that the goal reads."""
        either = [
            atom for clause in self.rule.body if isinstance(clause, Either) for a in clause.alternatives for atom in a
        ]
        return {atom.relation for atom in (*self.rule.body, *either) if isinstance(atom, Atom)}


@dataclass(frozen=True)
class Declared:
    """A relation; rules of stratum s may negate and group only relations of strata below s. Inputs have stratum 0."""

    name: str
    kinds: tuple[Kind, ...]
    stratum: int
    given: bool = False
    """Whether facts are given although rules derive it, too."""

    def __str__(self) -> str:
        columns = ", ".join(f"c{i}: {TYPE_TEXT[kind]}" for i, kind in enumerate(self.kinds))
        return f"{'output' if self.stratum and not self.given else 'input'} relation {self.name}({columns})"


@dataclass(frozen=True)
class Program:
    """Relations, rules, and facts of the input relations."""

    relations: tuple[Declared, ...]
    rules: tuple[Rule, ...]
    facts: dict[str, frozenset[Row]]

    def __str__(self) -> str:
        return "\n".join([*map(str, self.relations), *map(str, self.rules), ""])

    @property
    def inputs(self) -> tuple[Declared, ...]:
        """The relations that facts are given for."""
        return tuple(r for r in self.relations if r.given or not r.stratum)
