"""Wherever a pipeline dies and however it goes on: versions, sinks and quarantine agree, and no sink is away meanwhile.

Every write, every commit of a table, that of the version, and every step of a sink is a point to die at. By default
some of them are tried, among them all around the commit; TIDELOG_CRASHES=all tries each.
"""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.session.pipeline import scene
from tests.session.pipeline.crashing import Dead, Life, living
from tests.session.pipeline.scene import AFTER, FIRST, FORMATS, RELATIONS, WAYS, full, meaning
from tidelog import DataError
from tidelog.session.pipeline import run as running
from tidelog.session.pipeline.config import read_config
from tidelog.session.pipeline.places.local import Local
from tidelog.session.pipeline.run import Pipeline

ALL = os.environ.get("TIDELOG_CRASHES") == "all"
SAMPLE = 10
"""Of so many points one is tried, by default."""

Act = Callable[[Pipeline], Any]


def pipeline(folder: Path) -> Pipeline:
    return Pipeline(read_config(folder / "p.toml"))


def check(folder: Path) -> None:
    scene.check(pipeline(folder), Local(folder / "out"))


def start(folder: Path, *, first: bool) -> None:
    scene.write_scene(folder)
    if first:
        with pipeline(folder) as one:
            one.run()


def dies(folder: Path, patch: pytest.MonkeyPatch, life: Life, act: Act) -> bool:
    """Let a process act, and die at a point; tell whether it did."""
    try:
        with living(patch, life), pipeline(folder) as one:
            act(one)
    except Dead:
        return True
    return False


@pytest.fixture
def tmp_path(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where there is one: thousands of small files cost a disk more than all else."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    with TemporaryDirectory(dir=memory) as folder:
        yield Path(folder)


@pytest.fixture
def patch(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(running, "fill_from_files", scene.fill)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # no machine crashes here, and to wait for disks takes minutes
    return monkeypatch


def points(folder: Path, patch: pytest.MonkeyPatch, act: Act) -> list[str]:
    """Return the steps of an act, which is done in a copy."""
    copy, life = folder.with_name("counted"), Life()
    shutil.copytree(folder, copy)
    assert not dies(copy, patch, life, act)
    shutil.rmtree(copy)
    return life.names


def chosen(names: list[str], shift: int = 0) -> list[int]:
    """Return the points to die at: all, or a sample with those beside the commit of the version."""
    every = range(1, len(names) + 1)
    if ALL:
        return list(every)
    commits = [point for point in every if names[point - 1] == "create_write_transaction"]
    return [point for point in every if point % SAMPLE == shift % SAMPLE or any(abs(point - c) <= 1 for c in commits)]


@pytest.mark.timeout(900)
@pytest.mark.long(reason="a hundred points, each continued in three ways")
@pytest.mark.parametrize("act", WAYS)
def test_every_point(tmp_path: Path, patch: pytest.MonkeyPatch, act: str) -> None:
    folder, before, after = (tmp_path / name for name in ("here", "before", "after"))
    start(folder, first=True)
    if act == "rollback":  # from a version that is not the first
        with pipeline(folder) as one:
            WAYS["other"](one)
    folder.rename(before)
    names = points(before, patch, WAYS[act])
    assert len(names) >= (100 if act != "rollback" else 90)
    shift = [*WAYS].index(act)
    tried = chosen(names, shift)[:: 1 if act == "same" or ALL else SAMPLE]
    for point in tried:
        shutil.copytree(before, folder)
        assert dies(folder, patch, Life(point), WAYS[act])
        if act == "same":
            for relation in RELATIONS:
                there = {full(Local(folder / "out"), relation, kind) for kind in FORMATS}
                whole = {meaning(relation, links) for links in (FIRST, AFTER)}
                assert there <= whole, f"no sink is away or half at {point} ({names[point - 1]})"
        folder.rename(after)
        for name, way in WAYS.items():
            shutil.copytree(after, folder)
            with pipeline(folder) as one:
                way(one)
            try:
                check(folder)
            except AssertionError as error:
                told = f"died in {act} at {point} ({names[point - 1]}), went on by {name}: {error}"
                raise AssertionError(told) from error
            shutil.rmtree(folder)
        shutil.rmtree(after)


@pytest.mark.timeout(600)
@pytest.mark.long(reason="a pipeline for each point")
def test_the_first_version(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    start(tmp_path / "before", first=False)
    names = points(tmp_path / "before", patch, Pipeline.run)
    assert len(names) >= 100
    for point in chosen(names)[:: 1 if ALL else 3]:
        folder = tmp_path / str(point)
        start(folder, first=False)
        assert dies(folder, patch, Life(point), Pipeline.run)
        with pipeline(folder) as one:
            one.run()
        check(folder)
        shutil.rmtree(folder)


@pytest.mark.timeout(600)
@pytest.mark.long(reason="lives of several deaths")
def test_dying_again_and_again(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    for seed in range(50 if ALL else 6):
        rng = random.Random(seed)
        folder = tmp_path / str(seed)
        start(folder, first=True)
        for _ in range(4):
            dies(folder, patch, Life(rng.randrange(1, 140)), rng.choice([*WAYS.values()]))
        with pipeline(folder) as one:
            rng.choice([*WAYS.values()])(one)
        check(folder)
        shutil.rmtree(folder)


@pytest.mark.timeout(600)
@pytest.mark.long(reason="a pipeline for each point")
def test_forgetting_versions(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    """Wherever `vacuum` dies, the versions that are kept can be read, and go on."""
    before, folder = tmp_path / "before", tmp_path / "here"
    start(before, first=True)
    with pipeline(before) as one:
        for way in ("same", "other"):
            WAYS[way](one)
    names = points(before, patch, lambda one: one.vacuum(2))
    assert len(names) >= 4
    for point in range(1, len(names) + 1, 1 if ALL else 2):
        shutil.copytree(before, folder)
        assert dies(folder, patch, Life(point), lambda one: one.vacuum(2))
        with pipeline(folder) as one:
            kept = one.state.numbers()
            assert kept in ([1, 2, 3], [2, 3])
            shown = {number: len(one.show("Link", number).rows()) for number in kept}
            assert shown == {number: {1: 2, 2: 2, 3: 2}[number] for number in kept}
            one.vacuum(2)
            assert one.rollback(2).version.number == 4
            assert frozenset(one.show("Link").rows()) == AFTER
        shutil.rmtree(folder)


def test_a_sink_that_fails_is_written_by_the_next_run(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "p"
    start(folder, first=True)
    with patch.context() as broken, pipeline(folder) as one:
        broken.setattr(
            "tidelog.session.pipeline.sinks.ways.take_place", lambda *_: (_ for _ in ()).throw(OSError(28, "full"))
        )
        with pytest.raises(DataError, match=r"sink Reach \(.*csv-full\): full"):
            WAYS["same"](one)
    assert [json.loads(path.read_text())["number"] for path in (folder / "state/pending").glob("*.json")] == [2]
    with pipeline(folder) as one:
        outcome = WAYS["same"](one)
        assert (outcome.version.number, outcome.fresh) == (2, False)
    check(folder)
