"""Who owns a relation, parameters, expectations, dry runs, earlier versions and what is deleted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.shell.conftest import Tidelog, tidelog
from tidelog import Pipeline, UserError
from tidelog.session.pipeline.config import read_config

__all__ = ["tidelog"]

PROGRAM = """
input relation Link(a: string, b: string)
output relation Reach(a: string, b: string)
Reach(a, b) :- Link(a, b).
Reach(a, c) :- Reach(a, b), Link(b, c).
output relation Loop(a: string)
Loop(a) :- Reach(a, a).
"""
CONFIG = """
program = "p.dl"
state = "state"
parameters = { day = "links" }
[[source]]
relation = "Link"
format = "csv"
path = "${day}.csv"
OWNER
[[sink]]
relation = "Reach"
format = "csv"
path = "out"
mode = "changes"
[[expect]]
relation = "Loop"
on_rows = "ON_ROWS"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.dl").write_text(PROGRAM)
    (tmp_path / "links.csv").write_text("a,b\na,b\nb,c\n")
    (tmp_path / "day").mkdir()
    (tmp_path / "day" / "Link.csv").write_text("op,a,b\ninsert,c,d\n")
    write(tmp_path)
    return tmp_path


def write(folder: Path, owner: str = "", on_rows: str = "warn") -> None:
    line = f'owner = "{owner}"' if owner else ""
    (folder / "p.toml").write_text(CONFIG.replace("OWNER", line).replace("ON_ROWS", on_rows))


def links(folder: Path) -> list[tuple[object, ...]]:
    with Pipeline(folder / "p.toml") as one:
        return one.show("Link").rows()


def test_a_run_never_undoes_what_files_of_changes_did(folder: Path) -> None:
    with Pipeline(folder / "p.toml") as one:
        one.run()
        one.run(folder / "day")
        (outcome,) = one.run()  # the source is as it was
        assert (outcome.fresh, outcome.warnings) == (False, [])
    (folder / "links.csv").write_text("a,b\na,b\n")
    told = r"source Link \(.*links.csv\): files of changes have changed Link since .* owner = .source.*feed"
    with Pipeline(folder / "p.toml") as one, pytest.raises(UserError, match=told):
        one.run()
    assert links(folder) == [("a", "b"), ("b", "c"), ("c", "d")]
    write(folder, "feed")
    with Pipeline(folder / "p.toml") as one:
        assert one.run()[0].fresh is False
    assert links(folder) == [("a", "b"), ("b", "c"), ("c", "d")]
    write(folder, "source")
    with Pipeline(folder / "p.toml") as one:
        (outcome,) = one.run()
        assert outcome.version.changes["Link"] == (0, 2)
        assert outcome.warnings == [
            f"source Link ({folder}/links.csv) was read again, in place of what files of changes had made of it"
        ]
        (folder / "links.csv").write_text("a,b\n")  # nobody but the source has changed it since
        (folder / "links.csv").write_text("a,b\nx,y\n")
        assert one.run()[0].warnings == []
    assert links(folder) == [("x", "y")]


