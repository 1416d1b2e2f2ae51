import json
from pathlib import Path

import pytest

from tests.shell.conftest import Tidelog


def test_a_good_program(tidelog: Tidelog, reach: Path) -> None:
    ended = tidelog("check", "reach.dl")
    assert (ended.status, ended.out, ended.err) == (0, "", "")


def test_all_mistakes_are_told_with_carets(tidelog: Tidelog, tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text('output relation R(x: u8)\nR(x) :- Q(x).\nR("a").\n')
    ended = tidelog("check", "p.dl")
    assert (ended.status, ended.out) == (1, "")
    first, second = ended.err.rstrip("\n").split("\n\n")
    assert first.split("\n")[1:5] == ["  --> p.dl:2:9", "  |", "2 | R(x) :- Q(x).", "  |         ^^^^"]
    assert "p.dl:3:" in second
    assert "\x1b" not in ended.err


def test_json(tidelog: Tidelog, tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text("output relation R(x: u8)\nR(x) :- Q(x).\n")
    ended = tidelog("check", "p.dl", "--json")
    assert (ended.status, ended.err) == (1, "")
    told = json.loads(ended.out)
    assert (told["errors"], told["warnings"]) == (1, 0)
    (one,) = told["diagnostics"]
    assert (one["code"], one["severity"], one["file"], one["line"], one["column"]) == ("E0201", "error", "p.dl", 2, 9)


def test_control_characters_are_escaped(tidelog: Tidelog, tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text('output relation R(x: string)\nR("\x1b[2J" + 1).\n')
    ended = tidelog("check", "p.dl")
    assert ended.status == 1
    assert "\x1b" not in ended.err


@pytest.mark.parametrize("command", [("check", "--json"), ("plan", "--format", "json")])
def test_json_has_no_control_characters(tidelog: Tidelog, tmp_path: Path, command: tuple[str, ...]) -> None:
    name = "a\x9b\u202eb.dl"
    (tmp_path / name).write_text('output relation R(s: string)\nR("\u202ex\x9b").\nR(x) :- R(y), y == "\u2066".\n')
    if command[0] == "plan":
        (tmp_path / name).write_text('output relation R(s: string)\nR("\u202ex\x9b").\n')
    ended = tidelog(command[0], name, *command[1:])
    assert json.loads(ended.out)
    assert not {"\x9b", "\u202e", "\u2066"} & {*ended.out}
    assert "\\u202e" in ended.out
