"""A state in an object store: versions are made, read and forgotten as in a folder, whatever is lost on the way.

A server of S3 on this machine loses requests and answers. By default a few writes of a batch are tried, the commit of
the version among them; TIDELOG_CRASHES=all tries each, continued in three ways.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from tests.session.pipeline import scene
from tests.session.pipeline.object_store import ObjectStore, serving
from tests.session.pipeline.scene import WAYS, history, sink
from tidelog import Pipeline, TidelogError, UserError
from tidelog.base.errors import BusyError
from tidelog.base.tuning.table import Tuning
from tidelog.session.pipeline import run as running
from tidelog.session.pipeline.places import executors
from tidelog.session.pipeline.places.objects import Objects
from tidelog.session.pipeline.state.log import check_commits
from tidelog.session.pipeline.state.versions import StateFolder, Version

ENGINE = "[engine]\ndriver_rows = 0\npartitions = 2\n"
ALL = os.environ.get("TIDELOG_CRASHES") == "all"
SINKS = (("Reach", "csv", "full"), ("Reach", "delta", "merge"), ("Link", "delta", "changes"))


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with serving() as found:
        yield found


def start(store: ObjectStore, folder: Path, sinks: tuple[tuple[str, str, str], ...] = SINKS) -> Objects:
    """Write a pipeline with all but its sources in the store; return where that is."""
    store.lose({})
    there = Objects(f"s3://lake/{folder.parent.name}-é {folder.name}", store.storage)
    config = scene.CONFIG.replace('state = "state"', f'state = "{there.address}/state"\n{store.lines()}')
    scene.write_scene(folder, "".join(sink(*one, f"{there.address}/out") for one in sinks), config)
    return there


def pipeline(folder: Path) -> Pipeline:
    return Pipeline(folder / "p.toml")


def test_a_life(store: ObjectStore, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    there = start(store, folder, (("Reach", "delta", "changes"),))
    inbox = folder / "inbox"
    inbox.mkdir()
    (inbox / "Link.csv").write_text("op,a,b\ninsert,c,d\ndelete,a,b\n")
    with pipeline(folder) as one:
        assert one.run()[0].version.changes == {"Link": (2, 0), "Reach": (3, 0)}
        with pytest.raises(BusyError, match="in use by another run of the pipeline, which said so"), pipeline(folder):
            pass
    with pipeline(folder) as one:
        assert one.run(inbox)[0].version.changes == {"Link": (1, 1), "Reach": (2, 2)}
        assert one.run(inbox)[0].fresh is False
        assert one.show("Link", 1).rows() == [("a", "b"), ("b", "c")]
        assert one.rollback(1).version.number == 3
        gone, files = one.vacuum(1)
        assert gone == [1, 2]
        assert files
        assert one.show("Reach").rows() == [("a", "b"), ("a", "c"), ("b", "c")]
    assert one.state.numbers() == [3]
    assert not there.files("state/claims")
    assert not (tmp_path / "p/state").exists()
    facts = DeltaTable(f"{there.address}/state/tables/facts/Link", storage_options=store.storage)
    assert sorted(pl.DataFrame(facts.to_pyarrow_table()).rows()) == [("a", "b", 1), ("b", "c", 1)]


@pytest.mark.timeout(3600)
@pytest.mark.long(reason="a store that loses requests and answers")
def test_whatever_is_lost(store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process dies at a write, of which the request or only the answer was lost; the next one puts all right."""
    monkeypatch.setattr(running, "fill_from_files", scene.fill)

    def dies(folder: Path, losses: dict[int, str]) -> list[str]:
        store.lose(losses, gone=True)
        try:
            with pipeline(folder) as one:
                WAYS["same"](one)
        except TidelogError:
            assert losses
        writes = store.writes()
        store.lose({})
        return writes

    first = start(store, tmp_path / "first")
    with pipeline(tmp_path / "first") as one:
        one.run()

    def begun(name: str) -> Objects:
        there = start(store, tmp_path / name)
        store.copy(*(place.address.removeprefix("s3://lake/") for place in (first, there)))
        return there

    begun("whole")
    names = dies(tmp_path / "whole", {})
    (commit,) = [place for place, name in enumerate(names, 1) if "versions/_delta_log" in name]
    shown = next(place for place, name in enumerate(names, 1) if place > commit and "delta-merge/_delta_log" in name)
    tried = [(commit, "answer", "other"), (commit, "request", "rollback"), (shown, "answer", "same")]
    if ALL:
        every = range(1, len(names) + 1)
        tried = [(point, lost, way) for point in every for lost in ("request", "answer") for way in WAYS]
    for point, lost, way in tried:
        name = f"{point}-{lost}-{way}"
        there = begun(name)
        dies(tmp_path / name, {point: lost})
        there.remove("state/claims")  # as after a minute
        with pipeline(tmp_path / name) as one:
            WAYS[way](one)
        try:
            scene.check(pipeline(tmp_path / name), there.below("out"))
        except AssertionError as error:
            told = f"lost the {lost} at {point} ({names[point - 1]}), went on by {way}: {error}"
            raise AssertionError(told) from error


