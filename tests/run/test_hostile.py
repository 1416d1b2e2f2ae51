"""Limits hold against hostile programs: each ends with a `LimitError`, in time, in memory, and with nothing changed."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.run.hostile.programs import FUNCTIONS, RULES

SECONDS = 0.3
"""The time limit of each program."""
ENGINES = [("columnar", "auto"), ("columnar", "dbsp"), ("tuples", "auto"), ("reference", "auto")]
STRATEGIES = [*ENGINES[1:], *(("columnar", strategy) for strategy in ("recompute", "dred", "elastic", "modular"))]
SHARED = ["nested loops", "folds", "text that doubles", "vectors that double", "trees that double", "squares"]
"""What is tried with every engine; all of the functions share their values and operators."""
BASIC = ["a cross join", "pairs that do not fit", "even and odd", "same generation"]
"""What is tried with every strategy."""


def ended(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run jobs in a process of their own, where a hang or a lack of memory hurts nobody else."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.run.hostile.child"],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def check(jobs: list[dict[str, Any]]) -> None:
    """Check the bounds: a second limit passed at most, or two seconds; half as much memory again."""
    for one in ended(jobs):
        told = json.dumps(one)
        assert one["ended"].startswith("LimitError"), told
        assert "seconds" not in one or one["took"] <= max(2 * SECONDS, SECONDS + 2), told
        assert one["used"] <= 1.5, told
        assert one["same"], told


@pytest.mark.parametrize(("engine", "strategy"), ENGINES)
def test_functions(engine: str, strategy: str) -> None:
    names = list(FUNCTIONS) if (engine, strategy) == ENGINES[0] else SHARED
    check([{"name": n, "engine": engine, "strategy": strategy, "seconds": SECONDS, "memory": True} for n in names])


def test_values_under_a_limit_of_memory_alone() -> None:
    names = ["text that doubles", "interpolation that doubles", "vectors that double", "a long range"]
    check([{"name": n, "engine": "columnar", "strategy": "auto", "memory": True} for n in names])


def test_rules() -> None:
    check([{"name": n, "engine": "columnar", "strategy": "auto", "seconds": SECONDS, "memory": True} for n in RULES])


@pytest.mark.parametrize(("engine", "strategy"), STRATEGIES)
def test_rules_with_every_strategy(engine: str, strategy: str) -> None:
    check([{"name": n, "engine": engine, "strategy": strategy, "seconds": SECONDS, "memory": True} for n in BASIC])


def test_rules_under_a_limit_of_memory_alone() -> None:
    names = ["a cross join", "a set of each", "elements of a long vector", "an endless text", "reachability by halves"]
    check([{"name": n, "engine": "columnar", "strategy": "auto", "memory": True} for n in names])


def test_rules_under_a_limit_of_tuples_alone() -> None:
    names = ["a cross join", "same generation", "an endless count"]
    check([{"name": n, "engine": "columnar", "strategy": "auto", "tuples": 100_000} for n in names])
