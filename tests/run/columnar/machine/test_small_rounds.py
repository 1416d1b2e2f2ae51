"""Rounds of few tuples done by one kernel are what the same rounds are one by one, ranks and counts included."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest

from tests.generate.checking import follow
from tests.generate.pipeline import answers, plan_text
from tidelog.base.errors import LimitError
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.plan.nodes import Plan
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.columnar.machine import small_rounds
from tidelog.run.columnar.machine.inputs import Inputs
from tidelog.run.contract.engine import Delta, Limits, Row, Update
from tidelog.session.soak.histories import random_history

HISTORIES = 12
COMPILED = DEFAULT.having({"compiling.rows": 0})
ROOMS = {
    "ample": COMPILED,
    "scarce": COMPILED.having(
        {
            "small_rounds.derivations": 12,
            "small_rounds.look": 20,
            "small_rounds.pause": 1,
            "small_rounds.alone": 0,
            "small_rounds.places": 2,
            "counting.surveyed": 0,  # and only support is counted
            "counting.often": 0,
        }
    ),
    "barest": COMPILED.having(
        {
            "small_rounds.derivations": 3,
            "small_rounds.look": 1,
            "small_rounds.pause": 0,
            "small_rounds.sight": 1,
            "sorting.insertion": 0,
        }
    ),
}
PROGRAM = """
input relation Edge(a: u32, b: u32)
input relation Closed(a: u32)
input relation Start(a: u32)
input relation Wide(a: bit<60>, b: bit<60>, c: bit<60>)
output relation Reach(a: u32, b: u32)
output relation Odd(a: u32)
output relation Even(a: u32)
output relation Far(a: bit<60>, b: bit<60>, c: bit<60>)
output relation Twice(a: u32, n: u32)
output relation Apart(a: u32, b: u32)
Reach(x, y) :- Edge(x, y).
Reach(x, z) :- Reach(x, y), Edge(y, z), not Closed(y).
Reach(x, x) :- Reach(x, y), Reach(y, x), Start(x).
Even(x) :- Start(x).
Odd(y) :- Even(x), Edge(x, y).
Even(y) :- Odd(x), Edge(x, y), not Closed(y).
Odd(7) :- Odd(7), Even(x).
Far(x, y, z) :- Wide(x, y, z).
Far(y, x, w) :- Far(x, y, z), Wide(z, w, _).
Twice(x, 0) :- Start(x).
Twice(y, n) :- Twice(x, n), Edge(x, y).
Twice(x, n + 1) :- Twice(x, n), Closed(x), n < 3.
Apart(x, y) :- Edge(x, y), x != 3.
Apart(x, z) :- Apart(x, y), Edge(y, z), x != z, z != 5.
Apart(y, x) :- Apart(x, y), 4 != y, not Closed(x), x != y.
"""
"""Recursion by itself and mutual, negation, constants, terms that differ, rows of several words, a rule that no kernel
takes."""


class Calls:
    """Counts the rounds that kernels do."""

    def __init__(self) -> None:
        self.rounds = 0

    def around(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            found = function(*arguments)
            self.rounds += int(found[0])
            return found

        return call


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    """Count the rounds that kernels do."""
    found = Calls()
    for name in ("_gain", "_lose"):
        monkeypatch.setattr(small_rounds, name, found.around(getattr(small_rounds, name)))
    return found


@pytest.fixture(params=ROOMS.values(), ids=[*ROOMS])
def room(request: pytest.FixtureRequest) -> Tuning:
    """Kernels from the first row on, with more or less room."""
    assert isinstance(request.param, Tuning)
    return request.param


@pytest.mark.long(reason="random programs and their histories")
@pytest.mark.parametrize("strategy", ["auto", "ranked", "dred", "recompute"])
def test_random_programs(calls: Calls, room: Tuning, strategy: str) -> None:
    def make(plan: Plan) -> ColumnarEngine:
        return ColumnarEngine(plan, strategy=strategy, closures=strategy == "auto", tuning=room)

    for seed in range(HISTORIES):
        follow(random_history(Random(seed), 3), make)
    assert calls.rounds


def held(engine: ColumnarEngine) -> Iterator[tuple[str, Any]]:
    """Yield what is kept of every relation, by its name."""
    for name in engine.plan.relations:
        relation, _ = engine.coded(name)
        batch = relation.gathered()
        rows = [relation.layout.codes(batch.rows, column).tolist() for column in range(relation.arity)]
        counts = None if batch.counts is None else batch.counts.tolist()
        yield name, (rows, None if batch.rank is None else batch.ranks().tolist(), counts)


def changed(update: Update) -> dict[str, tuple[list[Row], list[Row]]]:
    """Return the changes of an update."""
    return {name: (sorted(change.inserted), sorted(change.deleted)) for name, change in update.changes.items()}


def changes(random: Random, there: dict[str, set[tuple[int, ...]]]) -> dict[str, Delta]:
    """Return a change of all inputs, and make it in `there`."""
    top = random.choice([6, 12, 300, 4000])
    found: dict[str, Delta] = {}
    for name, arity in (("Edge", 2), ("Closed", 1), ("Start", 1), ("Wide", 3)):
        count = random.choice([0, 1, 3, 10]) if name != "Closed" else random.choice([0, 1])
        high = 1 << 59 if name == "Wide" and random.random() < 0.3 else 0
        new = {tuple(high + random.randrange(top) % 13 for _ in range(arity)) for _ in range(count)}
        gone = set(random.sample(sorted(there[name]), min(len(there[name]), random.choice([0, 1, 2, 5]))))
        found[name] = Delta(sorted(new), sorted(gone - new))
        there[name] = (there[name] - gone) | new
    return found


@pytest.mark.long(reason="random programs and their histories")
@pytest.mark.parametrize("strategy", ["ranked", "recompute"])
def test_ranks_and_counts_are_those_of_rounds_one_by_one(calls: Calls, room: Tuning, strategy: str) -> None:
    tunings = room, room.having({"small_rounds.delta": -1})
    for seed in range(5):
        random = Random(seed)
        plan = plan_text(PROGRAM)
        engines = [ColumnarEngine(plan, strategy=strategy, closures=False, tuning=tuning) for tuning in tunings]
        there: dict[str, set[tuple[int, ...]]] = {name: set() for name in ("Edge", "Closed", "Start", "Wide")}
        for _ in range(8):
            change = changes(random, there)
            small, one_by_one = (engine.update(change) for engine in engines)
            assert dict(held(engines[0])) == dict(held(engines[1])), f"seed {seed}"
            assert changed(small) == changed(one_by_one)
            told = [
                [(work.strategy, work.rounds, work.derivations) for work in done.work] for done in (small, one_by_one)
            ]
            assert told[0] == told[1]
            assert not engines[0].verify()
    assert calls.rounds


def chain(length: int) -> list[tuple[int, int]]:
    """Return the edges of a path."""
    return [(node, node + 1) for node in range(length)]


def line() -> ColumnarEngine:
    """Return an engine whose program needs a round for each edge of a path."""
    return ColumnarEngine(
        plan_text(
            """
            input relation Edge(a: u32, b: u32)
            output relation From(a: u32)
            From(0).
            From(y) :- From(x), Edge(x, y).
            """
        ),
        strategy="ranked",
        closures=False,
        tuning=COMPILED,
    )


@pytest.mark.parametrize("rule", ["", ", x != y", ", y != 1000", ", x != y, 1000 != x"])
def test_that_terms_differ_keeps_no_rule_from_the_kernel(calls: Calls, rule: str) -> None:
    declared = "input relation Edge(a: u32, b: u32)  output relation From(a: u32)  From(0)."
    engine = ColumnarEngine(
        plan_text(f"{declared}  From(y) :- From(x), Edge(x, y){rule}."), strategy="ranked", tuning=COMPILED
    )
    engine.update({"Edge": Delta(chain(40))})
    assert engine.count("From") == 41
    assert calls.rounds >= 39


@pytest.mark.parametrize(
    ("limits", "excess"),
    [
        (Limits(rounds=50), "more than 50 rounds"),
        (Limits(tuples=60), "more than 60 new tuples"),
        (Limits(seconds=0), "more than 0 seconds"),
    ],
)
def test_limits_hold(calls: Calls, limits: Limits, excess: str) -> None:
    engine = line()
    engine.update({"Edge": Delta(chain(40))}, limits=Limits(rounds=45))
    before = answers(engine)
    with pytest.raises(LimitError, match=excess):
        engine.update({"Edge": Delta(chain(200))}, limits=limits)
    assert answers(engine) == before
    assert not engine.verify()
    assert calls.rounds


def test_as_many_rounds_as_there_may_be(calls: Calls) -> None:
    engine = line()
    work = engine.update({"Edge": Delta(chain(40))}).work
    rounds = work[-1].rounds
    assert rounds > 40
    line().update({"Edge": Delta(chain(40))}, limits=Limits(rounds=rounds))
    with pytest.raises(LimitError):
        line().update({"Edge": Delta(chain(40))}, limits=Limits(rounds=rounds - 1))
    assert calls.rounds


@pytest.mark.parametrize("place", ["_gain", "_lose", "undo", "take_marks"])
def test_interrupted(calls: Calls, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = line()
    engine.update({"Edge": Delta(chain(40))})
    before = answers(engine), dict(held(engine))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    change = {"Edge": Delta([(2, 20)], [(3, 4), (11, 12)])}
    if place == "undo":  # the whole update is undone after it ended
        token = engine.snapshot()
        engine.update(change)
        assert answers(engine) != before[0]
        engine.restore(token)
    else:
        with monkeypatch.context() as patched:
            where = Inputs if place == "take_marks" else small_rounds
            done = getattr(where, place)
            patched.setattr(where, place, lambda *arguments: interrupted(done(*arguments)))
            with pytest.raises(KeyboardInterrupt):
                engine.update(change)
    assert (answers(engine), dict(held(engine))) == before
    assert not engine.verify()
    engine.update(change)
    assert not engine.verify()
    assert calls.rounds
