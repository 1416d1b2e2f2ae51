"""Random histories: what happens to a program's facts and rules, step by step, as data.

A history begins with no facts and some of the rules. `programs` gives the program after every step, from which an
engine's answer to the step can be checked. `watched` adds what a database does beside: looks, previews, transactions
that are rolled back or refused, and some that do nothing or delete everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from random import Random

from tidelog.session.soak.draw.grow import grow, random_row
from tidelog.session.soak.looks import Look, Watcher
from tidelog.session.soak.spec import Program, Row, Rule


@dataclass(frozen=True)
class Step:
    """One transaction. Inserting what is present and deleting what is absent changes nothing.

    `undone` are transactions that are rolled back before it. `previews` are taken of it, each of which is looked at
    after that many more commits. `refused`: it is first committed under a limit of that many tuples, which may be too
    few. `frames`: its facts are given in Arrow where they can be. `looks` come after the commit.
    """

    inserted: dict[str, frozenset[Row]] = field(default_factory=dict)
    deleted: dict[str, frozenset[Row]] = field(default_factory=dict)
    rules_added: tuple[Rule, ...] = ()
    rules_removed: tuple[Rule, ...] = ()
    undone: tuple[Step, ...] = ()
    previews: tuple[int, ...] = ()
    refused: int | None = None
    frames: bool = False
    looks: tuple[Look, ...] = ()


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


def watched(history: History, random: Random) -> History:
    """Return a history with what is looked at on the way, and what is tried and dropped."""
    watcher = Watcher(random, history.start)
    steps: list[Step] = []
    undone: tuple[Step, ...]
    for step, program in history.programs():
        undone = ()
        if steps and watcher.may(0.2):
            other = random.choice(history.steps)
            undone = (Step(other.deleted, other.inserted, previews=watcher.previews()),)
        steps.append(
            replace(
                step,
                undone=undone,
                previews=watcher.previews(),
                refused=random.choice((0, 1, 3, 10)) if watcher.may(0.1) else None,
                frames=watcher.may(0.2),
                looks=watcher.looks(len(steps)),
            )
        )
        if watcher.may(0.08):
            steps += [replace(nothing, looks=watcher.looks(len(steps))) for nothing in _turns(random, program)]
    steps[-1] = replace(steps[-1], looks=(*steps[-1].looks, *watcher.last(len(steps))))
    return replace(history, steps=tuple(steps))


def _turns(random: Random, program: Program) -> list[Step]:
    """Return steps that change nothing in the end: an empty one, or facts that go, all or those of one input."""
    if random.random() < 0.4:
        return [Step()]
    chosen = {r.name for r in program.inputs} if random.random() < 0.5 else {random.choice(program.inputs).name}
    facts = frozen({name: set(rows) for name, rows in program.facts.items() if name in chosen})
    return [Step(deleted=facts), Step(inserted=facts)]


def frozen(rows: dict[str, set[Row]]) -> dict[str, frozenset[Row]]:
    """Return the rows of each relation that has some."""
    return {name: frozenset(found) for name, found in rows.items() if found}
