"""Random histories of databases on the default engine, compared with the reference engine after every commit."""

import os
from random import Random

import pytest

from tidelog.run.maintain import choose
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


def test_histories_that_overrun_their_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(choose.LEAST, "work", 2.0)
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
