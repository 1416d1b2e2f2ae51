"""The command line in this process, in a fresh folder."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from tidelog.shell.main import main

REACH = """\
input relation Edge(a: u32, b: u32)
output relation Reach(a: u32, b: u32)
Reach(a, b) :- Edge(a, b).
Reach(a, c) :- Reach(a, b), Edge(b, c).
"""


@dataclass(frozen=True, slots=True)
class Ended:
    status: int
    out: str
    err: str


Tidelog = Callable[..., Ended]


@pytest.fixture
def tidelog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tidelog:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TIDELOG_DEBUG", raising=False)

    def run(*arguments: str, stdin: str | None = None) -> Ended:
        result = CliRunner().invoke(main, arguments, input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Ended(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def reach(tmp_path: Path) -> Path:
    """A program with facts."""
    (tmp_path / "reach.dl").write_text(REACH)
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "Edge.csv").write_text("a,b\n1,2\n2,10\n")
    return tmp_path
