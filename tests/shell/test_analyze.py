"""`tidelog plan --analyze` tells what each rule took."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from tidelog.shell.main import main

PROGRAM = "output relation R(x: u8)\nR(1).\nR(x + 1) :- R(x), x < 4.\n"


def test_by_rule_and_by_round(tmp_path: Path) -> None:
    path = tmp_path / "count.dl"
    path.write_text(PROGRAM)
    shown = CliRunner().invoke(main, ["plan", str(path), "--analyze", "--rounds"])
    assert shown.exit_code == 0
    assert "R(x + 1) :- R(x), x < 4." in shown.stdout
    assert "#4" in shown.stdout
    told = CliRunner().invoke(main, ["plan", str(path), "--analyze", "--format", "json"])
    costs = {cost["rule"]: sum(run["derivations"] for run in cost["runs"]) for cost in json.loads(told.stdout)}
    assert costs == {"R(1).": 1, "R(x + 1) :- R(x), x < 4.": 3}


def test_options_that_need_it(tmp_path: Path) -> None:
    path = tmp_path / "count.dl"
    path.write_text(PROGRAM)
    assert "go with --analyze" in CliRunner().invoke(main, ["plan", str(path), "--rounds"]).stderr
    assert "text or json" in CliRunner().invoke(main, ["plan", str(path), "--analyze", "--format", "dot"]).stderr


def test_a_strategy_shows_what_it_evaluates(tmp_path: Path) -> None:
    path = tmp_path / "a.dl"
    path.write_text("input relation E(x: u8)  output relation R(x: u8)  R(x) :- E(x).")
    shown = {
        name: CliRunner().invoke(main, ["plan", str(path), "--strategy", name]).stdout
        for name in ("dred", "recompute", "ranked")
    }
    assert "+R(x) :- -R(x), E(x)." in shown["dred"]
    assert "when E changes" not in shown["recompute"]
    assert "when E changes" in shown["ranked"]
    both = CliRunner().invoke(main, ["plan", str(path), "--strategy", "dred", "--format", "dot"])
    assert "--strategy shows text" in both.stderr
