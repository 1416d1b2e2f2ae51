"""Random histories of programs with minima and maxima in recursion, for every engine and strategy.

The rules are drawn from a list that has what is difficult: weights of zero, caps, filters, mutual and non-linear
recursion, tuples as values, a minimum that feeds a maximum, and strata above that negate, count and compare.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import tidelog
from tidelog.base.record import record

DECLARATIONS = """
input relation S(x: u8)
input relation E(x: u8, y: u8, w: u64)
input relation T(x: u8, y: u8, c: u64)
input relation U(x: u8, y: u8, g: u64)
output relation D(x: u8, min d: u64)
output relation P(x: u8)
output relation Q(x: u8, y: u8, min d: u64)
output relation W(x: u8, max w: u64)
output relation M(x: u8, max m: u64)
output relation B(x: u8, min b: (u64, u8))
output relation K(x: u8, max k: bool)
output relation A(min a: u64)
output relation N(min n: string, x: u8)
output relation F(x: u8)
output relation H(d: u64, n: u64)
#[monotone]
function steeper(x: u64): u64 { if (x < 4) { x } else { x + 2 } }
"""
RULES = (
    "D(x, 0) :- S(x).",
    "D(y, d + w) :- D(x, d), E(x, y, w).",
    "D(y, min(d + w, 6)) :- D(x, d), E(x, y, w).",
    "D(y, max(d, w)) :- D(x, d), E(x, y, w).",
    "D(y, d + w) :- D(x, d), E(x, y, w), d + w < 9.",
    "D(y, steeper(d)) :- D(x, d), T(x, y, _).",
    "P(y) :- D(x, d), T(x, y, c), d < c.",
    "D(y, g) :- P(x), U(x, y, g).",
    "D(y, g) :- P(x), U(x, y, g), D(y, d), d <= 5, not T(y, x, _).",
    "D(2, 4).",
    "Q(x, y, w) :- E(x, y, w).",
    "Q(x, z, a + b) :- Q(x, y, a), Q(y, z, b).",
    "D(y, d + a) :- D(x, d), Q(x, y, a).",
    "Q(x, y, d) :- D(x, d), U(x, y, _).",
    "W(x, 9) :- S(x).",
    "W(y, min(v, w)) :- W(x, v), E(x, y, w).",
    "M(x, d) :- D(x, d).",
    "M(y, m) :- M(x, m), E(x, y, _).",
    "M(x, 7) :- M(x, m), T(x, _, c), m > c.",
    "B(x, (0, x)) :- S(x).",
    "B(y, (d + w, x)) :- B(x, (d, _)), E(x, y, w).",
    "K(x, true) :- S(x).",
    "K(y, k and w < 3) :- K(x, k), E(x, y, w).",
    "A(d) :- D(_, d).",
    "A(a) :- A(b), T(_, _, a), b < 3.",
    'N("n${w}", x) :- E(x, _, w).',
    "N(n, y) :- N(n, x), T(x, y, _).",
    "F(x) :- E(x, _, _), not D(x, 0), P(x).",
    "H(d, n) :- D(x, d), var n = x.group_by(d).count() as u64.",
)
SHOWN = ("D", "P", "Q", "W", "M", "B", "K", "A", "N", "F", "H")
ARITY = {"S": 1, "E": 3, "T": 3, "U": 3}
VALUES = {"E": (0, 0, 1, 2, 5), "T": (1, 3, 6, 9), "U": (0, 1, 4)}


@record
class Step:
    """What one transaction does; `tried` says that it is previewed and rolled back before."""

    inserted: tuple[tuple[str, tuple[int, ...]], ...]
    deleted: tuple[tuple[str, tuple[int, ...]], ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    tried: bool


@record
class History:
    """The rules of a program, and what happens to it."""

    rules: tuple[str, ...]
    steps: tuple[Step, ...]


def draw(seed: int, steps: int = 8) -> History:
    """Return the history that a seed names."""
    rnd = random.Random(f"bounds {seed}")
    nodes = rnd.randint(3, 6)
    rules = [rule for rule in RULES if rnd.random() < 0.55]
    begun, facts, made = tuple(rules), {name: set[tuple[int, ...]]() for name in ARITY}, []

    def fact(name: str) -> tuple[int, ...]:
        row = [rnd.randrange(nodes) for _ in range(min(2, ARITY[name]))]
        return (*row, rnd.choice(VALUES[name])) if name in VALUES else tuple(row)

    for number in range(steps):
        plus = {
            (name, fact(name)) for name in (rnd.choice("SEEEETU") for _ in range(rnd.randint(0, 9 if number else 20)))
        }
        minus = {
            (name, rnd.choice(sorted(facts[name])))
            for name in (rnd.choice("SEEETU") for _ in range(rnd.randint(0, 5)))
            if facts[name]
        } - plus
        added, removed = list[str](), list[str]()
        if number and rnd.random() < 0.3:
            rule = rnd.choice(RULES)
            (removed if rule in rules else added).append(rule)
            rules = [*(one for one in rules if one not in removed), *added]
        for name, row in plus:
            facts[name].add(row)
        for name, row in minus:
            facts[name].discard(row)
        made.append(Step(tuple(sorted(plus)), tuple(sorted(minus)), tuple(added), tuple(removed), rnd.random() < 0.2))
    return History(begun, tuple(made))


def follow(history: History, make: Sequence[Callable[[str], tidelog.Database]]) -> None:
    """Play a history on databases, of which the first one says what is right."""
    text = DECLARATIONS + "\n".join(history.rules)
    databases = [one(text) for one in make]
    for number, step in enumerate(history.steps):
        found = [_played(db, step) for db in databases]
        for db, (changes, state) in zip(databases[1:], found[1:], strict=True):
            place = f"step {number}, {db.engine} {db.strategy}"
            assert state == found[0][1], place
            assert changes == found[0][0], place
            if number % 3 == len(history.rules) % 3:
                db.verify()


Rows = dict[str, list[tuple[Any, ...]]]


def _played(db: tidelog.Database, step: Step) -> tuple[Rows, Rows]:
    if step.tried:
        with db.transaction() as tx:
            _do(tx, step)
            tx.preview()
            tx.rollback()
    with db.transaction() as tx:
        _do(tx, step)
    changes = {name: sorted(tx.result.changes[name]) for name in SHOWN}
    return changes, {name: sorted(db[name]) for name in SHOWN}


def _do(tx: tidelog.Transaction, step: Step) -> None:
    for name, row in step.deleted:
        tx.delete(name, [row])
    for name, row in step.inserted:
        tx.insert(name, [row])
    for rule in step.removed:
        tx.remove_rules(rule)
    for rule in step.added:
        tx.add_rules(rule)
