"""Compiled kernels are kept where only the user can write; what is wrong there costs a compilation, not an error."""

import importlib.util
import os
import stat
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tidelog import CacheWarning
from tidelog.base.process.cache_folder import cache_folder
from tidelog.run import kernel_cache
from tidelog.run.compiling import are_compiled

SOURCE = """\
from tidelog.run.kernel_cache import kernel

@kernel
def double(x):
    return 2 * x
"""
FULL = """
import resource, sys, warnings
sys.path.insert(0, sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))  # a write beyond it fails, as on a full disk
import small
print(small.double(21))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of kernels as a new process sees it."""
    for name in ("TIDELOG_CACHE_DIR", "NUMBA_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "small.py").write_text(SOURCE)
    before = set(kernel_cache._told)
    yield tmp_path / "kernels"
    kernel_cache._told.clear()
    kernel_cache._told.update(before)


def run(folder: Path) -> tuple[int, list[str]]:
    """Load the kernel as a new process would, and call it: how often code was found, and what was told."""
    kernel_cache._folder.cache_clear()
    kernel_cache._stamp.cache_clear()
    kernel_cache._told.clear()
    spec = importlib.util.spec_from_file_location("small", folder / "small.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        spec.loader.exec_module(module)
        assert module.double(21) == 42
        assert module.double(1.5) == 3.0  # another signature
    assert all(one.category is CacheWarning for one in told)
    return sum(module.double.stats.cache_hits.values()), [str(one.message) for one in told]


def kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.nbc"))


def test_kernels_are_kept(folder: Path) -> None:
    assert not are_compiled(folder)
    assert run(folder) == (0, [])
    assert are_compiled(folder)
    files = kept(folder / "__pycache__")
    assert len(files) == 2
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert run(folder) == (2, [])


def test_a_change_of_any_source_is_noticed(folder: Path) -> None:
    run(folder)
    before = kept(folder / "__pycache__")
    (folder / "other.py").write_text("# a kernel may call what is here\n")
    assert run(folder) == (0, [])
    after = kept(folder / "__pycache__")
    assert len(after) == 2
    assert not {*before} & {*after}  # nobody needs the old ones


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "garbage": lambda content: b"\x80\x04garbage." * 1000,
    "a changed bit": lambda content: content[:-1000] + bytes([content[-1000] ^ 1]) + content[-999:],
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_replaced(folder: Path, kind: str) -> None:
    run(folder)
    for file in kept(folder / "__pycache__"):
        file.write_bytes(DAMAGE[kind](file.read_bytes()))
    hits, told = run(folder)
    assert hits == 0
    (warning,) = told  # once, although two files are damaged
    assert warning.endswith("cannot be used (its checksum is wrong): its kernel is compiled again")
    assert run(folder) == (2, [])


def test_a_folder_in_place_of_a_file(folder: Path) -> None:
    run(folder)
    for file in kept(folder / "__pycache__"):
        file.unlink()
        file.mkdir()
    hits, told = run(folder)
    assert hits == 0
    assert [text.partition("Is a directory")[2] for text in told] == [
        "): its kernel is compiled again",
        "; the next run compiles them again",
    ]


def test_a_file_that_others_can_write_is_not_executed(folder: Path) -> None:
    run(folder)
    for file in kept(folder / "__pycache__"):
        file.chmod(0o666)
    hits, told = run(folder)
    assert hits == 0
    (warning,) = told
    assert warning.endswith("can be written by others: it is not used, and the kernel is compiled again")
    assert run(folder) == (2, [])


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_not_executed(folder: Path) -> None:
    run(folder)
    for file in kept(folder / "__pycache__"):
        os.chown(file, 12345, 12345)
    hits, (warning,) = run(folder)
    assert (hits, "belongs to another user" in warning) == (0, True)


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775])
def test_an_open_folder_is_not_used(folder: Path, tmp_path: Path, mode: int) -> None:
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__").chmod(mode)
    assert run(folder) == (0, [])
    assert kept(folder / "__pycache__") == []
    (own,) = (tmp_path / "cache" / "tidelog").iterdir()
    assert {stat.S_IMODE(path.stat().st_mode) for path in (own, own.parent)} == {0o700}
    assert len(kept(own)) == 2
    assert run(folder) == (2, [])


def test_the_folder_of_the_environment(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = tmp_path / "mine"
    monkeypatch.setenv("TIDELOG_CACHE_DIR", str(mine))
    assert run(folder) == (0, [])
    assert stat.S_IMODE(mine.stat().st_mode) == 0o700
    assert run(folder) == (2, [])
    mine.chmod(0o777)
    hits, (warning,) = run(folder)
    assert hits == 0
    assert warning == f"compiled kernels are kept in {folder}/__pycache__: {mine} can be written by others"


def test_without_any_folder(folder: Path, tmp_path: Path) -> None:
    (folder / "__pycache__").write_text("a file")
    (tmp_path / "cache").write_text("another")
    hits, (warning,) = run(folder)
    assert hits == 0
    assert warning == (
        f"kernels are compiled in every run: {folder}/__pycache__ is not a folder; {tmp_path}/cache/tidelog cannot be "
        "made: Not a directory; set TIDELOG_CACHE_DIR to a folder of your own"
    )


def test_code_from_an_archive_is_not_kept(folder: Path) -> None:
    text = (folder / "small.py").read_text()
    found: dict[str, Any] = {}
    exec(compile(text, str(folder.parent / "package.zip" / "small.py"), "exec"), found)
    assert found["double"](21) == 42
    assert found["double"].stats.cache_path is None


def test_without_a_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "__pycache__").write_text("a file")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert cache_folder(folder).path is None


def test_a_folder_that_cannot_be_written(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    access: Any = os.access  # root may write everywhere, so a file system that cannot be written is simulated
    monkeypatch.setattr(os, "access", lambda path, mode: "__pycache__" not in str(path) and access(path, mode))
    assert run(folder) == (0, [])
    assert kept(folder / "__pycache__") == []
    assert run(folder) == (2, [])


def test_a_full_disk(folder: Path) -> None:
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(folder)], capture_output=True, text=True, check=True, env=environment
    )
    assert done.stdout == "42\n"
    assert done.stderr.count("CacheWarning: compiled kernels cannot be kept in") == 1
    assert "File too large; the next run compiles them again" in done.stderr
    assert list((folder / "__pycache__").iterdir()) == []
