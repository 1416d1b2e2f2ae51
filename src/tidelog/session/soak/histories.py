"""Random histories: what happens to a program's facts and rules, step by step, as data.

A history begins with no facts and some of the rules. `programs` gives the program after every step, from which an
engine's answer to the step can be checked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

from tidelog.session.soak.grow import grow, random_row
from tidelog.session.soak.spec import Program, Row, Rule


@dataclass(frozen=True)
class Step:
    """One transaction. Inserting what is present and deleting what is absent changes nothing."""

    inserted: dict[str, frozenset[Row]] = field(default_factory=dict)
    deleted: dict[str, frozenset[Row]] = field(default_factory=dict)
    rules_added: tuple[Rule, ...] = ()
    rules_removed: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class History:
    """A program as it begins, with no facts, and what happens to it."""

    start: Program
    steps: tuple[Step, ...]

    def programs(self) -> Iterator[tuple[Step, Program]]:
        """Every step, and the program after it."""
        program = self.start
        for step in self.steps:
            program = after(program, step)
            yield step, program


def after(program: Program, step: Step) -> Program:
    """Return the program after a step."""
    facts = {
        r.name: program.facts.get(r.name, frozenset()) - step.deleted.get(r.name, frozenset())
        | step.inserted.get(r.name, frozenset())
        for r in program.inputs
    }
    rules = [rule for rule in program.rules if rule not in step.rules_removed]
    return replace(program, facts=facts, rules=(*rules, *(r for r in step.rules_added if r not in rules)))


def random_history(random: Random, length: int = 20, *, rule_changes: bool = True) -> History:
    """Return a random program and what happens to it."""
    return history_of(grow(random), random, length, rule_changes=rule_changes)


def history_of(whole: Program, random: Random, length: int = 20, *, rule_changes: bool = True) -> History:
    """Return what happens to a program; the first step brings most of its facts."""
    idle = [rule for rule in whole.rules if rule_changes and random.random() < 0.25]
    program = replace(whole, facts={}, rules=tuple(rule for rule in whole.rules if rule not in idle))
    history = History(program, ())
    first = Step(
        inserted={
            name: frozenset(r for r in sorted(rows, key=repr) if random.random() < 0.8)
            for name, rows in whole.facts.items()
        }
    )
    steps = [first]
    program = after(program, first)
    for _ in range(length - 1):
        step = random_step(random, whole, program, rule_changes=rule_changes)
        steps.append(step)
        program = after(program, step)
    return replace(history, steps=tuple(steps))


def random_step(random: Random, whole: Program, now: Program, *, rule_changes: bool) -> Step:
    """Return a random transaction: mostly a few facts, sometimes rules, sometimes both."""
    inserted: dict[str, set[Row]] = {}
    deleted: dict[str, set[Row]] = {}
    if not (rule_changes and random.random() < 0.2):
        for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
            relation = random.choice(now.inputs)
            present = sorted(now.facts.get(relation.name, ()), key=repr)
            if present and random.random() < 0.5:
                deleted.setdefault(relation.name, set()).add(random.choice(present))
            else:
                inserted.setdefault(relation.name, set()).add(random_row(random, relation))
    added: list[Rule] = []
    removed: list[Rule] = []
    if rule_changes and random.random() < 0.3 and whole.rules:
        for rule in random.sample(whole.rules, min(len(whole.rules), random.choice((1, 1, 2)))):
            (removed if rule in now.rules else added).append(rule)
    return Step(frozen(inserted), frozen(deleted), tuple(added), tuple(removed))


def frozen(rows: dict[str, set[Row]]) -> dict[str, frozenset[Row]]:
    """Return the rows of each relation that has some."""
    return {name: frozenset(found) for name, found in rows.items() if found}