def test_answers_that_are_lost_once(store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process lives, and all is done once, though each third write loses its answer."""
    monkeypatch.setattr(running, "fill_from_files", scene.fill)
    there = start(store, tmp_path / "p", SINKS[1:3])
    store.lose(dict.fromkeys(range(1, 400, 3), "answer"))
    with pipeline(tmp_path / "p") as one:
        one.run()
        WAYS["same"](one)
    store.lose({})
    scene.check(pipeline(tmp_path / "p"), there.below("out"))
    with pipeline(tmp_path / "p") as one:
        assert sorted(history(one)[0]) == [0, 1, 2]


def test_a_store_that_is_away(store: ObjectStore, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    there = start(store, folder, ())
    with pipeline(folder) as one:
        one.run()
    text = (folder / "p.toml").read_text()
    (folder / "p.toml").write_text(text.replace(f":{store.port}", ":1").replace('"30s"', '"1s"'))
    with pytest.raises(BusyError, match=rf"{there.address}.* cannot be reached now: .*refused"):
        pipeline(folder).__enter__()
    (folder / "p.toml").write_text(text.replace("s3://lake/", "s3://nowhere/"))
    with pytest.raises(UserError, match=r"s3://nowhere/.*: .*NoSuchBucket") as found, pipeline(folder):
        pass
    assert not isinstance(found.value, BusyError)


@pytest.mark.spark
def test_executors_write_and_read_it(
    store: ObjectStore, tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No connector of Spark is there: executors reach the store by themselves; what Spark shows waits there, too."""
    monkeypatch.setattr(executors, "PART_ROWS", 7)
    there = start(store, tmp_path / "p", (("Reach", "delta", "changes"), ("Link", "parquet", "full")))
    with (tmp_path / "p/p.toml").open("a") as file:
        file.write(f'[[sink]]\nrelation = "Reach"\nformat = "table"\npath = "tide_stored"\nmode = "changes"\n{ENGINE}')
    (tmp_path / "p/links.csv").write_text("a,b\n" + "".join(f"n{n},n{n + 1}\n" for n in range(30)))
    (tmp_path / "p/inbox").mkdir()
    (tmp_path / "p/inbox/Link.csv").write_text("op,a,b\n" + "".join(f"delete,n{n},n{n + 1}\n" for n in range(20)))
    tuning = Tuning().having({"pipelines.driver_rows": 0, "pipelines.file_rows": 100})
    try:
        with Pipeline(tmp_path / "p/p.toml", spark=spark, tuning=tuning) as one:
            assert one.run()[0].version.changes == {"Link": (30, 0), "Reach": (465, 0)}
        with Pipeline(tmp_path / "p/p.toml", spark=spark, tuning=tuning) as one:
            version = one.run(tmp_path / "p/inbox")[0].version
            assert (version.changes, version.engine) == ({"Link": (0, 20), "Reach": (0, 410)}, "spark")
            assert one.show("Reach").count() == 55
        table = spark.read.table("tide_stored").groupBy("a", "b").sum("weight").where("`sum(weight)` > 0")
        assert table.count() == 55
    finally:
        spark.sql("DROP TABLE IF EXISTS tide_stored")
    assert len(scene.full(there.below("out"), "Link", "parquet")) == 10
    assert {
        number: len(found) for number, found in scene.changed(there.below("out"), "Reach", "delta", "changes").items()
    } == {1: 465, 2: 410}


# --- two writers, in a store that is a folder of this machine --------------------------------------------------------


def test_who_was_overtaken_makes_no_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Objects(f"file://{tmp_path}", {})
    (tmp_path / "tables/versions").mkdir(parents=True)
    slow, quick = StateFolder(place), StateFolder(place)
    with slow.locked():
        slow.commit(Version(1, "", {}))
    with slow.locked():
        monkeypatch.setattr("tidelog.session.pipeline.places.lease.PATIENCE", -1)  # as after a minute without a word
        with quick.locked():
            monkeypatch.undo()
            with pytest.raises(BusyError, match="was changed by another process meanwhile"):
                slow.commit(Version(2, "slow", {}))
            quick.commit(Version(2, "quick", {}))
            with pytest.raises(UserError, match="another process"):
                slow.commit(Version(3, "slow", {}))
    assert [version.program for version in quick.history()] == ["", "quick"]


def test_a_store_without_conditions_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Objects(f"file://{tmp_path}", {})
    place.write("begin", b"")
    check_commits(place)
    monkeypatch.setattr("tidelog.session.pipeline.state.log._append", lambda *_: None)  # whatever there was goes
    with pytest.raises(UserError, match=r"this store lets two writers make the same commit"):
        StateFolder(place).commit(Version(1, "", {}))
    assert [one.name for one in place.files()] == ["begin"]
