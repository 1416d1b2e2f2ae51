"""Work shared by threads: the results in order, also of more calls than are handed out at once, and what fails."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tidelog.run.threads import AT_ONCE, share

MANY = 3 * AT_ONCE + 7


@pytest.mark.parametrize("count", [0, 1, 2, AT_ONCE, AT_ONCE + 1, MANY])
def test_results_are_in_the_order_of_the_calls(count: int) -> None:
    with ThreadPoolExecutor(2) as pool:
        assert share(pool, lambda number: number * number, [(n,) for n in range(count)]) == [
            n * n for n in range(count)
        ]


def test_a_call_that_fails_leaves_nothing_running() -> None:
    seen: list[int] = []
    lock = threading.Lock()

    def call(number: int) -> None:
        with lock:
            seen.append(number)
        if number == AT_ONCE + 3:
            raise ValueError("this one")

    with ThreadPoolExecutor(2) as pool:
        with pytest.raises(ValueError, match="this one"):
            share(pool, call, [(n,) for n in range(MANY)])
        done = len(seen)
        pool.submit(int).result()
        assert len(seen) == done
        assert max(seen) < 2 * AT_ONCE  # later parts were never handed out


def test_a_helper_shares_its_own_work() -> None:
    def outer(number: int) -> int:
        return sum(share(pool, lambda inner: inner * number, [(n,) for n in range(5)]))

    with ThreadPoolExecutor(1) as pool:
        assert share(pool, outer, [(n,) for n in range(4)]) == [0, 10, 20, 30]
