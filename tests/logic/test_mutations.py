"""Programs with random mistakes: none is a defect of Tidelog, and one that is accepted runs and has typed results.

Words of the programs under tests/programs are exchanged for others. What the checker then accepts is evaluated on
random facts by the reference engine: the type system is sound if every value is of its column's type.
"""

import re
from functools import cache
from random import Random

import pytest

from tests.cases import ERRORS, PROGRAMS
from tidelog.base.conform import conforms
from tidelog.base.diagnostic import Report, render
from tidelog.base.errors import UserError
from tidelog.base.span import Source
from tidelog.base.types import (
    INTERN,
    MAP,
    REF,
    SET,
    VEC,
    BigInt,
    Bit,
    Bool,
    Double,
    Float,
    Named,
    Signed,
    String,
    Tuple,
    Type,
    TypeDefinition,
    substitute,
)
from tidelog.base.values import FrozenMap, Value, Variant
from tidelog.logic.passes import analyse
from tidelog.logic.program import Program
from tidelog.plan.nodes import Plan
from tidelog.plan.passes import plan_program
from tidelog.plan.rewrite.separate_facts import stored_in
from tidelog.run.contract.engine import Delta, Limits
from tidelog.run.reference.engine import ReferenceEngine

WORD = re.compile(r'//[^\n]*|"(?:[^"\\]|\\.)*"|\w+|\s+|.', re.DOTALL)
LIMITS = Limits(rounds=20, tuples=2000, seconds=2)
DEEPEST = 5


@cache
def texts() -> tuple[tuple[str, ...], ...]:
    files = sorted([*PROGRAMS.glob("*/*/program.dl"), *ERRORS.glob("*/program.dl")])
    return tuple(tuple(WORD.findall(file.read_text(encoding="utf-8"))) for file in files)


def kind(word: str) -> tuple[bool, bool]:
    return word.isidentifier(), word[:1].isupper()


def mutated(random: Random) -> str:
    """Exchange a few words of a program, mostly for others of their kind."""
    words = list(random.choice(texts()))
    for _ in range(random.randint(1, 4)):
        place = random.randrange(len(words))
        source = words if random.random() < 0.7 else random.choice(texts())
        other = [w for w in source if not w.isspace() and (kind(w) == kind(words[place]) or random.random() < 0.01)]
        if other and not words[place].isspace():
            words[place] = random.choice(other)
    return "".join(words)


class NoValueError(Exception):
    """The type has no value that is easy to make."""


def value_of(type: Type, types: dict[str, TypeDefinition], random: Random, depth: int = 0) -> Value:
    """Make a random value of a type."""

    def inner(of: Type) -> Value:
        return value_of(of, types, random, depth + 1)

    few = range(random.randrange(3))
    match type:
        case Bool():
            return random.random() < 0.5
        case String():
            return random.choice(["", "a", "b", "12"])
        case BigInt() | Signed():
            return random.randint(-3, 3) if not isinstance(type, Signed) or type.width > 2 else 0
        case Bit(width):
            return random.randrange(min(2**width, 6))
        case Float() | Double():
            return random.choice([0.0, 1.0, -1.5])
        case Tuple(items):
            return tuple(map(inner, items))
        case Named(name, (content,)) if name in (REF, INTERN):
            return inner(content)
        case Named(name, (element,)) if name in (VEC, SET):
            made = [inner(element) for _ in few]
            return tuple(made) if name == VEC else frozenset(made)
        case Named(name, (key, value)) if name == MAP:
            return FrozenMap([(inner(key), inner(value)) for _ in few])
        case Named(name, arguments) if types[name].constructors and depth < DEEPEST:
            constructor = random.choice(types[name].constructors)
            by = dict(zip(types[name].parameters, arguments, strict=True))
            fields = tuple(inner(substitute(field.type, by)) for field in constructor.fields)
            return Variant(constructor.name, constructor.position, fields)
        case _:
            raise NoValueError


def facts(program: Program, plan: Plan, random: Random) -> dict[str, Delta]:
    """Make facts as an engine stores them: rows of a multiset have their number among equal ones."""
    found = {}
    for relation in program.relations.values():
        if relation.role == "input":
            columns = plan.relations[stored_in(relation.name, plan.relations)].columns
            try:
                rows = [tuple(value_of(c.type, dict(program.types), random) for c in columns) for _ in range(4)]
            except NoValueError:
                continue
            found[relation.name] = Delta(frozenset(rows), frozenset())
    return found


@cache
def nothing() -> Plan:
    """An empty program to start from, since only an update has limits."""
    program = analyse(Source("empty.dl", ""), Report())
    assert program is not None
    plan = plan_program(program, Report())
    assert plan is not None
    return plan


def check_results(program: Program, random: Random, report: Report) -> None:
    plan = plan_program(program, report)
    if plan is None:
        return
    engine = ReferenceEngine(nothing())
    try:
        engine.update(facts(program, plan, random), plan, LIMITS)
    except UserError:
        return
    for relation in program.relations.values():
        for row in engine.rows(relation.name):
            for column, value in zip(relation.columns, row, strict=True):
                assert conforms(value, column.type, program.types) is None


@pytest.mark.parametrize("seed", range(8))
def test_mistakes_are_told_and_accepted_programs_run(seed: int) -> None:
    random = Random(seed)
    for _ in range(120):
        text = mutated(random)
        report = Report()
        try:
            program = analyse(Source("mutated.dl", text), report)
            assert (program is None) == bool(report.errors)
            assert all(render(d) for d in report.diagnostics)
            if program is not None:
                check_results(program, random, report)
        except Exception as error:
            error.add_note(f"seed {seed}, program:\n{text}")
            raise
