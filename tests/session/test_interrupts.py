"""Whatever interrupts a transaction, before whatever line: it is done or not, nothing is locked, and all goes on.

The quick form tries all lines of the session and a sample of the others; `TIDELOG_INTERRUPTS=all` tries all, each
before its first run and, if it runs several times, before a later one (`docs/dev/testing.md`).
"""

from __future__ import annotations

import os
import threading
from random import Random
from typing import Any

import pytest

from tests.session.interrupts import Player
from tidelog import Database, UserError

ALL = os.environ.get("TIDELOG_INTERRUPTS") == "all"
OWN = (
    "/session/store",
    "/session/transaction",
    "/session/subscriptions",
    "/session/live",
    "/base/process/lock",
    "/base/process/gc_pause",
)
"""What commits are made of: each of these lines is tried in any case."""


@pytest.mark.long(reason="a run for each line that may be interrupted")
@pytest.mark.filterwarnings("ignore::tidelog.SubscriptionWarning")
@pytest.mark.parametrize(
    ("options", "folders", "most"),
    [
        ({"engine": "columnar"}, ("/",), 1300),
        ({"engine": "tuples"}, ("/",), 1500),
        ({"strategy": "dbsp"}, ("/run/dbsp", "/session"), 350),
        *(
            ({"strategy": strategy}, ("/run",), 100)
            for strategy in ("ranked", "dred", "elastic", "modular", "recompute")
        ),
    ],
    ids=lambda value: "-".join(value.values()) if isinstance(value, dict) else "",
)
def test_interrupted_anywhere(options: dict[str, Any], folders: tuple[str, ...], most: int) -> None:
    player = Player(7, rarely=4 if ALL else 16, **options)
    interrupts = player.interrupts(("/",) if ALL else folders, ("/",) if ALL else OWN)
    if not ALL and len(interrupts) > most:
        own = [one for one in interrupts if one.name.startswith(OWN)]
        others = [one for one in interrupts if not one.name.startswith(OWN)]
        interrupts = [*own, *Random(7).sample(others, max(0, most - len(own)))]
    player.play_all(interrupts)
    assert not player.problems, "\n".join(player.problems)
    # Not all: what all databases of a process share is made once.
    assert player.raised > 0.95 * player.tried, "few lines were met again"


def test_a_transaction_that_was_dropped_is_over() -> None:
    db = Database("input relation R(x: u8)")
    db.transaction().begin().insert("R", [(1,)])
    with db.transaction() as tx:
        tx.insert("R", [(2,)])
    assert db.relation("R").rows() == [(2,)]


def test_a_transaction_whose_thread_has_ended_is_over() -> None:
    db, kept = Database("input relation R(x: u8)"), []
    thread = threading.Thread(target=lambda: kept.append(db.transaction().begin()))
    thread.start()
    thread.join()
    with db.transaction() as tx:
        tx.insert("R", [(2,)])
    with pytest.raises(UserError, match="the transaction is not open"):
        kept[0].commit()
    assert db.relation("R").rows() == [(2,)]


def test_a_waiting_thread_goes_on_when_the_transaction_before_is_dropped() -> None:
    db = Database("input relation R(x: u8)")
    first = db.transaction().begin()

    def write() -> None:
        with db.transaction() as tx:
            tx.insert("R", [(2,)])

    thread = threading.Thread(target=write)
    thread.start()
    assert db.relation("R").rows() == []
    del first
    thread.join(timeout=20)
    assert db.relation("R").rows() == [(2,)]
