"""Input relations of which the program states facts, too: both kinds come and go by themselves."""

from __future__ import annotations

import pytest

from tests.engines import IN_PROCESS
from tidelog import Database
from tidelog.session.engines import EngineName

PROGRAM = "input relation R(x: u8)\noutput relation S(x: u8)\nS(x) :- R(x)."


@pytest.mark.parametrize("engine", IN_PROCESS)
def test_a_fact_is_stated_while_another_is_deleted(engine: EngineName) -> None:
    db = Database(PROGRAM, engine=engine)
    with db.transaction() as tx:
        tx.insert("R", [(1,), (2,)])
    with db.transaction() as tx:
        tx.delete("R", [(1,)])
        tx.add_rules('#[name = "stated"] R(7).')
    assert db.relation("R").rows() == db.relation("S").rows() == [(2,), (7,)]
    assert list(tx.result.changes["S"]) == [((7,), 1), ((1,), -1)]
    with db.transaction() as tx:
        tx.insert("R", [(3,), (7,)])
        tx.delete("R", [(2,)])
        tx.remove_rules("stated")
    assert db.relation("R").rows() == db.relation("S").rows() == [(3,), (7,)]
    assert list(tx.result.changes["R"]) == [((3,), 1), ((2,), -1)]
    db.verify()
