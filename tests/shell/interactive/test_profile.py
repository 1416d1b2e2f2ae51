"""The work of all commits, added up."""

import re
from pathlib import Path

import pytest

from tests.shell.conftest import Tidelog

PROGRAM = (
    "input relation A(x: u8)  output relation B(x: u8)  B(x) :- A(x), x > 1.  output relation C(x: u8)  C(1) :- B(_)."
)


def test_profile(tidelog: Tidelog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.dl").write_text(PROGRAM)
    script = "start; insert A(1), insert A(2); commit; start; insert A(3); delete A(2); commit;\n:profile\n"
    ended = tidelog("shell", "p.dl", stdin=script + ":profile page.html\n")
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0].startswith("2 commits in ")
    (line,) = (line for line in lines if line.startswith("B "))
    assert re.fullmatch(r"B +2 +\d+\.\d+ +\d+ +\d+ +2 +1 +1", line)
    page = Path("page.html").read_text()
    assert "<td>B</td><td>2</td>" in page
    assert "2 commits in " in page
    refused = tidelog("shell", "p.dl", stdin=":profile no/page.html\n")
    assert (refused.status, refused.err) == (1, "error: line 1: cannot write no/page.html: No such file or directory\n")
