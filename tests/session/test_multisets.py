"""Multisets: rows with weights, the numbers of their derivations."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from tests.engines import IN_PROCESS
from tidelog import Database, DataError, UserError

PROGRAM = """
    input multiset M(x: u8)
    input relation Pair(x: u8, y: u8)
    multiset Both(x: u8)
    Both(x) :- M(x).
    Both(y) :- M(x), Pair(x, y).
    Both(7).
    output multiset Half(x: u8)
    Half(x / 2) :- Both(x), not Pair(x, x).
    output relation Seen(x: u8)
    Seen(x) :- Half(x).
    output relation Count(x: u8, n: usize, d: usize)
    Count(x, g.count(), g.count_distinct()) :- Half(x), Pair(x, _), var g = x.group_by(x).
    output relation All(n: usize)
    All(n) :- (M(x), x > 1; Half(x)), var n = x.group_by(()).count().
    output relation Rose(x: u8)
    Rose(x) :- Half(x), not Half-1(x).
"""


def brute(given: Counter[int], pairs: set[tuple[int, int]]) -> dict[str, Any]:
    """What the relations hold, by counting."""
    both = Counter(given) + Counter([7])
    for x, times in given.items():
        for a, b in pairs:
            if a == x:
                both[b] += times
    half: Counter[int] = Counter()
    for x, times in both.items():
        if (x, x) not in pairs:
            half[x // 2] += times
    joined = Counter({x: times * sum(a == x for a, _ in pairs) for x, times in half.items()})
    every = sum(times for x, times in given.items() if x > 1) + sum(half.values())
    return {
        "Both": {(x,): n for x, n in both.items() if n},
        "Half": {(x,): n for x, n in half.items() if n},
        "Seen": {(x,): 1 for x, n in half.items() if n},
        "Count": {(x, n, 1): 1 for x, n in joined.items() if n},
        "All": {(every,): 1} if every else {},
    }


@pytest.mark.parametrize("engine", IN_PROCESS)
@pytest.mark.parametrize("seed", range(3))
def test_histories(seed: int, engine: Any) -> None:
    random, given, pairs = Random(seed), Counter([3, 3]), set[tuple[int, int]]()
    database = Database(PROGRAM, engine=engine, facts={"M": [(3,), (3,)]})
    before = brute(given, pairs)
    for step in range(8):
        with database.transaction() as tx:
            for _ in range(random.randrange(1, 5)):
                x, y = random.randrange(5), random.randrange(5)
                if random.random() < 0.3:
                    (tx.delete if (x, y) in pairs else tx.insert)("Pair", [(x, y)])
                    pairs ^= {(x, y)}
                elif given[x] and random.random() < 0.5:
                    tx.delete("M", [(x,)])
                    given[x] -= 1
                else:
                    times = random.randrange(1, 4)
                    tx.insert("M", [(x,)] * times)
                    given[x] += times
            foreseen = {name: dict(change) for name, change in tx.preview().items()}
        assert foreseen == {name: dict(change) for name, change in tx.result.changes.items()}
        after = brute(given, pairs)
        for name, expected in after.items():
            assert database[name].weights() == expected, (step, name)
            changed = Counter(expected)
            changed.subtract(before[name])
            assert dict(tx.result.changes[name]) == {row: n for row, n in changed.items() if n}, (step, name)
        database.verify()
        before = after
    database.set_strategy("recompute")
    assert database["Half"].weights() == before["Half"]


def test_facts_come_and_go() -> None:
    database = Database("input multiset M(x: u8)  M(1).  M(1).  M(2).  output relation S(x: u8)  S(x) :- M(x).")
    assert database["M"].weights() == {(1,): 2, (2,): 1}, "facts of the program count, too"
    with database.transaction() as tx:
        tx.insert("M", [(1,), (3,), (3,)])
        tx.delete("M", [(3,)])
        assert list(tx.preview()["M"]) == [((1,), 1), ((3,), 1)]
    assert (database["M"].weights(), database["M"].count()) == ({(1,): 3, (2,): 1, (3,): 1}, 3)
    message = r"M\{.x = 3\} is deleted 3 times, but it is there 1 times"
    with pytest.raises(DataError, match=message), database.transaction() as tx:
        tx.delete("M", [(3,), (3,), (3,)])
    with database.transaction() as tx:
        tx.clear("M")
    assert list(tx.result.changes["M"]) == [((1,), -1), ((3,), -1)]
    assert tx.result.changes["M"].deleted == [(3,)]
    with database.transaction() as tx:
        tx.remove_rules("M(1).")
    assert database["M"].weights() == {(2,): 1}


def test_pipelines_refuse_it(tmp_path: Any) -> None:
    from tidelog.session.pipeline.run import Pipeline  # noqa: PLC0415  (loads much)

    (tmp_path / "p.dl").write_text("input multiset M(x: u8)  output relation T(x: u8)  T(x) :- M(x).")
    (tmp_path / "p.toml").write_text('program = "p.dl"\nstate = "state"\n')
    with pytest.raises(UserError, match="a pipeline keeps facts as sets, so it has no multiset M"):
        Pipeline(tmp_path / "p.toml").run()