def test_parameters(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = folder / "p.toml"
    assert read_config(file).sources[0].path == f"{folder}/links.csv"
    assert read_config(file, {"day": "monday"}).sources[0].path == f"{folder}/monday.csv"
    with pytest.raises(UserError, match="has no parameter `dya`; did you mean `day`"):
        read_config(file, {"dya": "monday"})
    file.write_text(file.read_text() + '[engine]\nspark = { a = "${TIDE_SECRET}", b = "$${x}" }\n')
    with pytest.raises(UserError, match=r"`\$\{TIDE_SECRET\}`: there is no parameter .* give --set TIDE_SECRET=\.\.\."):
        read_config(file)
    monkeypatch.setenv("TIDE_SECRET", "swim")
    assert read_config(file).spark == {"a": "swim", "b": "${x}"}
    assert read_config(file, {"TIDE_SECRET": "float"}).spark["a"] == "float"


def test_expectations(folder: Path, tidelog: Tidelog) -> None:
    (folder / "day" / "Link.csv").write_text("op,a,b\ninsert,c,a\n")
    assert tidelog("pipeline", "run", f"{folder}/p.toml").status == 0
    assert tidelog("pipeline", "check", f"{folder}/p.toml").out == "1 of 1 expectations are met\n"
    write(folder, on_rows="fail")
    refused = tidelog("pipeline", "run", f"{folder}/p.toml", "--changes", f"{folder}/day")
    told = "Loop is expected to be empty, and has 3 rows, such as {'a': 'a'}"
    assert (refused.status, refused.err) == (3, f"error: {told}: no version was made\n")
    write(folder)
    warned = tidelog("pipeline", "run", f"{folder}/p.toml", "--changes", f"{folder}/day")
    assert warned.status == 0
    assert told in warned.err
    assert tidelog("pipeline", "check", f"{folder}/p.toml").status == 0
    write(folder, on_rows="fail")
    failed = tidelog("pipeline", "check", f"{folder}/p.toml")
    assert failed.status == 3
    assert "1 of 1 expectations are not met" in failed.err
    (folder / "p.toml").write_text((folder / "p.toml").read_text().partition("[[expect]]")[0])
    assert "has no expectations" in tidelog("pipeline", "check", f"{folder}/p.toml").err


def test_a_dry_run_writes_nothing(folder: Path, tidelog: Tidelog) -> None:
    planned = tidelog("pipeline", "plan", f"{folder}/p.toml")
    assert planned.out == (
        "would read: Link\nwould change, by columnar: Link +2, Reach +3\n"
        f"would write: sink Reach ({folder}/out), 3 rows\n"
    )
    assert sorted(path.name for path in folder.iterdir()) == ["day", "links.csv", "p.dl", "p.toml", "state"]
    assert [path.name for path in (folder / "state").iterdir()] == ["lock"]
    with opened(folder) as one:
        one.run()
        before = sorted(folder.rglob("*"))
        found = one.preview(folder / "day")
        assert (found.read, found.changes) == ([f"{folder}/day/Link.csv"], {"Link": (1, 0), "Reach": (3, 0)})
        assert one.preview().read == []
        assert sorted(folder.rglob("*")) == before
        assert one.run(folder / "day")[0].version.changes == found.changes
    (line,) = tidelog("pipeline", "plan", f"{folder}/p.toml", "--json").out.splitlines()
    assert json.loads(line)["changes"] == {}


def opened(folder: Path) -> Pipeline:
    return Pipeline(folder / "p.toml")


def test_earlier_versions_and_what_is_deleted(folder: Path, tidelog: Tidelog) -> None:
    with opened(folder) as one:
        one.run()
        for number in range(3):
            (folder / "day" / "Link.csv").write_text(f"op,a,b\ninsert,c,{number}\n")
            one.run(folder / "day")
    file = f"{folder}/p.toml"
    shown = tidelog("pipeline", "show", file, "Link", "--version", "2")
    assert shown.out == "a, b\na, b\nb, c\nc, 0\n3 rows\n"
    shown = tidelog("pipeline", "show", file, "Reach", "--limit", "1")
    assert shown.out.startswith("a, b\n")
    assert shown.out.endswith("\n12 rows, of which 1 are shown\n")
    assert shown.out.count("\n") == 3
    assert json.loads(tidelog("pipeline", "show", file, "Loop", "--json").out or "[]") == []
    assert tidelog("pipeline", "vacuum", file).out == "0 versions forgotten, 0 files deleted\n"
    assert tidelog("pipeline", "vacuum", file, "--keep", "2").out.startswith("2 versions forgotten, ")
    assert [line[0] for line in tidelog("pipeline", "history", file).out.splitlines()] == ["3", "4"]
    assert tidelog("pipeline", "show", file, "Link", "--version", "3").out.endswith("4 rows\n")
    assert "has no version 2: there are 3 to 4" in tidelog("pipeline", "show", file, "Link", "--version", "2").err
    with opened(folder) as one:
        assert one.rollback(3).version.number == 5
        assert one.show("Link").rows() == [("a", "b"), ("b", "c"), ("c", "0"), ("c", "1")]


def test_exit_codes(folder: Path, tidelog: Tidelog, monkeypatch: pytest.MonkeyPatch) -> None:
    """0 done, 1 a mistake, 3 what is not expected, 75 what a later attempt may mend."""
    file = f"{folder}/p.toml"
    assert tidelog("pipeline", "run", file).status == 0
    assert tidelog("pipeline", "run", file).status == 0  # nothing new
    with opened(folder):
        busy = tidelog("pipeline", "run", file)
    assert (busy.status, busy.err) == (75, f"error: {folder}/state is in use by another run of the pipeline\n")
    (folder / "links.csv").write_text("a,b\na,b\nb,a\n")
    write(folder, on_rows="fail")
    assert tidelog("pipeline", "run", file).status == 3
    write(folder)
    with monkeypatch.context() as patch:
        patch.setattr(
            "tidelog.session.pipeline.sinks.ways.take_place", lambda *_: (_ for _ in ()).throw(OSError(5, "away"))
        )
        late = tidelog("pipeline", "run", file)
    told = f"error: sink Reach ({folder}/out): away; version 2 stands, and the next run writes it\n"
    assert (late.status, late.err.splitlines()[-1] + "\n") == (75, told)
    assert not (folder / "out" / "version=2").exists()
    assert tidelog("pipeline", "run", file).status == 0
    assert (folder / "out" / "version=2").exists()
    write(folder, on_rows="fail")
    assert tidelog("pipeline", "check", file).status == 3
    assert tidelog("pipeline", "run", f"{folder}/absent.toml").status == 1
    assert tidelog("pipeline", "run").status == 1


def test_logs_and_metrics_for_programs(folder: Path, tidelog: Tidelog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidelog.shell.opening.LOG_SECONDS", 0.0)
    monkeypatch.setattr("tidelog.run.limits.INTERVAL", 0.0)
    (folder / "links.csv").write_text("a,b\n" + "".join(f"n{n},n{n + 1}\n" for n in range(40)) + "x,x\n")
    metrics = folder / "metrics.prom"
    ended = tidelog("pipeline", "run", f"{folder}/p.toml", "--log", "json", "--metrics", str(metrics))
    logged = [json.loads(line) for line in ended.err.splitlines()]
    assert {"progress", "warning", "version"} >= {one["level"] for one in logged} >= {"warning", "version"}
    (version,) = (one for one in logged if one["level"] == "version")
    assert version["changes"]["Loop"] == {"inserted": 1, "deleted": 0}
    assert version["at"].endswith("+00:00")
    for one in logged:
        if one["level"] == "progress":
            assert {"relations", "strategy", "round", "tuples", "tuples_per_second"} < set(one)
    shown = metrics.read_text()
    assert "\ntidelog_pipeline_version 1\n" in shown
    assert '\ntidelog_pipeline_rows{relation="Link",change="inserted"} 41\n' in shown
    assert "\ntidelog_pipeline_warnings 1\n" in shown
    assert not list(folder.glob(".metrics*"))
    (folder / "p.dl").write_text("oops")
    lines = tidelog("pipeline", "run", f"{folder}/p.toml", "--log", "json").err.splitlines()

    line = lines[-1]
    assert (json.loads(line)["level"], json.loads(line)["message"][:6]) == ("error", "error[")
    assert tidelog("pipeline", "run", f"{folder}/p.toml").err.startswith("error[")  # text again
    away = tidelog("pipeline", "watch", f"{folder}/p.toml", "--metrics", f"{folder}/away/m.prom")
    assert away.status == 1
