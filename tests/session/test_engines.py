"""Engines by name, as a database makes them."""

from __future__ import annotations

import pytest

from tidelog import Database
from tidelog.base.tuning.table import Tuning
from tidelog.session.engines import ENGINES, EngineName


@pytest.mark.parametrize("name", ["columnar", "tuples", "reference"])
def test_every_engine_and_strategy_takes_a_tuning(name: EngineName) -> None:
    for strategy in ENGINES[name].strategies:
        db = Database(
            "input relation R(x: u8)  relation S(x: u8)  S(x) :- R(x).", engine=name, strategy=strategy, tuning=Tuning()
        )
        with db.transaction() as tx:
            tx.insert("R", [(1,)])
        assert db.relation("S").rows() == [(1,)]
