"""Random histories on every engine and strategy: right after every step, and alike however the same end is reached.

TIDELOG_HISTORIES sets the number of histories of 20 steps for each; 1,000 before a merge, 100,000 before a release.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

import pytest

from tests.generate.checking import follow
from tests.generate.pipeline import answers, plan_text
from tidelog.plan.nodes import Plan
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta, Engine, Update
from tidelog.run.dbsp.engine import DbspEngine
from tidelog.run.reference.engine import ReferenceEngine
from tidelog.run.tuples.engine import TuplesEngine
from tidelog.session.soak.histories import History, Step, after, random_history
from tidelog.session.soak.spec import Program, Row

HISTORIES = int(os.environ.get("TIDELOG_HISTORIES", "8"))
Make = Callable[[Plan], Engine]
ENGINES: dict[str, Make] = {
    "dbsp": DbspEngine,
    "reference": ReferenceEngine,
    "columnar": ColumnarEngine,
    "columnar-ranked": lambda plan: ColumnarEngine(plan, strategy="ranked"),
    "columnar-dred": lambda plan: ColumnarEngine(plan, strategy="dred"),
    "columnar-elastic": lambda plan: ColumnarEngine(plan, strategy="elastic"),
    "columnar-modular": lambda plan: ColumnarEngine(plan, strategy="modular"),
    "tuples": TuplesEngine,
    "tuples-modular": lambda plan: TuplesEngine(plan, strategy="modular"),
    "tuples-ranked": lambda plan: TuplesEngine(plan, strategy="ranked"),
    "tuples-dred": lambda plan: TuplesEngine(plan, strategy="dred"),
    "tuples-elastic": lambda plan: TuplesEngine(plan, strategy="elastic"),
    "columnar-recompute": lambda plan: ColumnarEngine(plan, strategy="recompute"),
}
Answers = dict[str, frozenset[Row]]


@pytest.fixture(params=ENGINES)
def make(request: pytest.FixtureRequest) -> Make:
    return ENGINES[str(request.param)]


@pytest.mark.parametrize("block", range(4))
def test_every_step_is_right(make: Make, block: int) -> None:
    for seed in range(block, HISTORIES, 4):
        follow(random_history(Random(seed), 20), make)


def play(make: Make, start: Program, steps: Iterator[Step] | tuple[Step, ...]) -> Engine:
    """Play steps without looking at the answers in between."""
    engine = make(plan_text(str(start)))
    program = start
    for step in steps:
        program = after(program, step)
        update(engine, step, program)
    return engine


def update(engine: Engine, step: Step, program: Program) -> Update:
    """Play one step; `program` is the program after it."""
    facts = {
        name: Delta(step.inserted.get(name, ()), step.deleted.get(name, ()))
        for name in step.inserted.keys() | step.deleted.keys()
    }
    changes_rules = step.rules_added or step.rules_removed
    return engine.update(facts, plan_text(str(program)) if changes_rules else None)


def singletons(step: Step) -> Iterator[Step]:
    """The same transaction, one fact or rule at a time: deletions first, as in one step an insertion wins."""
    for name, rows in step.deleted.items():
        kept = step.inserted.get(name, frozenset())
        yield from (Step(deleted={name: frozenset({row})}) for row in sorted(rows - kept, key=repr))
    for name, rows in step.inserted.items():
        yield from (Step(inserted={name: frozenset({row})}) for row in sorted(rows, key=repr))
    yield from (Step(rules_removed=(rule,)) for rule in step.rules_removed)
    yield from (Step(rules_added=(rule,)) for rule in step.rules_added)


def histories(length: int) -> Iterator[History]:
    for seed in range(1_000, 1_000 + max(4, HISTORIES // 4)):
        yield random_history(Random(seed), length)


@pytest.mark.long(reason="random histories")
def test_a_batch_is_its_single_changes(make: Make) -> None:
    for history in histories(6):
        single = tuple(part for step in history.steps for part in singletons(step))
        assert answers(play(make, history.start, single)) == answers(play(make, history.start, history.steps))


def test_facts_first_or_rules_first(make: Make) -> None:
    for history in histories(6):
        *_, (_, end) = history.programs()
        rules = Step(rules_added=tuple(end.rules))
        facts = Step(inserted={name: rows for name, rows in end.facts.items() if rows})
        empty = replace(end, rules=(), facts={})
        assert answers(play(make, empty, (rules, facts))) == answers(play(make, empty, (facts, rules)))


@pytest.mark.long(reason="random histories")
def test_the_way_does_not_matter(make: Make) -> None:
    for history in histories(8):
        *_, (_, end) = history.programs()
        at_once = Step(inserted={name: rows for name, rows in end.facts.items() if rows})
        direct = play(make, replace(end, facts={}), (at_once,))
        assert answers(play(make, history.start, history.steps)) == answers(direct)


@pytest.mark.long(reason="random histories")
def test_to_and_fro_changes_nothing(make: Make) -> None:
    for history in histories(4):
        engine = play(make, history.start, history.steps)
        *_, (_, end) = history.programs()
        before = answers(engine)
        random = Random(str(end))
        for rule in end.rules:
            update(engine, Step(rules_removed=(rule,)), after(end, Step(rules_removed=(rule,))))
            update(engine, Step(rules_added=(rule,)), end)
        for name, rows in end.facts.items():
            for row in random.sample(sorted(rows, key=repr), min(2, len(rows))):
                update(engine, Step(deleted={name: frozenset({row})}), end)
                update(engine, Step(inserted={name: frozenset({row})}), end)
        assert answers(engine) == before


@pytest.mark.long(reason="random histories")
def test_a_rollback_leaves_no_trace(make: Make) -> None:
    for history in histories(8):
        engine = make(plan_text(str(history.start)))
        for i, (step, program) in enumerate(history.programs()):
            before, token = answers(engine), engine.snapshot()
            update(engine, step, program)
            if i % 2:
                continue
            done = answers(engine)
            engine.restore(token)
            assert answers(engine) == before
            update(engine, step, program)
            assert answers(engine) == done


def test_changes_add_up_to_the_state(make: Make) -> None:
    for history in histories(8):
        engine = make(plan_text(str(history.start)))
        sums: Answers = answers(engine)
        for step, program in history.programs():
            for name, change in update(engine, step, program).changes.items():
                if name in sums:
                    inserted, deleted = frozenset(change.inserted), frozenset(change.deleted)
                    assert not inserted & sums[name]
                    assert deleted <= sums[name]
                    sums[name] = (sums[name] - deleted) | inserted
        assert sums == answers(engine)
