"""Functions that call themselves are stopped: by their depth and by limits, and the last commit stands."""

import sys
import threading

import pytest

from tests.engines import IN_PROCESS
from tidelog import Database, EvaluationError, LimitError, Limits
from tidelog.session.engines import EngineName

TEXT = """
    function down(n: u32): u32 = if (n == 0) n else down(n - 1)
    function fib(n: u32): u64 = if (n < 2) n as u64 else { fib(n - 1) + fib(n - 2) }
    input relation Down(n: u32)
    input relation Fib(n: u32)
    output relation Out(n: u64)
    Out(down(n) as u64) :- Down(n).
    Out(fib(n)) :- Fib(n).
"""


@pytest.mark.parametrize("engine", IN_PROCESS)
def test_depth(engine: EngineName) -> None:
    db = Database(TEXT, engine=engine)
    with db.transaction() as tx:
        tx.insert("Down", [(999,)])
    with (
        pytest.raises(EvaluationError, match=r"more than 1,000 deep, at `down`, with n = 1000"),
        db.transaction() as tx,
    ):
        tx.insert("Down", [(1000,)])
    assert db["Out"].rows() == [(0,)]
    db.verify()


@pytest.mark.parametrize("engine", IN_PROCESS)
def test_time(engine: EngineName) -> None:
    db = Database(TEXT, engine=engine, limits=Limits(seconds=0.3))
    with pytest.raises(LimitError), db.transaction() as tx:
        tx.insert("Fib", [(60,)])
    assert db["Out"].rows() == []


def test_several_threads() -> None:
    """Each thread has its own depth; Python's own limit is as before when all of them are done."""
    before = sys.getrecursionlimit()
    found: list[object] = []

    def follow() -> None:
        db = Database(TEXT, engine="tuples")
        for n in range(960, 1000):
            with db.transaction() as tx:
                tx.insert("Down", [(n,)])
        found.extend(db["Out"].rows())

    threads = [threading.Thread(target=follow) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(0,)] * 3
    assert sys.getrecursionlimit() == before
