"""Histories of many rows, compared with DuckDB; and that the comparison sees what is wrong."""

import sys

import numpy as np
import pyarrow as pa
import pytest

from tidelog.base.errors import UserError
from tidelog.session.soak.settings import Asked
from tidelog.session.soak.sized.at_size import AtSize
from tidelog.session.soak.sized.oracle import Oracle
from tidelog.session.soak.sized.programs import FAMILIES, documents
from tidelog.session.soak.soak import soak

ROWS = 300_000


@pytest.mark.long(reason="histories of many kinds")
@pytest.mark.parametrize("seed", [28, 7, 0])
def test_histories_of_many_rows(seed: int) -> None:
    """Documents (one kind of most, and few of others: these were mis-sorted), reachability, a closure."""
    tally, failure = soak(1, seed, Asked(rows=ROWS), lambda _: None)
    assert failure is None, str(failure)
    assert tally.changes > ROWS


@pytest.mark.long(reason="histories of many kinds")
def test_histories_of_every_family() -> None:
    tally, failure = soak(8, 0, Asked(rows=1_500), lambda _: None)
    assert failure is None, str(failure)
    assert (tally.histories, tally.commits >= 24) == (8, True)
    assert {AtSize(seed, 100, Asked()).told.split()[0] for seed in range(10)} == {one.__name__ for one in FAMILIES}


@pytest.mark.long(reason="histories of many kinds")
def test_a_seed_names_a_history() -> None:
    one, other = (soak(1, 4, Asked(rows=500), lambda _: None)[0] for _ in range(2))
    assert (one.commits, one.changes) == (other.commits, other.changes)


def table(*rows: tuple[str, int]) -> pa.Table:
    return pa.table({"k": [kind for kind, _ in rows], "h": pa.array([number for _, number in rows], pa.uint64())})


@pytest.fixture
def oracle() -> Oracle:
    made = Oracle(documents(np.random.default_rng(0), 100))
    made.commit({}, {"Doc": table(("a", 1), ("a", 2), ("a", 1)), "Asked": table(("a", 1), ("b", 2**64 - 1))})
    made.commit({"Doc": table(("a", 1), ("a", 2))}, {"Doc": table(("a", 2), ("c", 3))})
    return made


def test_the_oracle_tells_what_differs(oracle: Oracle) -> None:
    assert oracle.compare("Doc", 0, table(("a", 2), ("a", 1))) is None
    assert oracle.compare("Doc", 1, table(("a", 2), ("c", 3))) is None
    assert oracle.compare("Missing", 1, table(("b", 2**64 - 1), ("a", 1))) is None
    assert oracle.compare("Doc", 1, table(("a", 2))) == "lacks 1 rows such as [('c', 3)]"
    found = oracle.compare("Doc", 1, table(("a", 2), ("c", 3), ("c", 3)))
    assert found == "has too much: 1 rows such as [('c', 3)]"
    assert oracle.compare("Doc", 1, table(("c", 2), ("a", 3))) is not None


def test_the_oracle_tells_which_changes_differ(oracle: Oracle) -> None:
    none = table().cast(table(("a", 1)).schema)
    assert oracle.compare_change("Doc", 0, table(("a", 1), ("a", 2)), none) is None
    assert oracle.compare_change("Doc", 1, table(("c", 3)), table(("a", 1))) is None
    assert oracle.compare_change("Known", 1, none, table(("a", 1))) is None
    for came, went in (
        (none, table(("a", 1))),
        (table(("c", 3)), none),
        (table(("c", 3), ("a", 2)), table(("a", 1), ("a", 2))),  # comes and goes
        (table(("c", 3), ("c", 3)), table(("a", 1))),
        (table(("a", 1)), table(("c", 3))),
    ):
        assert oracle.compare_change("Doc", 1, came, went) is not None


def test_without_duckdb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(UserError, match="pip install duckdb"):
        soak(1, 0, Asked(rows=100), lambda _: None)
