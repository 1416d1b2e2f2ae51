"""Random histories of databases on the default engine, compared with the reference engine after every commit."""

import os

import pytest

from tidelog.run.maintain import choose
from tidelog.session.soak.soak import soak

HISTORIES = int(os.environ.get("TIDELOG_SOAK", "1000"))
PART = 50


@pytest.mark.parametrize("seed", range(0, HISTORIES, PART))
def test_histories(seed: int) -> None:
    tally, failure = soak(min(PART, HISTORIES - seed), seed, None, "auto", lambda tally: None)
    assert failure is None, str(failure)
    assert tally.commits == 12 * tally.histories


@pytest.mark.parametrize("strategy", ["ranked", "dbsp", "recompute"])
def test_histories_by_one_strategy(strategy: str) -> None:
    _, failure = soak(min(40, HISTORIES), 300, None, strategy, lambda tally: None)
    assert failure is None, str(failure)


def test_histories_that_overrun_their_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(choose.LEAST, "work", 2.0)
    _, failure = soak(min(40, HISTORIES), 700, None, "auto", lambda tally: None)
    assert failure is None, str(failure)
