from pathlib import Path

from tests.shell.conftest import Tidelog

UGLY = "relation R(x:u8)   // numbers\nR(1) :-  R(2).\n"
NEAT = "relation R(x: u8)  // numbers\nR(1) :- R(2).\n"


def test_files_are_rewritten(tidelog: Tidelog, tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(UGLY)
    ended = tidelog("format", "p.dl")
    assert (ended.status, ended.out, ended.err) == (0, "formatted p.dl\n", "")
    neat = (tmp_path / "p.dl").read_text()
    assert neat.split() == NEAT.split()
    assert tidelog("format", "p.dl").out == ""
    assert (tmp_path / "p.dl").read_text() == neat


def test_check_changes_nothing(tidelog: Tidelog, tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(UGLY)
    ended = tidelog("format", "--check", "p.dl")
    assert (ended.status, ended.out) == (1, "p.dl would change\n")
    assert (tmp_path / "p.dl").read_text() == UGLY
    tidelog("format", "p.dl")
    assert tidelog("format", "--check", "p.dl").status == 0


def test_standard_input(tidelog: Tidelog) -> None:
    ended = tidelog("format", "-", stdin=UGLY)
    assert (ended.status, ended.out.split()) == (0, NEAT.split())
    assert tidelog("format", "--check", "-", stdin=UGLY).status == 1


def test_a_mistake_leaves_the_file(tidelog: Tidelog, tmp_path: Path) -> None:
    (tmp_path / "bad.dl").write_text("relation R(\n")
    (tmp_path / "good.dl").write_text(UGLY)
    ended = tidelog("format", "bad.dl", "good.dl", "none.dl")
    assert ended.status == 1
    assert ended.out == "formatted good.dl\n"
    assert "error[E01" in ended.err
    assert "cannot read none.dl" in ended.err
    assert (tmp_path / "bad.dl").read_text() == "relation R(\n"
