"""Random histories of databases on the default engine, compared with the reference engine after every commit."""

import os
from random import Random

import pytest

from tidelog.run.contract import Switch
from tidelog.run.maintain import choose, cost
from tidelog.session.soak.graphs import NODES, graph_history
from tidelog.session.soak.soak import Setting, Tally, soak

HISTORIES = int(os.environ.get("TIDELOG_SOAK", "1000"))
PART = 50


def ignore(tally: Tally) -> None:
    """Tell nobody."""


@pytest.mark.parametrize("seed", range(0, HISTORIES, PART))
def test_histories(seed: int) -> None:
    tally, failure = soak(min(PART, HISTORIES - seed), seed, Setting(None, "auto"), ignore)
    assert failure is None, str(failure)
    assert tally.commits == 12 * tally.histories


@pytest.mark.parametrize("strategy", ["ranked", "dbsp", "recompute"])
def test_histories_by_one_strategy(strategy: str) -> None:
    _, failure = soak(min(40, HISTORIES), 300, Setting(None, strategy), ignore)
    assert failure is None, str(failure)


@pytest.mark.parametrize("least", [2.0, 12_000.0])
def test_histories_that_overrun_their_budget(least: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """All updates of recursive relations do, or some, which then go on with support that nobody has counted."""
    monkeypatch.setitem(cost.LEAST, "work", least)
    monkeypatch.setattr(choose, "_is_load", lambda backend, stratum: False)
    monkeypatch.setattr(choose, "DEFAULT_SWITCH", Switch(0.01))
    _, failure = soak(min(40, HISTORIES), 700, Setting(None, "auto"), ignore)
    assert failure is None, str(failure)


@pytest.mark.parametrize("strategy", ["auto", "ranked", "dred"])
def test_histories_of_larger_graphs(strategy: str) -> None:
    tally, failure = soak(min(10, HISTORIES), 0, Setting(None, strategy, large=True), ignore)
    assert failure is None, str(failure)
    assert tally.changes > 100 * tally.commits > 0


def test_graphs_have_every_shape_and_program() -> None:
    histories = [graph_history(Random(seed)) for seed in range(60)]
    assert {str(history.start).count(":-") for history in histories} == {2, 4, 5, 6, 8}
    assert {relation.kinds[0] for history in histories for relation in history.start.relations} == set(NODES)
    assert any(step.rules_removed for history in histories for step in history.steps)
