"""Random histories of a database: every relation and every change is right, and the laws of histories hold.

The laws are those of transactions: several changes together are the same as one after the other, what is undone has
never happened, and the sum of all changes is the state.
"""

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest

import tidelog
from tests.engines import IN_PROCESS
from tidelog import Database
from tidelog.session.engines import EngineName
from tidelog.session.soak.brute import TooBigError, brute_force
from tidelog.session.soak.histories import History, Step, random_history
from tidelog.session.soak.spec import Program, Row

SEEDS = range(12)
Answers = dict[str, frozenset[Row]]


def histories(seed: int, length: int = 12) -> Iterator[tuple[History, list[Answers]]]:
    """A random history and what is true after each of its steps; another one if that takes too long to find out."""
    random = Random(seed)
    while True:
        history = random_history(random, length)
        try:
            expected = [brute_force(program, tries=300_000) for _, program in history.programs()]
        except TooBigError:
            continue
        yield history, expected
        return


def open_database(program: Program, engine: EngineName) -> Database:
    return Database(str(program), engine=engine)


def play(tx: tidelog.Transaction, step: Step) -> None:
    for relation, rows in step.deleted.items():
        tx.delete(relation, rows)
    for relation, rows in step.inserted.items():
        tx.insert(relation, rows)
    for rule in step.rules_removed:
        tx.remove_rules(str(rule))
    for rule in step.rules_added:
        tx.add_rules(str(rule))


def answers(db: Database) -> Answers:
    return {view.name: frozenset(view.rows()) for view in db.relations()}


def assert_answers(db: Database, expected: Answers) -> None:
    found = answers(db)
    assert {name: found[name] for name in expected} == expected


@pytest.mark.long(reason="random histories")
@pytest.mark.parametrize("engine", IN_PROCESS)
@pytest.mark.parametrize("seed", SEEDS)
def test_states_and_changes(seed: int, engine: EngineName) -> None:
    random = Random(seed)
    for history, expected in histories(seed):
        db = open_database(history.start, engine)
        before = answers(db)
        for step, wanted in zip(history.steps, expected, strict=True):
            with db.transaction() as tx:
                play(tx, step)
                previewed = (
                    {name: [*change] for name, change in tx.preview().items()} if random.random() < 0.3 else None
                )
            assert_answers(db, wanted)
            made = {name: [*change] for name, change in tx.result.changes.items()}
            assert previewed in (None, made)
            after = answers(db)
            for name, now in after.items():
                change = tx.result.changes[name]
                assert set(change.inserted) == now - before[name]
                assert set(change.deleted) == before[name] - now
            before = after
        db.verify()


@pytest.mark.parametrize("engine", IN_PROCESS)
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_undone_has_never_happened(seed: int, engine: EngineName) -> None:
    for history, expected in histories(seed, 8):
        db = open_database(history.start, engine)
        others = list(reversed(history.steps))
        for step, other, wanted in zip(history.steps, others, expected, strict=True):
            undone = db.transaction().begin()
            play(undone, Step(other.inserted, other.deleted))
            undone.preview()
            undone.rollback()
            with db.transaction() as tx:
                play(tx, step)
            assert_answers(db, wanted)
        db.verify()


@pytest.mark.long(reason="random histories")
@pytest.mark.parametrize("engine", IN_PROCESS)
@pytest.mark.parametrize("seed", SEEDS)
def test_together_is_one_after_the_other(seed: int, engine: EngineName) -> None:
    for history, expected in histories(seed, 8):
        db = open_database(history.start, engine)
        with db.transaction() as tx:
            for step in history.steps:
                play(tx, step)
        assert_answers(db, expected[-1])
        singles = open_database(history.start, engine)
        for step in history.steps:
            for relation, rows in step.deleted.items():
                for row in rows:
                    with singles.transaction() as one:
                        one.delete(relation, [row])
            for relation, rows in step.inserted.items():
                for row in rows:
                    with singles.transaction() as one:
                        one.insert(relation, [row])
            with singles.transaction() as one:
                play(one, Step(rules_added=step.rules_added, rules_removed=step.rules_removed))
        assert answers(singles) == answers(db)


@pytest.mark.parametrize("engine", IN_PROCESS)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_sum_of_all_changes_is_the_state(seed: int, engine: EngineName) -> None:
    for history, _ in histories(seed):
        db = open_database(history.start, engine)
        sums = {name: Counter(rows) for name, rows in answers(db).items()}
        for step in history.steps:
            with db.transaction() as tx:
                play(tx, step)
            for name, change in tx.result.changes.items():
                for row, weight in change:
                    sums[name][row] += weight
        for name, rows in answers(db).items():
            assert {row: weight for row, weight in sums[name].items() if weight} == dict.fromkeys(rows, 1)
