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


def test_modules_are_told_of_by_relations_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "same.dl"
    path.write_text(
        'output relation P(s: u8, p: string, o: u8)\nP(1, "same", 2).\nP(1, "in", 3).\nP(3, "in", 4).\n'
        'P(y, "same", x) :- P(x, "same", y).\nP(x, "same", z) :- P(x, "same", y), P(y, "same", z).\n'
        'P(y, p, o) :- P(x, "same", y), P(x, p, o).\nP(x, "in", z) :- P(x, "in", y), P(y, "in", z).\n'
    )
    shown = CliRunner().invoke(main, ["plan", str(path), "--analyze"]).stdout
    assert "#" not in shown
    assert "module of P: transitive closure" in shown
    assert "module of P: symmetric-transitive closure" in shown
    assert "module of P: equals in place of each other" in shown


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


def test_how_strata_will_run_on_a_cluster(tmp_path: Path) -> None:
    path = tmp_path / "p.dl"
    path.write_text(
        "input relation E(a: u32, b: u32)\noutput relation T(a: u32, b: u32)\noutput relation S(a: u32, b: u32)\n"
        "output relation C(a: u32, b: u32)\nT(x, y) :- E(x, y).\nT(x, z) :- E(x, y), T(y, z).\n"
        "C(x, y) :- E(y, x).\nC(x, z) :- C(x, y), C(y, z).\n"
        "S(x, y) :- T(p, x), T(p, y).\nS(x, y) :- E(a, x), S(a, b), E(b, y).\n"
        "output relation R(a: u32, b: u32)\nR(x, y) :- E(x, y).\nR(x, z) :- R(x, y), R(y, z), R(z, x).\n"
        "relation Q(a: u32, b: u32)\nQ(x, y) :- E(x, y).\nQ(y, x) :- Q(x, y).\nQ(x, z) :- Q(x, y), Q(y, z).\n"
        "output relation L(a: u32, l: u32)\nL(x, l) :- Q(x, y), var l = y.group_by(x).min().\n"
    )
    shown = CliRunner().invoke(main, ["plan", str(path), "--engine", "spark"]).stdout
    assert "T decomposes by b: one job, E everywhere" in shown
    assert "C is made linear and decomposes by a: one job, its steps everywhere" in shown
    assert "S by partitions that exchange what is new, E everywhere; again after a change" in shown
    assert "R: a job a round" in shown
    assert "Q is read by groups only: its nodes and their components, by one job" in shown
    for needed in (
        "a worker holds the nodes",
        "at most half",
        "8 times more partitions",
        "a job a round",
        "Spark spills",
    ):
        assert needed in shown
    assert "goes without" in CliRunner().invoke(main, ["plan", str(path), "--engine", "spark", "--analyze"]).stderr
