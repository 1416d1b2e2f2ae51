"""Wherever a pipeline dies and however it goes on: versions, sinks and quarantine agree, and no sink is away meanwhile.

Every write, every commit of a table, that of the version, and every step of a sink is a point to die at.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from tests.session.pipeline.crashing import Dead, Life, living
from tidelog import DataError
from tidelog.session.pipeline import run as running
from tidelog.session.pipeline.config import read_config
from tidelog.session.pipeline.facts import Edit
from tidelog.session.pipeline.run import Pipeline
from tidelog.session.pipeline.sinks.output import Output
from tidelog.session.pipeline.state.versions import Batch

PROGRAM = """
input relation Link(a: string, b: string)
input relation Seen(n: u64)
output relation Reach(a: string, b: string)
Reach(a, b) :- Link(a, b).
Reach(a, c) :- Reach(a, b), Link(b, c).
"""
CONFIG = """
program = "p.dl"
state = "state"
[[source]]
relation = "Link"
format = "csv"
path = "links.csv"
"""
FORMATS = ("csv", "delta")
Pairs = frozenset[tuple[str, str]]
FIRST: Pairs = frozenset({("a", "b"), ("b", "c")})
BATCHES: dict[int, dict[str, Any]] = {
    7: {"insert": [("c", "d")], "delete": [("a", "b")], "refuse": ["bad 7"]},
    8: {"insert": [("d", "a"), ("c", "d")], "delete": [("b", "c")], "refuse": ["bad 8", "worse 8"]},
}


def pipeline(folder: Path) -> Pipeline:
    return Pipeline(read_config(folder / "p.toml"))


def fill(edit: Edit, config: object, spark: object, paths: Iterable[str], tuning: object) -> None:
    """Stand in for files of changes, with rows that are refused."""
    for path in paths:
        batch = BATCHES[int(path)]
        edit.tx.delete("Link", batch["delete"])
        edit.tx.insert("Link", batch["insert"])
        edit.tx.insert("Seen", [(int(path),)])
        rows = pa.table({"file": [path] * len(batch["refuse"]), "row": batch["refuse"]})
        edit.refuse("Link", Output(rows.num_rows, partial(pa.Table.select, rows, ["file", "row"])))


def start(folder: Path, *, first: bool) -> None:
    folder.mkdir()
    (folder / "p.dl").write_text(PROGRAM)
    sinks = [
        f'[[sink]]\nrelation = "Reach"\nformat = "{kind}"\npath = "out/{kind}-{mode}"\nmode = "{mode}"\n'
        for kind in FORMATS
        for mode in ("full", "changes")
    ]
    (folder / "p.toml").write_text(CONFIG + "".join(sinks))
    (folder / "links.csv").write_text("a,b\na,b\nb,c\n")
    if first:
        with pipeline(folder) as one:
            one.run()


def reach(links: Iterable[tuple[str, str]]) -> Pairs:
    found = set(links)
    while more := {(a, d) for a, b in found for c, d in links if b == c} - found:
        found |= more
    return frozenset(found)


def full(folder: Path) -> list[Pairs]:
    """Return what full sinks show."""
    (file,) = (folder / "out/csv-full").glob("part-*.csv")
    lines = file.read_text().split("\n")
    assert (lines[0], lines[-1]) == ("a,b", "")
    table = DeltaTable(str(folder / "out/delta-full")).to_pyarrow_table()
    rows = [tuple(line.split(",")) for line in lines[1:-1]]
    assert len(set(rows)) == len(rows)
    return [frozenset(rows), frozenset(zip(*table.to_pydict().values(), strict=True))]


def number_of(file: Path) -> int:
    return int(file.parent.name.removeprefix("version="))


def changed(folder: Path) -> list[dict[int, list[tuple[str, str, int]]]]:
    """Return what sinks of changes show, by version."""
    found: list[dict[int, list[tuple[str, str, int]]]] = [{}, {}]
    for file in (folder / "out/csv-changes").glob("version=*/part-*.csv"):
        rows = [line.split(",") for line in file.read_text().split("\n")[1:-1]]
        number = number_of(file)
        assert number not in found[0]
        found[0][number] = sorted((a, b, int(weight)) for a, b, weight in rows)
    path = folder / "out/delta-changes"
    for row in DeltaTable(str(path)).to_pyarrow_table().to_pylist() if path.exists() else []:
        found[1].setdefault(row["version"], []).append((row["a"], row["b"], row["weight"]))
    return [found[0], {number: sorted(rows) for number, rows in found[1].items()}]


def check(folder: Path) -> None:
    """See that everything there says the same."""
    links: dict[int, frozenset[tuple[str, str]]] = {0: frozenset()}
    refused: dict[int, list[str]] = {}
    changes: dict[int, list[tuple[str, str, int]]] = {}
    with pipeline(folder) as one:
        history = one.state.history()
        assert [version.number for version in history] == list(range(1, len(history) + 1))
        for version in history:
            before = links[version.number - 1]
            if version.batch is not None:
                batch = BATCHES[version.batch.number]
                now = (before - set(batch["delete"])) | set(batch["insert"])
                refused[version.number] = batch["refuse"]
            else:
                assert version.reason in {"run", "rollback to 1"}
                now = FIRST
            links[version.number] = now
            stored = one.show("Link", version.number).rows()
            assert (frozenset(stored), len(stored)) == (now, len(now))
            gone, come = reach(before) - reach(now), reach(now) - reach(before)
            signed = sorted([(*row, 1) for row in come] + [(*row, -1) for row in gone])
            if signed:
                changes[version.number] = signed
    assert full(folder) == [reach(now)] * 2
    assert changed(folder) == [changes] * 2
    kept = {
        int(file.parent.name.removeprefix("version=")): sorted(
            pq.read_table(file, partitioning=None)["row"].to_pylist()
        )
        for file in (folder / "state/quarantine/Link").glob("version=*/part-*.parquet")
    }
    assert kept == refused
    assert not list((folder / "state/pending").iterdir())
    assert not [one for one in (folder / "out").rglob(".*") if one.is_dir()]


def apply(number: int) -> Callable[[Pipeline], Any]:
    return lambda one: one.apply([str(number)], "batch", Batch("q", number))


WAYS: dict[str, Callable[[Pipeline], Any]] = {
    "same": apply(7),
    "other": apply(8),
    "rollback": lambda one: one.rollback(1),
}


def dies(folder: Path, patch: pytest.MonkeyPatch, point: int, act: Callable[[Pipeline], Any]) -> bool:
    """Let a process act, and die at a point; tell whether it did."""
    life = Life(point)
    try:
        with living(patch, life), pipeline(folder) as one:
            act(one)
    except Dead:
        return True
    return False


@pytest.fixture
def patch(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(running, "fill_from_files", fill)
    return monkeypatch


@pytest.mark.timeout(600)
def test_every_point(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    folder, before, after = (tmp_path / name for name in ("here", "before", "after"))
    start(folder, first=True)
    folder.rename(before)
    points = 0
    while True:
        shutil.copytree(before, folder)
        if not dies(folder, patch, points + 1, WAYS["same"]):
            break
        points += 1
        now = reach((FIRST - set(BATCHES[7]["delete"])) | set(BATCHES[7]["insert"]))
        assert all(one in {reach(FIRST), now} for one in full(folder)), f"no sink is away or half at {points}"
        folder.rename(after)
        for name, way in WAYS.items():
            shutil.copytree(after, folder)
            with pipeline(folder) as one:
                way(one)
            try:
                check(folder)
            except AssertionError as error:
                raise AssertionError(f"died at {points}, went on by {name}: {error}") from error
            shutil.rmtree(folder)
        shutil.rmtree(after)
    assert points >= 40


@pytest.mark.timeout(600)
def test_the_first_version(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    points, died = 0, True
    while died:
        points += 1
        folder = tmp_path / str(points)
        start(folder, first=False)
        died = dies(folder, patch, points, Pipeline.run)
        with pipeline(folder) as one:
            one.run()
        check(folder)
        shutil.rmtree(folder)
    assert points >= 40


@pytest.mark.timeout(600)
def test_dying_again_and_again(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    for seed in range(10):
        rng = random.Random(seed)
        folder = tmp_path / str(seed)
        start(folder, first=True)
        for _ in range(4):
            dies(folder, patch, rng.randrange(1, 70), rng.choice([*WAYS.values()]))
        with pipeline(folder) as one:
            rng.choice([*WAYS.values()])(one)
        check(folder)
        shutil.rmtree(folder)


def test_a_sink_that_fails_is_written_by_the_next_run(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "p"
    start(folder, first=True)
    with patch.context() as broken, pipeline(folder) as one:
        broken.setattr(
            "tidelog.session.pipeline.sinks.staging.take_place", lambda *_: (_ for _ in ()).throw(OSError(28, "full"))
        )
        with pytest.raises(DataError, match=r"sink Reach \(.*csv-full\): full"):
            WAYS["same"](one)
    assert [json.loads(path.read_text())["number"] for path in (folder / "state/pending").glob("*.json")] == [2]
    with pipeline(folder) as one:
        outcome = WAYS["same"](one)
        assert (outcome.version.number, outcome.fresh) == (2, False)
    check(folder)
