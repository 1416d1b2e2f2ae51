"""A version is there whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from tidelog import UserError
from tidelog.session.pipeline.state import Batch, StateFolder, Table, Version

PROGRAM = "input relation R(x: u8)"


def write(folder: Path) -> None:
    (folder / "R").mkdir()
    (folder / "R" / "part.parquet").write_text("rows")


def test_versions_are_read_back(tmp_path: Path) -> None:
    state = StateFolder(tmp_path / "state")
    assert state.last() is None
    tables = {"R": Table("000001/R", 3)}
    one = state.commit(Version(1, PROGRAM, tables, reason="run", changes={"R": (3, 0)}, sources={"R": "abc"}), write)
    two = state.commit(Version(2, PROGRAM, tables, reason="batch", batch=Batch("q", 7)), lambda folder: None)
    assert (one.tables, one.changes, one.sources) == (tables, {"R": (3, 0)}, {"R": "abc"})
    assert one.at
    assert state.last() == two == state.find(Batch("q", 7))
    assert state.find(Batch("q", 8)) is None
    assert state.history() == [one, two]
    assert (state.table_path(two.tables["R"]) / "part.parquet").read_text() == "rows"


def test_a_failed_version_leaves_the_last(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    one = state.commit(Version(1, PROGRAM, {}), write)

    def fail(folder: Path) -> None:
        write(folder)
        raise OSError("disk full")

    with pytest.raises(UserError, match="disk full; no version was made"):
        state.commit(Version(2, PROGRAM, {}), fail)
    assert state.last() == one
    assert [path.name for path in state.versions.iterdir()] == ["000001"]


def test_what_a_killed_process_left_is_skipped(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    one = state.commit(Version(1, PROGRAM, {}), write)
    left = state.versions / ".000002"
    left.mkdir()
    write(left)
    assert state.last() == one
    two = state.commit(Version(2, PROGRAM, {}), lambda folder: None)
    assert state.last() == two
    assert not (state.versions / "000002" / "R").exists()


def test_a_version_is_never_overwritten(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    one = state.commit(Version(1, PROGRAM, {}), write)
    with pytest.raises(UserError, match="exists already"):
        state.commit(Version(1, "", {}), write)
    assert state.last() == one


def test_mistakes(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    with pytest.raises(UserError, match="has no version 3: there is none yet"):
        state.version(3)
    state.commit(Version(1, PROGRAM, {}), write)
    with pytest.raises(UserError, match="has no version 3: there are 1 to 1"):
        state.version(3)
    (state.versions / "000001" / "manifest.json").write_text("{")
    with pytest.raises(UserError, match="damaged"):
        state.last()


def test_one_writer(tmp_path: Path) -> None:
    held = StateFolder(tmp_path).locked()
    with held, pytest.raises(UserError, match="in use by another run"), StateFolder(tmp_path).locked():
        pass
    with StateFolder(tmp_path).locked():
        pass


def test_a_full_disk_makes_no_version(tmp_path: Path) -> None:
    state = StateFolder(tmp_path / "state")

    def write(folder: Path) -> None:
        (folder / "table").write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(UserError, match=r"cannot write .*000001: No space left on device; no version was made"):
        state.commit(Version(1, "", {}), write)
    assert state.last() is None
    assert list(state.versions.iterdir()) == []
    assert state.commit(Version(1, "", {}), lambda folder: None).number == 1
