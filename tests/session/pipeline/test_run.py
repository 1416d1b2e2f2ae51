"""A pipeline from files to files, through restarts, changes, edited rules, mistakes and rollbacks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tidelog import Database, DataError, ProgramError, UserError
from tidelog.run import limits
from tidelog.session.observe.progress import Progress, watching
from tidelog.session.pipeline.config import read_config
from tidelog.session.pipeline.run import Outcome, Pipeline

pytestmark = pytest.mark.spark

PROGRAM = """\
typedef Kind = Wire | Radio{band: u8}
input relation Link(a: string, b: string, port: bit<16>)
input relation Blocked(port: bit<16>)
input relation Medium(host: string, kind: Kind)
output relation Reach(a: string, b: string)
Reach(a, b) :- Link(a, b, p), not Blocked(p).
#[name = "hop"]
Reach(a, c) :- Reach(a, b), Link(b, c, p), not Blocked(p).
"""
CONFIG = """\
program = "network.dl"
state = "state"

[[source]]
relation = "Link"
format = "csv"
path = "links.csv"
columns = { a = "from", b = "to" }

[[source]]
relation = "Medium"
format = "json"
path = "media.jsonl"

[[sink]]
relation = "Reach"
format = "csv"
path = "out/reach"

[[sink]]
relation = "Reach"
format = "parquet"
path = "out/changes"
mode = "changes"
"""
ALL = [("a", "b"), ("a", "c"), ("b", "c")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "network.dl").write_text(PROGRAM)
    (tmp_path / "pipeline.toml").write_text(CONFIG)
    (tmp_path / "links.csv").write_text("port,from,to\n443,a,b\n80,b,c\n")
    (tmp_path / "media.jsonl").write_text('{"host": "a", "kind": "Wire{}"}\n{"host": "b", "kind": "Radio{3}"}\n')
    return tmp_path


@pytest.fixture
def pipeline(folder: Path, spark: SparkSession) -> Callable[[], Pipeline]:
    return lambda: Pipeline(read_config(folder / "pipeline.toml"), spark=spark)


def full(folder: Path) -> list[tuple[str, ...]]:
    lines = [line for path in (folder / "out/reach").glob("*.csv") for line in path.read_text().split()]
    return sorted(tuple(line.split(",")) for line in lines if line != "a,b" or lines.count(line) > 1)


def changes(spark: SparkSession, folder: Path) -> list[tuple[Any, ...]]:
    frame = spark.read.parquet(str(folder / "out/changes")).select("version", "weight", "a", "b")
    return sorted(tuple(row) for row in frame.collect())


def test_a_life(folder: Path, spark: SparkSession, pipeline: Callable[[], Pipeline]) -> None:
    with pipeline() as first:
        (outcome,) = first.run()
    assert outcome.version.number == 1
    assert outcome.version.changes == {"Link": (2, 0), "Medium": (2, 0), "Reach": (3, 0)}
    assert changes(spark, folder) == [(1, 1, *row) for row in ALL]

    # A restart with the same files makes no version.
    with pipeline() as again:
        (outcome,) = again.run()
        assert (outcome.fresh, outcome.version.number) == (False, 1)
        # Signed rows; the rows of all files add up.
        day = folder / "day"
        (day / "Link").mkdir(parents=True)
        (day / "Link" / "x.csv").write_text("op,from,to,port\ndelete,b,c,80\ninsert,c,d,80\ninsert,x,y,1\n")
        (day / "Link.more.csv").write_text("weight,from,to,port\n-1,x,y,1\n")
        (outcome,) = again.run(day)
        assert outcome.version.changes == {"Link": (1, 1), "Reach": (1, 2)}
    assert changes(spark, folder)[3:] == [(2, -1, "a", "c"), (2, -1, "b", "c"), (2, 1, "c", "d")]

    # The program was edited: only rules, so only rules change; the source has not, so the changes stay.
    (folder / "network.dl").write_text(
        PROGRAM.replace('#[name = "hop"]\n', "").replace("80", "81") + "Reach(a, a) :- Link(a, _, _).\n"
    )
    with pipeline() as third:
        (outcome,) = third.run()
        assert outcome.revision is not None
        assert outcome.revision.added[-1] == "Reach(a, a) :- Link(a, _, _)."
        assert outcome.version.changes == {"Reach": (2, 0)}

        # More than rules was edited: the database is built anew, the changes are exact all the same.
        (folder / "network.dl").write_text(PROGRAM + "input relation Extra(x: u8)\n")
        (outcome,) = third.run()
        assert outcome.revision is None
        assert outcome.version.changes == {"Reach": (0, 2)}
        assert [row for row in changes(spark, folder) if row[0] == 4] == [(4, -1, "a", "a"), (4, -1, "c", "c")]

        # Back to the first version.
        outcome = third.rollback(1)
        assert (outcome.version.number, outcome.version.reason) == (5, "rollback to 1")
        assert outcome.version.changes == {"Link": (1, 1), "Reach": (2, 1)}
        assert [version.number for version in third.state.history()] == [1, 2, 3, 4, 5]
    assert sorted(row[2:] for row in changes(spark, folder) if row[0] == 5 and row[1] > 0) == [("a", "c"), ("b", "c")]


def test_mistakes_change_nothing(folder: Path, pipeline: Callable[[], Pipeline]) -> None:
    with pipeline() as one:
        one.run()
    links = folder / "links.csv"
    for text, told in (
        ("port,from,to\n443,a,b\n80x,b,c\n", r"links.csv, row 2: column `port`: expected bit<16> .*, found '80x'"),
        ("port,from,to\n443,a,b\n70000,b,c\n", r"links.csv, row 2: .*0 to 65535.*found '70000'"),
        ("port,from,to\n443,a\n", r"links.csv, row 1: not a row of csv: 443,a"),
        ("port,from,too\n443,a,b\n", r"there is no column `to`, needed for Link.b; .*did you mean `too`"),
    ):
        links.write_text(text)
        with pipeline() as one, pytest.raises(DataError, match=told):
            one.run()
    links.unlink()
    with pipeline() as one, pytest.raises(DataError, match=r"source Link \(.*links.csv\): there is no such file"):
        one.run()
    (folder / "day").mkdir()
    (folder / "day" / "Lnk.csv").write_text("op\n")
    with pipeline() as one, pytest.raises(UserError, match=r"belongs to no input relation.*did you mean `Link`"):
        one.run(folder / "day")
    (folder / "network.dl").write_text(PROGRAM + "Reach(x) :- Nothing(x).")
    with pipeline() as one, pytest.raises(ProgramError):
        one.run()
    assert one.state.numbers() == [1]


def test_quarantine(folder: Path, spark: SparkSession, pipeline: Callable[[], Pipeline]) -> None:
    text = CONFIG.replace('path = "links.csv"', 'path = "links.csv"\non_error = "quarantine"')
    (folder / "pipeline.toml").write_text(text)
    (folder / "links.csv").write_text("port,from,to\n443,a,b\noops,b,c\n80,b\n")
    with pipeline() as one:
        (outcome,) = one.run()
    assert outcome.quarantined == {"Link": 2}
    assert outcome.version.changes["Reach"] == (1, 0)
    kept = spark.read.parquet(str(folder / "state/quarantine/Link")).collect()
    assert sorted(row["reason"].partition(":")[0] for row in kept) == ["column `port`", "not a row of csv"]


def test_a_failed_sink_leaves_the_last_version(
    folder: Path, spark: SparkSession, pipeline: Callable[[], Pipeline], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pipeline() as one:
        one.run()
        (folder / "day").mkdir()
        (folder / "day" / "Link.csv").write_text("op,from,to,port\ndelete,b,c,80\n")
        with monkeypatch.context() as broken:
            broken.setattr(one.state, "commit", lambda _: (_ for _ in ()).throw(OSError("killed")))
            with pytest.raises(UserError, match="cannot write version 2: killed"):
                one.run(folder / "day")
        assert one.state.numbers() == [1]
        (outcome,) = one.run(folder / "day")
    assert outcome.version.changes == {"Link": (0, 1), "Reach": (0, 2)}
    assert changes(spark, folder)[3:] == [(2, -1, "a", "c"), (2, -1, "b", "c")]


def test_watch(
    folder: Path, spark: SparkSession, pipeline: Callable[[], Pipeline], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "INTERVAL", 0.0)  # each round is told
    inbox = folder / "inbox"
    inbox.mkdir()
    (inbox / "Blocked.1.csv").write_text("op,port\ninsert,80\n")
    outcomes: list[Outcome] = []
    seen: list[Progress] = []
    config = read_config(folder / "pipeline.toml")
    config = replace(config, options={"spark.tidelog.driverRows": "0", "spark.tidelog.partitions": "2"})
    with Pipeline(config, spark=spark) as one, watching(seen.append):
        one.watch(inbox, outcomes.append, once=True)
        assert {("Reach",), "by key"} <= {part for told in seen for part in (told.relations, told.strategy)}
        assert [outcome.version.reason for outcome in outcomes] == ["run", "batch"]
        assert outcomes[1].version.changes == {"Blocked": (1, 0), "Reach": (0, 2)}
        batch = outcomes[1].version.batch
        assert batch is not None
        # The batch again, as after a crash between its effect and Spark's own note of it.
        again = one.apply([str(inbox / "Blocked.1.csv")], "batch", batch)
        assert (again.fresh, again.version.number) == (False, 2)
    # A file and an edited program, after a restart; a mistake in the program only warns.
    (inbox / "Blocked.2.csv").write_text("op,port\ndelete,80\n")
    (folder / "network.dl").write_text(PROGRAM + 'Reach("x", "x") :- Blocked(1).\nReach("z", "z").\n')
    with pipeline() as two:
        two.watch(inbox, outcomes.append, once=True)
        assert outcomes[2].version.changes == {"Blocked": (0, 1), "Reach": (3, 0)}
        (inbox / "Blocked.3.csv").write_text("op,port\ninsert,1\n")
        (folder / "network.dl").write_text("oops")
        two.watch(inbox, outcomes.append, once=True)
        assert outcomes[3].version.changes == {"Blocked": (1, 0), "Reach": (1, 0)}
        assert "is not applied" in outcomes[3].warnings[0]
        (inbox / "Blocked.4.csv").write_text("op,port\nupdate,1\n")
        with pytest.raises(DataError, match=r"Blocked.4.csv, row 1: column `op`: expected insert or delete"):
            two.watch(inbox, outcomes.append, once=True)
        assert two.state.numbers() == [1, 2, 3, 4]


def test_the_first_evaluation_is_with_the_sources(tmp_path: Path, spark: SparkSession) -> None:
    (tmp_path / "p.dl").write_text(
        "input relation Size(n: u32)\noutput relation UpTo(n: u32)\n"
        "UpTo(1).\nUpTo(x + 1) :- UpTo(x), not Size(x).\n"  # without a size it would never end
    )
    (tmp_path / "size.csv").write_text("n\n3\n")
    (tmp_path / "p.toml").write_text(
        'program = "p.dl"\nstate = "state"\n'
        '[[source]]\nrelation = "Size"\nformat = "csv"\npath = "size.csv"\n'
        '[[sink]]\nrelation = "UpTo"\nformat = "json"\npath = "out"\nmode = "changes"\n'
    )
    for number in (1, 2):
        with Pipeline(read_config(tmp_path / "p.toml"), spark=spark) as pipeline:
            (outcome,) = pipeline.run()
        assert (outcome.version.number, outcome.fresh) == (1, number == 1)
        assert outcome.version.changes == {"Size": (1, 0), "UpTo": (3, 0)}  # with what the program states
    found = spark.read.json(str(tmp_path / "out")).select("n", "weight").collect()
    assert sorted(map(tuple, found)) == [(1, 1), (2, 1), (3, 1)]


@pytest.mark.parametrize(("driver_rows", "internals"), [("100000", "true"), ("0", "true"), ("0", "false")])
def test_a_database_on_spark_opens_with_a_frame(spark: SparkSession, driver_rows: str, internals: str) -> None:
    session = spark.newSession()
    session.conf.set("spark.tidelog.driverRows", driver_rows)
    session.conf.set("spark.tidelog.internals", internals)
    text = "input relation E(a: u32, b: u32)  output relation T(a: u32, b: u32)  T(a, b) :- E(a, b).  E(7, 8)."
    db = Database(
        text, engine="spark", spark=session, facts={"E": session.createDataFrame([(1, 2), (2, 3)], "a long, b long")}
    )
    assert (db.commit_number, db.relation("T").rows()) == (0, [(1, 2), (2, 3), (7, 8)])
    with db.transaction() as tx:
        tx.delete("E", [(1, 2)])
    assert db.relation("T").rows() == [(2, 3), (7, 8)]
