"""Random histories of databases, compared with the reference engine; engines, thresholds and looks are drawn."""

import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from random import Random

import numpy as np
import pytest

from tidelog.plan.nodes import Plan
from tidelog.run.closure import held
from tidelog.run.columnar.arrays import table as arrays
from tidelog.run.columnar.kernels import words
from tidelog.run.contract.engine import NO_LIMITS, Delta, Limits, Update
from tidelog.run.reference.engine import ReferenceEngine
from tidelog.session import engines
from tidelog.session.engines import StrategyName
from tidelog.session.soak.draw.families import draw_history
from tidelog.session.soak.draw.graphs import NODES, graph_history
from tidelog.session.soak.histories import Step, watched
from tidelog.session.soak.looks import Ask, Inspect, Read, SetStrategy, Verify
from tidelog.session.soak.poison import poisoned, poisoning
from tidelog.session.soak.processes import soak_by
from tidelog.session.soak.settings import Asked
from tidelog.session.soak.shrink import quieter
from tidelog.session.soak.soak import MANY, Tally, drawn, soak

HISTORIES = int(os.environ.get("TIDELOG_SOAK", "1000"))


def ignore(tally: Tally) -> None:
    """Tell nobody."""


@pytest.mark.long(reason="histories of many kinds")
def test_histories() -> None:
    """No difference, and every way at every threshold is taken; some are rare, and wait for a few histories more."""
    tally, failure = soak_by(2, HISTORIES, 0, Asked(), ignore)
    while failure is None and tally.missing() and MANY <= tally.histories < 2 * HISTORIES:
        more, failure = soak_by(2, MANY // 4, tally.histories, Asked(), ignore)
        tally.add(more)
    assert failure is None, str(failure)
    assert tally.histories >= HISTORIES
    assert tally.histories < MANY or not tally.missing()


@pytest.mark.long(reason="histories of many kinds")
@pytest.mark.parametrize("strategy", ["auto", "ranked", "dred"])
def test_histories_of_larger_graphs(strategy: StrategyName) -> None:
    tally, failure = soak(min(10, HISTORIES), 0, Asked("columnar", strategy, large=True), ignore)
    assert failure is None, str(failure)
    assert tally.changes > 100 * tally.commits > 0


def test_graphs_have_every_shape_and_program() -> None:
    histories = [graph_history(Random(seed)) for seed in range(60)]
    assert {str(history.start).count(":-") for history in histories} == {2, 4, 5, 6, 8}
    assert {relation.kinds[0] for history in histories for relation in history.start.relations} == set(NODES)
    assert any(step.rules_removed for history in histories for step in history.steps)


@pytest.mark.long(reason="histories of many kinds")
def test_everything_is_drawn() -> None:
    made = [drawn(seed, Asked()) for seed in range(150)]
    settings = [setting for _, setting in made]
    strategies = {"columnar": {"auto", "ranked", "dred", "dred-c", "elastic", "modular", "dbsp", "recompute"}}
    strategies["tuples"] = strategies["columnar"] - {"dbsp"}
    assert {(one.engine, one.strategy) for one in settings} == {(e, s) for e, many in strategies.items() for s in many}
    options = {"evaluator", "index", "parallel", "rediscovery"}
    assert {one for setting in settings for one in setting.options} == options
    assert {setting.tuning is None for setting in settings} == {True, False}
    assert {setting.keyed is None for setting in settings} == {True, False}
    steps = [step for history, _ in made for step in history.steps]
    assert {type(look) for step in steps for look in step.looks} == {Ask, Read, Inspect, Verify, SetStrategy}
    assert {look.ago > 0 for step in steps for look in step.looks if isinstance(look, Inspect)} == {True, False}
    for doing in ("undone", "previews", "frames", "looks", "rules_added", "inserted"):
        assert {bool(getattr(step, doing)) for step in steps} == {True, False}, doing
    assert any(step == Step(looks=step.looks) for step in steps)
    assert any("word" in relation.kinds for history, _ in made for relation in history.start.relations)


def test_a_seed_names_all_that_is_drawn() -> None:
    assert drawn(11, Asked()) == drawn(11, Asked())


def test_looks_are_left_out_one_by_one() -> None:
    history = watched(draw_history(Random(3)), Random(8))
    done = [(step.undone, step.previews, step.refused, step.frames, step.looks) for step in history.steps]
    assert any(any(map(bool, one)) for one in done)
    fewer = list(quieter(history.steps))
    assert all(steps != history.steps for steps in fewer)
    assert not list(quieter(fewer[0]))  # the first of them has nothing beside its commits


class HastyEngine(ReferenceEngine):
    """Empties at each update what it told of the one before."""

    def update(self, facts: Mapping[str, Delta], plan: Plan | None = None, limits: Limits = NO_LIMITS) -> Update:
        for rows in getattr(self, "lent", ()):
            rows.clear()
        made = {name: ([*c.inserted], [*c.deleted]) for name, c in super().update(facts, plan, limits).changes.items()}
        self.lent = [rows for both in made.values() for rows in both]
        return Update({name: Delta(*both) for name, both in made.items()})


def test_what_is_looked_at_late_must_be_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(engines.ENGINES, "hasty", engines.Entry(__name__, "HastyEngine"))
    _, failure = soak(20, 0, Asked("hasty", "auto"), ignore)  # type: ignore[arg-type]
    assert failure is not None
    assert "look at the changes of" in failure.text or "commits later" in failure.text
    assert failure.text.count("\nstep ") == 2


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library of GNU fills memory")
def test_memory_of_kernels_is_poisoned() -> None:
    fresh = "numba.njit(lambda n: np.empty(n, np.uint64))(900).tolist()"
    program = f"import numba, numpy as np; print({{*{fresh}}} == {{0x5A5A5A5A5A5A5A5A}})"
    before = os.environ.get("GLIBC_TUNABLES")
    with poisoning():
        ended = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ended.stdout == "True\n"
    assert os.environ.get("GLIBC_TUNABLES") == before


def test_fresh_arrays_are_poisoned() -> None:
    """In all tests, by `tests/conftest.py`."""
    used = vars(arrays)["np"]
    assert used.empty(3, np.uint64).tolist() == [0x5A5A5A5A5A5A5A5A] * 3
    assert used.empty_like(np.zeros(2, np.int32)).tolist() == [0x5A5A5A5A] * 2
    assert np.isnan(vars(held)["np"].empty(1)).all()
    assert vars(words)["np"] is np  # numba compiles it


def test_poison_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "np", np)
    with poisoned() as modules:
        assert modules == 1
        assert vars(arrays)["np"] is not np
    assert vars(arrays)["np"] is np
