"""Follows a history with an engine and checks every answer; for the tests of all engines."""

from __future__ import annotations

from collections.abc import Callable

from tests.generate.pipeline import answers, plan_text
from tidelog.plan.nodes import Plan
from tidelog.run.contract.engine import Delta, Engine
from tidelog.session.soak.brute import brute_force
from tidelog.session.soak.histories import History
from tidelog.session.soak.spec import Row


def follow(history: History, make: Callable[[Plan], Engine]) -> Engine:
    """Play a history; after every step compare all relations with brute force, and the change with the difference.

    Returns the engine after the last step. An AssertionError shows the program, the step and the relation.
    """
    engine = make(plan_text(str(history.start)))
    before = answers(engine)
    for number, (step, program) in enumerate(history.programs()):
        facts = {
            name: Delta(step.inserted.get(name, ()), step.deleted.get(name, ()))
            for name in step.inserted.keys() | step.deleted.keys()
        }
        rules_change = step.rules_added or step.rules_removed
        update = engine.update(facts, plan_text(str(program)) if rules_change else None)
        after = answers(engine)
        expected = brute_force(program, tries=3_000_000)
        place = f"step {number}: {step}\n{program}\n{program.facts}"
        for name, rows in expected.items():
            assert after[name] == rows, f"{name} is wrong after {place}"
            assert engine.count(name) == len(rows), f"{name} is counted wrong after {place}"
            change = update.changes.get(name, Delta())
            found = frozenset(change.inserted), frozenset(change.deleted)
            assert len(change.inserted) == len(found[0]), f"the change of {name} repeats tuples after {place}"
            assert len(change.deleted) == len(found[1]), f"the change of {name} repeats tuples after {place}"
            assert found == difference(before[name], after[name]), f"the change of {name} is wrong after {place}"
        problems = engine.verify()
        assert not problems, f"{problems} after {place}"
        before = after
    return engine


def difference(before: frozenset[Row], after: frozenset[Row]) -> tuple[frozenset[Row], frozenset[Row]]:
    """What appeared and what disappeared."""
    return after - before, before - after
