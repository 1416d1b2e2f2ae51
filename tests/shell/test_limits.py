"""Limits stop an endless evaluation with an error that says where, on every engine in process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.run.hostile.programs import FUNCTIONS, RULES, function_program
from tests.shell.conftest import Tidelog
from tidelog import Database, LimitError, Limits, UserError
from tidelog.base.process.meter import memory_by_ps, memory_in_use
from tidelog.run.contract import engine as contract
from tidelog.run.limits import Watch
from tidelog.session.observe.progress import Progress, watching
from tidelog.shell.main import main
from tidelog.shell.opening import Size

ENDLESS = "output relation N(x: bigint)\nN(0).\nN(x + 1) :- N(x).\n"


@pytest.mark.parametrize("engine", ["reference", "columnar"])
@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--max-rounds", "20", "more than 20 rounds"),
        ("--max-tuples", "15", "more than 15 new tuples"),
        ("--max-seconds", "0.2", "more than 0.2 seconds"),
        ("--max-memory", "1M", "bytes of memory"),
    ],
)
def test_each_limit_stops(tmp_path: Path, engine: str, option: str, value: str, said: str) -> None:
    program = tmp_path / "endless.dl"
    program.write_text(ENDLESS)
    result = CliRunner().invoke(main, ["run", str(program), "--engine", engine, option, value])
    assert result.exit_code == 1
    assert said in result.stderr
    assert "(N)" in result.stderr
    assert result.stdout == ""


def test_hostile_programs_are_stopped_on_the_command_line(tidelog: Tidelog) -> None:
    facts = {"A": "".join(f"{n}\n" for n in range(100_000)), "Go": "1\n"}
    programs = {name: ("A", RULES[name][0]) for name in ("a cross join", "the sum of all pairs")}
    for name in ("nested loops", "text that doubles"):
        programs[name] = "Go", function_program(FUNCTIONS[name])
    for name, (relation, program) in programs.items():
        Path("hostile.dl").write_text(program)
        Path(relation).mkdir(exist_ok=True)
        Path(relation, f"{relation}.csv").write_text("x\n" + facts[relation])
        bounds = ("--max-seconds", "0.3", "--max-memory", "2G")
        ended = tidelog("run", "hostile.dl", "--facts", relation, *bounds)
        assert (ended.status, ended.out) == (1, ""), name
        assert "took more than" in ended.err, name
        assert "Traceback" not in ended.err, name


@pytest.mark.parametrize("name", ["nested loops", "squares"])
def test_hostile_programs_are_stopped_in_a_script(tidelog: Tidelog, name: str) -> None:
    Path("hostile.dl").write_text(function_program(FUNCTIONS[name]))
    script = "start;\ninsert Go(1);\ncommit;\ndump Made;\n"
    ended = tidelog("shell", "hostile.dl", "--max-seconds", "0.3", stdin=script)
    assert ended.status == 1
    assert "line 3: stratum 0 (Made) took more than 0.3 seconds" in ended.err
    assert "Made{" not in ended.out


def test_a_stopped_transaction_leaves_the_last_commit() -> None:
    db = Database(
        "input relation S(x: bigint)\noutput relation N(x: bigint)\nN(x) :- S(x).\nN(x + 1) :- N(x), x < 9.\n"
    )
    with db.transaction() as tx:
        tx.insert("S", [(5,)])
    with pytest.raises(LimitError), db.transaction(Limits(rounds=3)) as tx:
        tx.insert("S", [(-100,)])
    assert db.relation("N").count() == 5
    db.verify()


def test_progress_is_told() -> None:
    seen: list[Progress] = []
    with pytest.raises(LimitError), watching(seen.append):
        Database(ENDLESS, limits=Limits(seconds=1.0))
    assert seen
    assert seen[-1].relations == ("N",)
    assert seen[-1].round > 1


def test_sizes() -> None:
    assert Size().convert("4G", None, None) == 4 << 30
    assert Size().convert("500", None, None) == 500
    assert Size().convert("1.5k", None, None) == 1536


@pytest.mark.parametrize(
    ("option", "value"),
    [("--max-seconds", "nan"), ("--max-seconds", "-1"), ("--max-tuples", "-1"), ("--max-rounds", "-3")],
)
def test_a_limit_that_means_nothing_is_refused(tmp_path: Path, option: str, value: str) -> None:
    program = tmp_path / "endless.dl"
    program.write_text(ENDLESS)
    result = CliRunner().invoke(main, ["run", str(program), option, value])
    assert result.exit_code == 1
    assert "not negative" in result.stderr


@pytest.mark.parametrize("given", [{"seconds": float("nan")}, {"memory": -1}, {"tuples": True}, {"rounds": 1.5}])
def test_limits_are_numbers_that_are_not_negative(given: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="it should be"):
        Limits(**given)


def test_a_memory_limit_that_cannot_be_kept_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract, "memory_in_use", lambda: 0)
    with pytest.raises(UserError, match="a memory limit cannot be kept here"):
        Limits(memory=1 << 30)


@pytest.mark.skipif(not Path("/bin/ps").exists(), reason="the command ps is not installed")
def test_memory_is_known_where_there_is_no_proc() -> None:
    assert memory_by_ps() == pytest.approx(memory_in_use(), rel=0.2)


def test_what_is_left_of_limits_keeps_all_of_them() -> None:
    watch = Watch(Limits(rounds=9, tuples=8, seconds=7.0, memory=1 << 40))
    watch.add_tuples(3)
    left = watch.limits_left()
    assert (left.rounds, left.tuples, left.memory) == (10, 5, 1 << 40)
    assert left.seconds is not None
    assert 6 < left.seconds <= 7
