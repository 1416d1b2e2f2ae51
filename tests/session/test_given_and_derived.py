"""Facts are given for relations that rules derive, too: a tuple is there while it is given or derived."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import tidelog
from tests.engines import IN_PROCESS

SETTINGS = [
    *((engine, "auto") for engine in IN_PROCESS),
    *(("columnar", strategy) for strategy in ("ranked", "dred", "elastic", "modular", "recompute", "dbsp")),
    *(("tuples", strategy) for strategy in ("ranked", "dred", "elastic", "modular")),
]
PROGRAM = """
input relation Path(a: u8, b: u8)
input relation Mark(a: u8)
output relation Alone(a: u8)
Mark(7).
Alone(a) :- Mark(a), not Path(a, _).
"""
RULES = {
    "back": "Path(b, a) :- Path(a, b), Mark(a).",
    "on": "Path(a, c) :- Path(a, b), Path(b, c).",
    "mark": "Mark(b) :- Path(a, b), Mark(a).",
}


def model(paths: set[tuple[int, int]], marks: set[int], rules: set[str]) -> tuple[set[tuple[int, int]], set[int]]:
    """What holds: the least sets that contain what is given and are closed under the rules."""
    paths, marks = set(paths), {7, *marks}
    while True:
        before = len(paths) + len(marks)
        if "back" in rules:
            paths |= {(b, a) for a, b in paths if a in marks}
        if "on" in rules:
            paths |= {(a, d) for a, b in paths for c, d in paths if b == c}
        if "mark" in rules:
            marks |= {b for a, b in paths if a in marks}
        if len(paths) + len(marks) == before:
            return paths, marks


@pytest.mark.long(reason="every engine and strategy, each with several histories")
@pytest.mark.parametrize(("engine", "strategy"), SETTINGS)
def test_histories_with_the_first_and_last_rule_coming_and_going(engine: Any, strategy: Any) -> None:
    for seed in range(4):
        random = Random(seed)
        db = tidelog.Database(PROGRAM, engine=engine, strategy=strategy)
        paths, marks, rules = set[tuple[int, int]](), set[int](), set[str]()
        held: dict[str, set[tuple[int, ...]]] = {"Path": set(), "Mark": {(7,)}, "Alone": {(7,)}}
        for _ in range(12):
            with db.transaction() as tx:
                for name, text in RULES.items():
                    if random.random() < 0.25:
                        if name in rules:
                            tx.remove_rules(name)
                        else:
                            tx.add_rules(f'#[name = "{name}"]\n{text}')
                        rules ^= {name}
                for _ in range(random.randrange(4)):
                    row, one = (random.randrange(8), random.randrange(8)), random.randrange(8)
                    if random.random() < 0.5:
                        tx.insert("Path", [row])
                        tx.insert("Mark", [(one,)])
                        paths, marks = paths | {row}, marks | {one}
                    else:
                        gone = random.choice(sorted(held["Path"]) or [row])
                        tx.delete("Path", [gone])
                        tx.delete("Mark", [(one,)])
                        paths, marks = paths - {(gone[0], gone[1])}, marks - {one}
                if random.random() < 0.05:
                    tx.clear("Path")
                    paths = set()
            there, marked = model(paths, marks, rules)
            expected: dict[str, set[tuple[int, ...]]] = {
                "Path": {*there},
                "Mark": {(a,) for a in marked},
                "Alone": {(a,) for a in marked if all(a != b for b, _ in there)},
            }
            for name, rows in expected.items():
                assert set(db.relation(name).rows()) == rows, (seed, name)
                changes = dict(tx.result.changes[name]) if name in tx.result.changes else {}
                assert changes == {row: 1 if row in rows else -1 for row in rows ^ held[name]}, (seed, name)
            held = expected
        db.verify()


@pytest.mark.parametrize(("engine", "strategy"), SETTINGS)
def test_facts_that_go_with_the_last_rule(engine: Any, strategy: Any) -> None:
    """Rows of several sizes, as they stand in batches; what there was is wider than what is left."""
    wide = ("c", 9223372036854775808)
    for held in (1, 2, 9):
        kept, new = ([(name + str(i), 2**20 + i) for i in range(count)] for name, count in (("x", held), ("a", 3)))
        program = "input relation D(s: string, c: u64)  input relation A(c: u64)  #[name = 'r']  D(\"d\", c) :- A(c)."
        db = tidelog.Database(program.replace("'", '"'), engine=engine, strategy=strategy)
        with db.transaction() as tx:
            tx.insert("A", [(3145728,)])
            tx.insert("D", [*kept, wide])
        with db.transaction() as tx:
            tx.insert("D", new)
            tx.delete("D", [wide])
            tx.remove_rules("r")
        assert db["D"].rows() == sorted([*kept, *new])
        expected = [*((row, 1) for row in new), (wide, -1), (("d", 3145728), -1)]
        assert sorted(tx.result.changes["D"]) == sorted(expected)
        db.verify()
