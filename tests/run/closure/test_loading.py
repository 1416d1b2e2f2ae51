"""When kernels on graphs are loaded: once the plain functions have cost as much, or are about to."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.run.closure import functions, kernels, plain
from tidelog.run.closure.functions import Functions
from tidelog.run.closure.reach import Graph, reach

PRICE = 1_000


@pytest.fixture(name="tuning")
def fixture_tuning(monkeypatch: pytest.MonkeyPatch) -> Tuning:
    """A price of 1,000 edges, and no kernels loaded before."""
    monkeypatch.delitem(sys.modules, functions.KERNELS)
    monkeypatch.setattr(functions, "load_kernels", lambda _: kernels)
    return DEFAULT.having({"compiling.edges": PRICE, "compiling.spared": 10})


def test_work_adds_up_until_kernels_are_worth_it(tuning: Tuning) -> None:
    made = Functions(tuning)
    for _ in range(9):
        assert made(PRICE // 10) is plain
    assert made.left() == PRICE // 10
    made.expect(PRICE // 10 - 1)
    assert made() is plain, "what is expected is not yet done"
    assert made(PRICE // 10) is kernels
    assert made.left() == sys.maxsize


def test_what_is_expected_to_cost_as_much_is_not_begun(tuning: Tuning) -> None:
    made = Functions(tuning)
    made.expect(PRICE)
    assert made() is kernels


def test_kernels_that_are_there_already_cost_less(tuning: Tuning, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, functions.KERNELS, kernels)
    made = Functions(tuning)
    assert made(PRICE // 10 - 1) is plain
    assert made(1) is kernels


def test_a_chain_of_few_edges_but_many_pairs_loads_them(tuning: Tuning) -> None:
    """A chain of 200 edges has 20,100 pairs; edges alone say nothing of what its closure costs."""
    made, nodes = Functions(tuning), np.arange(201, dtype=np.int32)
    reach(Graph.of(nodes[:-1], nodes[1:], 201, made), nodes)
    assert made() is kernels
