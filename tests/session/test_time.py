"""Streams, whose rows last one transaction, and relations as they were some commits ago."""

from random import Random
from typing import Any

import pytest

from tests.engines import IN_PROCESS
from tidelog import Database, DataError, UserError

PARCELS = """
    input relation Zip(zip: u32, city: string)
    input stream Parcel(zip: u32, weight: u32)
    output stream Sent(city: string, weight: u32)
    Sent(c, w) :- Parcel(z, w), Zip(z, c).
    output stream Lost(zip: u32)
    Lost(z) :- Parcel(z, _), not Zip(z, _).
    output stream Heavy(city: string, weight: u32)
    Heavy(c, n) :- Sent(c, w), var n = w.group_by(c).max().
    relation Part(zip: u32, weight: u32)
    Part(z, w) :- Parcel'(z, w).
    Part(z, w) :- Total-1(z, w).
    output relation Total(zip: u32, weight: u32)
    Total(z, s) :- Part(z, w), var s = w.group_by(z).max().
    output relation Rise(zip: u32, by: u32)
    Rise(z, w - v) :- Total(z, w), Total-2(z, v), w != v.
    output relation Gone(city: string)
    Gone(c) :- Zip-1(_, c), not Zip(_, c).
"""
Row = tuple[Any, ...]


def transact(database: Database, **rows: list[Row]) -> dict[str, list[tuple[Row, int]]]:
    with database.transaction() as tx:
        for relation, given in rows.items():
            tx.insert(relation, given)
    return {name: list(change) for name, change in tx.result.changes.items()}


@pytest.mark.parametrize("engine", IN_PROCESS)
def test_a_stream_lasts_one_transaction(engine: Any) -> None:
    database = Database(PARCELS, engine=engine, facts={"Zip": [(1, "a"), (2, "b")]})
    changes = transact(database, Parcel=[(1, 5), (1, 6), (3, 7)])
    assert changes["Sent"] == [(("a", 5), 1), (("a", 6), 1)]
    assert (changes["Lost"], changes["Heavy"]) == ([((3,), 1)], [(("a", 6), 1)])
    assert database["Sent"].rows() == [("a", 5), ("a", 6)], "until the next transaction"
    changes = transact(database, Zip=[(4, "d")])
    assert "Sent" not in changes, "nothing leaves a stream"
    assert database["Sent"].rows() == database["Parcel"].rows() == []
    changes = transact(database, Parcel=[(4, 1)])
    assert changes["Sent"] == [(("d", 1), 1)]
    changes = transact(database, Parcel=[(4, 1)])
    assert changes["Sent"] == changes["Heavy"] == [(("d", 1), 1)], "the same again is new again"


@pytest.mark.parametrize("engine", IN_PROCESS)
def test_the_past(engine: Any) -> None:
    database = Database("input relation R(x: u8)  output relation Then(ago: u8, x: u8)", engine=engine)
    with database.transaction() as tx:
        tx.insert("R", [(0,)])
    with database.transaction() as tx:
        tx.add_rules("Then(1, x) :- R-1(x).  Then(3, x) :- R-3(x).")
        tx.insert("R", [(1,)])
    assert database["Then"].rows() == [(1, 0)], "what it was a commit ago is known, what it was before is not"
    transact(database, R=[(2,)])
    transact(database)
    assert database["Then"].rows() == [(1, 0), (1, 1), (1, 2), (3, 0)]
    with database.transaction() as tx:
        tx.delete("R", [(0,)])
        assert [*tx.preview()["Then"]] == [((3, 1), 1)]
        tx.rollback()
    with database.transaction() as tx:
        tx.delete("R", [(0,)])
    assert list(tx.result.changes["Then"]) == [((3, 1), 1)]
    assert list(transact(database)["Then"]) == [((3, 2), 1), ((1, 0), -1)]
    database.verify()


def test_what_takes_no_facts() -> None:
    database = Database("input relation R(x: u8)  relation Then(x: u8)  Then(x) :- R-1(x).")
    with pytest.raises(DataError, match="R-1 has rows of the past"), database.transaction() as tx:
        tx.insert("R-1", [(1,)])


@pytest.mark.parametrize("strategy", ["auto", "ranked", "dred", "elastic", "recompute", "dbsp"])
@pytest.mark.parametrize("seed", range(4))
def test_histories(seed: int, strategy: Any) -> None:
    random = Random(seed)
    engine: Any = "tuples" if strategy == "elastic" else "columnar"
    both = Database(PARCELS, engine="reference"), Database(PARCELS, engine=engine, strategy=strategy)
    for step in range(12):
        parcels = [(random.randrange(4), random.randrange(4)) for _ in range(random.randrange(3))]
        place = (random.randrange(4), random.choice("ab"))
        insert, drop = random.random() < 0.5, random.random() < 0.2
        seen = []
        for database in both:
            with database.transaction() as tx:
                tx.insert("Parcel", parcels)
                (tx.insert if insert else tx.delete)("Zip", [place])
                foreseen = {name: list(change) for name, change in tx.preview().items()}
                if drop:
                    tx.rollback()
            if not drop:
                assert foreseen == {name: list(change) for name, change in tx.result.changes.items()}
            database.verify()
            seen.append((foreseen, {view.name: view.rows() for view in database.relations()}))
        assert seen[0] == seen[1], step
        if step == 6:
            both[1].set_strategy("recompute" if strategy != "dbsp" else "dbsp")


def test_pipelines_refuse_it(tmp_path: Any) -> None:
    from tidelog.session.pipeline.run import Pipeline  # noqa: PLC0415  (loads much)

    (tmp_path / "p.dl").write_text("input stream S(x: u8)  output stream T(x: u8)  T(x) :- S(x).")
    (tmp_path / "p.toml").write_text('program = "p.dl"\nstate = "state"\n')
    with pytest.raises(UserError, match="a pipeline has no transactions for the stream S to count by"):
        Pipeline(tmp_path / "p.toml").run()
