"""Random histories on the engines dbsp and tuples, every way to work, with thresholds drawn: right after every step."""

from __future__ import annotations

import os
from functools import partial
from itertools import product
from random import Random

import pytest

from tests.generate.checking import follow
from tidelog.base.tuning.table import Tuning, all_paths
from tidelog.base.tuning.thresholds import Paths
from tidelog.run.dbsp.engine import DbspEngine
from tidelog.run.tuples.engine import EVALUATORS, TuplesEngine
from tidelog.run.tuples.index import INDEXES
from tidelog.session.engines import CHOICES, ENGINES
from tidelog.session.soak.histories import random_history

HISTORIES = int(os.environ.get("TIDELOG_HISTORIES", "8"))
STRATEGIES = ENGINES["tuples"].strategies


def missing(part: str, paths: Paths) -> set[tuple[str, str]]:
    return {path for path in all_paths() if path[0].startswith(part)} - paths.taken.keys()


@pytest.mark.parametrize("indexed", [True, False])
def test_dbsp(indexed: bool) -> None:
    paths = Paths()
    for seed in range(2 * HISTORIES):
        tuning = Tuning.drawn(Random(seed), paths)
        follow(random_history(Random(500 + seed), 8), partial(DbspEngine, indexed=indexed, tuning=tuning))
    assert HISTORIES < 8 or not missing("traces.", paths)


@pytest.mark.long(reason="random histories")
def test_tuples() -> None:
    paths = Paths()
    ways = list(product(STRATEGIES, EVALUATORS, INDEXES))
    for number in range(len(ways) * max(1, HISTORIES // 8)):
        strategy, evaluator, index = ways[number % len(ways)]
        rediscovery = CHOICES["rediscovery"][number // len(STRATEGIES) % 2] if strategy == "elastic" else "whole"
        engine = partial(
            TuplesEngine,
            strategy=strategy,
            tuning=Tuning.drawn(Random(number), paths),
            evaluator=evaluator,
            index=index,
            rediscovery=rediscovery,
            parallel=1 + number % 2,
        )
        follow(random_history(Random(900 + number), 8), engine)
    assert not missing("tuples.", paths)
