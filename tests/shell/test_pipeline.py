"""`tidelog pipeline` tells mistakes before Spark is started, and lists versions without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.shell.conftest import Tidelog
from tidelog.session.pipeline.places.local import Local
from tidelog.session.pipeline.state.versions import StateFolder, Version

CONFIG = """
program = "reach.dl"
state = "state"
[[source]]
relation = "Edge"
format = "csv"
path = "facts/Edge.csv"
"""


def test_history(reach: Path, tidelog: Tidelog) -> None:
    (reach / "p.toml").write_text(CONFIG)
    assert "no version yet" in tidelog("pipeline", "history", "p.toml").out
    state = StateFolder(Local(reach / "state"))
    state.commit(Version(1, "", {}, reason="run", changes={"Edge": (2, 0), "Reach": (1200, 1)}))
    shown = tidelog("pipeline", "history", "p.toml")
    assert shown.out.startswith("1  ")
    assert shown.out.endswith("run: Edge +2, Reach +1,200 -1\n")
    (line,) = tidelog("pipeline", "history", "p.toml", "--json").out.splitlines()
    assert json.loads(line)["changes"]["Reach"] == {"inserted": 1200, "deleted": 1}
    missing = tidelog("pipeline", "rollback", "p.toml", "7")
    assert (missing.status, missing.err) == (1, f"error: {reach}/state has no version 7: there are 1 to 1\n")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"Edge"', '"Edges"', "reach.dl has no relation `Edges`; did you mean `Edge`?"),
        ('"Edge"', '"Reach"', "Reach is an output relation, not an input"),
        ('format = "csv"', 'format = "csv"\ncolumns = { aa = "x" }', "`columns.aa`: Edge has the columns a, b"),
        ('"reach.dl"', '"absent.dl"', "cannot read"),
    ],
)
def test_mistakes(reach: Path, tidelog: Tidelog, old: str, new: str, told: str) -> None:
    (reach / "p.toml").write_text(CONFIG.replace(old, new))
    ended = tidelog("pipeline", "run", "p.toml")
    assert (ended.status, ended.out) == (1, "")
    assert told in ended.err


def test_watch_needs_a_folder(reach: Path, tidelog: Tidelog) -> None:
    (reach / "p.toml").write_text(CONFIG)
    assert "`changes` is missing" in tidelog("pipeline", "watch", "p.toml").err
    assert "there is no folder" in tidelog("pipeline", "watch", "p.toml", "--changes", "absent").err


def test_without_pyspark(reach: Path, tidelog: Tidelog, monkeypatch: pytest.MonkeyPatch) -> None:
    (reach / "p.toml").write_text(CONFIG)
    monkeypatch.setattr("tidelog.session.pipeline.databases.find_spec", lambda name: None)
    assert tidelog("pipeline", "run", "p.toml").status == 0  # small files need none
    (reach / "p.toml").write_text(CONFIG.replace('format = "csv"', 'format = "orc"'))
    ended = tidelog("pipeline", "run", "p.toml")
    assert ended.status == 1
    assert "this needs pyspark, which is not installed: pip install 'tidelog[spark]'" in ended.err


def test_without_deltalake(reach: Path, tidelog: Tidelog, monkeypatch: pytest.MonkeyPatch) -> None:
    (reach / "p.toml").write_text(CONFIG)
    monkeypatch.setattr("tidelog.session.pipeline.state.versions.find_spec", lambda name: None)
    ended = tidelog("pipeline", "run", "p.toml")
    assert ended.status == 1
    assert "this needs deltalake, which is not installed: pip install 'tidelog[spark]'" in ended.err
