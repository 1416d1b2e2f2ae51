"""A version is there whole or not at all, and the tables of its facts are as they were."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from tidelog import Database, UserError
from tidelog.base.plain.plain import Plain
from tidelog.base.span import Source
from tidelog.base.tuning.files import Pipelines
from tidelog.base.tuning.table import all_paths
from tidelog.base.tuning.thresholds import Paths
from tidelog.session.database import plan_of
from tidelog.session.pipeline.places.local import Local
from tidelog.session.pipeline.state.carried import carry_over
from tidelog.session.pipeline.state.cells import WEIGHT, schema_of
from tidelog.session.pipeline.state.facts import FactTables, inputs
from tidelog.session.pipeline.state.log import Log
from tidelog.session.pipeline.state.versions import Batch, StateFolder, Table, Version
from tidelog.session.program.static import plan_source

PROGRAM = """
typedef Kind = Wire | Radio{band: u8}
input relation R(n: u64, s: i16, text: string, yes: bool, real: double, kind: Kind, list: Vec<u8>)
input relation S(x: double, n: u64)
input relation Empty()
S(0.5, 1).
"""


def no_spark() -> Any:
    raise AssertionError("small tables need no session")


def tables(state: StateFolder, **tuning: Any) -> FactTables:
    return FactTables(state, no_spark, Pipelines(**tuning))


def read(state: StateFolder, version: Version) -> dict[str, set[Any]]:
    plan = plan_source(Source("p.dl", PROGRAM), (), None)
    facts, plain = tables(state), Plain(plan.types)
    return {name: set(facts.read(one, version.tables[name], plain)) for name, one in inputs(plan).items()}


def stored(db: Database) -> dict[str, set[Any]]:
    return {
        "R": set(db.relation("R").rows()),
        "S": set(db.relation("S#facts").rows()),
        "Empty": set(db.relation("Empty").rows()),
    }


def kind(text: str) -> Any:
    """Return a value of the type Kind."""
    types = PROGRAM.partition("input")[0]
    return Database(f"{types} relation K(k: Kind) K({text}).").relation("K").rows()[0][0]


def row(rng: random.Random) -> tuple[Any, ...]:
    kind = rng.choice(["Wire{}", "Radio{3}"])
    reals = [0.0, float("nan"), 1e300, -2.5, float("inf")]
    return (
        rng.choice([0, 2**64 - 1, 7]), rng.choice([-(2**15), 5]), rng.choice(["", "é", "a'b\n"]), rng.random() < 0.5,
        rng.choice(reals), kind, rng.choice([[], [1, 2]]),
    )  # fmt: skip


@pytest.mark.long(reason="random histories")
def test_random_histories(tmp_path: Path) -> None:
    paths = Paths()
    for seed in range(6):
        play(tmp_path / str(seed), random.Random(seed), paths)
    assert {path for path in all_paths(elsewhere=True) if path[0].startswith("pipelines.change_")} <= paths.taken.keys()


def play(folder: Path, rng: random.Random, paths: Paths) -> None:
    """Let a database live, with crashes; whatever was committed is read back, by this library and by others."""
    state = StateFolder(Local(folder))
    draws = {"change_files": rng.choice([0, 2, 32]), "change_share": rng.choice([0.0, 0.5, 100.0])}
    tuning = {name: paths.drawn(f"pipelines.{name}", value) for name, value in draws.items()}
    db = Database(PROGRAM)
    last: Version | None = None
    seen: dict[int, dict[str, set[Any]]] = {}
    kinds = {text: kind(text) for text in ("Wire{}", "Radio{3}")}
    for _ in range(11):
        with db.transaction() as tx:
            rows = [(*one[:5], kinds[one[5]], tuple(one[6])) for one in (row(rng) for _ in range(rng.randrange(6)))]
            tx.insert("R", rows)
            tx.delete("R", rng.sample(sorted(db.relation("R").rows(), key=repr), min(2, len(db.relation("R")))))
            tx.insert("S", [(rng.choice([0.5, float("nan")]), rng.randrange(3))])
            if rng.random() < 0.3:
                tx.clear("S")
            if rng.random() < 0.5:
                tx.insert("Empty", [()])
        changes = tx.result.changes if last is not None else None
        made = tables(state, **tuning).save(db, last.tables if last is not None else {}, changes)
        if rng.random() < 0.3:  # a crash before the version is there: what was written is not read, and goes
            db = Database(PROGRAM, facts=seen[last.number] if last is not None else {})
            continue
        number = last.number + 1 if last is not None else 1
        last = state.commit(Version(number, PROGRAM, made))
        seen[number] = stored(db)
        for version in StateFolder(Local(folder)).history():
            assert read(state, version) == seen[version.number]
    gone = state.forget(2)
    state.vacuum()
    history = state.history()
    assert [version.number for version in history] == sorted(seen)[len(gone) :]
    for version in history:
        assert read(state, version) == seen[version.number]
    if last is not None:
        for name in ("R", "S"):  # every library of the lakehouse reads the tables
            table = last.tables[name]
            frame = pl.scan_delta(state.log(table.path).place.address, version=table.version).collect()
            names = [one for one in frame.columns if one != WEIGHT]
            sums = frame.group_by(names).agg(pl.col(WEIGHT).sum()).filter(pl.col(WEIGHT) > 0)
            assert len(sums) == table.rows
            files = DeltaTable(state.log(table.path).place.address, version=table.version).file_uris()
            columns = ", ".join(f'"{one}"' for one in names)
            query = f'select 1 from read_parquet(?) group by {columns} having sum("{WEIGHT}") > 0'
            counted = duckdb.execute(f"select count(*) from ({query})", [files]) if files else duckdb.sql("select 0")
            assert counted is not None
            assert counted.fetchall() == [(table.rows,)]


def test_versions_are_read_back(tmp_path: Path) -> None:
    state = StateFolder(Local(tmp_path / "state"))
    assert state.last() is None
    tables = {"R": Table("facts/R", 0, 3)}
    one = state.commit(Version(1, PROGRAM, tables, reason="run", changes={"R": (3, 0)}, sources={"R": "abc"}))
    two = state.commit(Version(2, PROGRAM, tables, reason="batch", batch=Batch("q", 7)))
    assert (one.tables, one.changes, one.sources) == (tables, {"R": (3, 0)}, {"R": "abc"})
    assert one.at
    assert state.last() == two == state.find(Batch("q", 7))
    assert state.find(Batch("q", 8)) is None
    assert state.history() == [one, two]


def test_a_stale_writer_is_refused(tmp_path: Path) -> None:
    state, other = StateFolder(Local(tmp_path)), StateFolder(Local(tmp_path))
    state.commit(Version(1, PROGRAM, {}))
    with pytest.raises(UserError, match="version 1 exists already: another process writes to"):
        other.commit(Version(1, "", {}))
    log = Log(Local(tmp_path / "tables" / "versions"))
    head, schema = log.version(), log.schema()
    state.commit(Version(2, PROGRAM, {}))
    late = Log(Local(tmp_path / "tables" / "versions"))
    table = late.opened(head)
    late._looked = lambda: table  # type: ignore[method-assign]  # it looked before the other wrote
    with pytest.raises(UserError, match="was changed by another process meanwhile"):
        late.commit(schema, head, [])
    assert [version.number for version in state.history()] == [1, 2]


def test_a_relation_with_other_columns(tmp_path: Path) -> None:
    state = StateFolder(Local(tmp_path))
    db = Database("input relation R(a: u8)", facts={"R": [(1,)]})
    made = tables(state).save(db, {}, None)
    other = Database("input relation R(a: u8, b: string)", facts={"R": [(1, "x")]})
    plan = plan_of(other)
    with pytest.raises(UserError, match=r"R has other columns now: \(a: int64, b: string\), its facts were stored as"):
        tables(state).read(plan.relations["R"], made["R"], Plain(plan.types))
    assert tables(state).save(other, made, None) == {"R": Table("facts/R-2", 0, 1)}


def test_damage_is_told(tmp_path: Path) -> None:
    state = StateFolder(Local(tmp_path))
    db = Database("input relation R(a: u8)", facts={"R": [(1,), (2,)]})
    (table,) = tables(state).save(db, {}, None).values()
    plan = plan_of(db)
    log = state.log(table.path)
    (file,) = log.files(0)
    pq.write_table(
        pa.Table.from_pylist([{"a": 1, WEIGHT: 1}], schema=schema_of(plan.relations["R"].columns)),
        Path(log.place.address, file),
    )
    with pytest.raises(UserError, match="has 1 rows in place of 2: it was damaged"):
        tables(state).read(plan.relations["R"], table, Plain(plan.types))
    (Path(log.place.address, file)).unlink()
    with pytest.raises(UserError, match="the state was damaged from outside"):
        tables(state).read(plan.relations["R"], table, Plain(plan.types))


def test_an_old_folder_is_carried_over_once(tmp_path: Path) -> None:
    db = Database(PROGRAM)
    with db.transaction() as tx:
        tx.insert("R", [(2**64 - 1, -5, "é", True, 0.5, kind("Radio{3}"), [1])])
        tx.insert("S", [(0.5, 1), (2.5, 9)])
    for number in (1, 2):
        folder = tmp_path / "versions" / f"{number:06d}"
        folder.mkdir(parents=True)
        shown: dict[str, Any] = {"Empty": {"path": f"{number:06d}/002-Empty", "rows": number - 1}}
        for place, (name, view) in enumerate({"R": "R", "S": "S#facts"}.items()):
            at = 1 if name == "R" else number  # R has not changed since
            path = f"{at:06d}/{place:03d}-{name}"
            rows = db.relation(view).to_arrow()
            if not (tmp_path / "versions" / path).exists():
                (tmp_path / "versions" / path).mkdir()
                pq.write_table(
                    rows.slice(0, number) if name == "S" else rows, tmp_path / "versions" / path / "rows.parquet"
                )
            shown[name] = {"path": path, "rows": min(number, rows.num_rows)}
        manifest = {"number": number, "program": PROGRAM, "tables": shown, "at": "then", "reason": "run", "format": 1}
        manifest |= {"changes": {"S": [1, 0]}, "batch": {"query": "q", "number": number}, "sources": {"S": "abc"}}
        (folder / "manifest.json").write_text(json.dumps(manifest))
    state = StateFolder(Local(tmp_path))
    for _ in range(2):
        carry_over(state, lambda text: plan_source(Source("p.dl", text), (), None))
        one, two = state.history()
        assert (one.at, two.changes, two.sources, state.find(Batch("q", 2))) == (
            "then",
            {"S": (1, 0)},
            {"S": "abc"},
            two,
        )
        assert read(state, two) == {"R": set(db.relation("R").rows()), "S": {(0.5, 1), (2.5, 9)}, "Empty": {()}}
        assert [len(rows) for rows in read(state, one).values()] == [1, 1, 0]
        assert not (tmp_path / "versions").exists()


def test_mistakes(tmp_path: Path) -> None:
    state = StateFolder(Local(tmp_path))
    with pytest.raises(UserError, match="has no version 3: there is none yet"):
        state.version(3)
    state.commit(Version(1, PROGRAM, {}))
    with pytest.raises(UserError, match="has no version 3: there are 1 to 1"):
        state.version(3)
    for path in (tmp_path / "tables/versions/rows").iterdir():
        path.write_text("{")
    with pytest.raises(UserError, match="damaged"):
        state.last()


def test_one_writer(tmp_path: Path) -> None:
    held = StateFolder(Local(tmp_path)).locked()
    with held, pytest.raises(UserError, match="in use by another run"), StateFolder(Local(tmp_path)).locked():
        pass
    with StateFolder(Local(tmp_path)).locked():
        pass
