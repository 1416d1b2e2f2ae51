"""`tidelog soak`: what it prints when all is well, and the smallest history when it is not."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.shell.conftest import Tidelog
from tidelog.base.tuning.thresholds import Paths
from tidelog.plan.nodes import Plan
from tidelog.run.contract.engine import NO_LIMITS, Delta, Limits, Update
from tidelog.run.reference.engine import ReferenceEngine
from tidelog.session import engines
from tidelog.session.soak.following import Following
from tidelog.session.soak.histories import random_history
from tidelog.session.soak.settings import Asked, Setting
from tidelog.session.soak.sized.programs import Sized, documents
from tidelog.session.soak.soak import Tally
from tidelog.session.soak.soak import soak as in_process
from tidelog.shell import soak

CHILDREN = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")


class ForgetfulEngine(ReferenceEngine):
    """Never deletes."""

    def update(self, facts: Mapping[str, Delta], plan: Plan | None = None, limits: Limits = NO_LIMITS) -> Update:
        return super().update({name: Delta(change.inserted) for name, change in facts.items()}, plan, limits)


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch, here: None) -> None:
    monkeypatch.setitem(engines.ENGINES, "forgetful", engines.Entry(__name__, "ForgetfulEngine"))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Histories are followed in this process, where tests can replace things."""

    def followed(jobs: int, histories: int, seed: int, asked: Asked, progress: Callable[[Tally], None]) -> Any:
        return in_process(histories, seed, replace(asked, seconds=None), progress)

    monkeypatch.setattr(soak, "soak_by", followed)


@pytest.mark.long(reason="histories of many kinds")
def test_no_difference(tidelog: Tidelog) -> None:
    ended = tidelog("soak", "--histories", "3", "--seed", "5")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("3 histories, ")
    told, paths = ended.out.splitlines()
    assert told.endswith("no difference from the reference engine")
    assert re.fullmatch(r"\d+ of \d+ ways at thresholds were taken", paths)


def test_json(tidelog: Tidelog) -> None:
    ended = tidelog("soak", "--histories", "2", "--seed", "5", "--json")
    found = json.loads(ended.out)
    assert (ended.status, found["histories"], found["failure"]) == (0, 2, None)
    assert (found["compared_with"], found["commits"] > 2) == ("the reference engine", True)
    assert 0 < len(found["ways"]["missing"]) < found["ways"]["all"]


@pytest.mark.usefixtures("forgetful")
def test_a_failure_in_json(tidelog: Tidelog) -> None:
    ended = tidelog("soak", "--histories", "5", "--engine", "forgetful", "--json")
    found = json.loads(ended.out)
    assert (ended.status, found["ways"]) == (1, None)
    assert f"the history of seed {found['failure']['seed']} goes wrong" in ended.err
    assert "\nstep 0:\n" in found["failure"]["text"]


def test_a_history_that_takes_too_long_is_found_by_its_seed() -> None:
    command = [sys.executable, "-m", "tidelog", "soak", "--histories", "3", "--seed", "7", "--max-seconds", "0.001"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 1
    assert ended.stdout.startswith("seed 7\nengine ")
    assert ended.stdout.endswith("the history did not end within 0.001 s\n")
    assert "most recent call first" in ended.stderr, "the stack"
    assert "the history of seed 7 goes wrong; repeat it with --histories 1 --seed 7" in ended.stderr


@pytest.mark.long(reason="histories of many kinds")
def test_processes_share_the_work(tidelog: Tidelog) -> None:
    one, two = (tidelog("soak", "--histories", "21", "--seed", "5", "--jobs", jobs) for jobs in "12")
    assert (two.status, two.err) == (0, "")
    assert two.out.startswith("21 histories, ")
    assert two.out.split(" in ")[0] == one.out.split(" in ")[0]
    taken = [int(ended.out.splitlines()[1].split(" of ")[0]) for ended in (one, two)]
    assert min(taken) > 0.9 * max(taken)  # not the same: a fallback by time may go either way


@pytest.mark.skipif(not CHILDREN.exists(), reason="asks Linux for the processes that one has started")
def test_processes_end_with_the_one_that_started_them() -> None:
    command = [sys.executable, "-m", "tidelog", "soak", "--histories", "1000", "--jobs", "2"]
    with subprocess.Popen(command) as soaking:
        while len(started := children(soaking.pid)) < 3:  # two that work and one that keeps account of them
            time.sleep(0.05)
        soaking.kill()
    for _ in range(600):
        if not any(Path(f"/proc/{child}").exists() for child in started):
            return
        time.sleep(0.05)
    pytest.fail("a process is left over")


def children(parent: int) -> list[int]:
    """The processes that a process has started and that run."""
    found = Path(str(CHILDREN).replace(str(os.getpid()), str(parent)))
    return [int(child) for child in found.read_text().split()]


@pytest.mark.usefixtures("here")
def test_progress_is_told(tidelog: Tidelog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "LONG_PAUSE", 0.0)
    ended = tidelog("soak", "--histories", "2")
    assert re.fullmatch(r"note: 1 of 2 histories, \d+ commits\nnote: 2 of 2 histories, \d+ commits\n", ended.err)


@pytest.mark.usefixtures("here")
def test_a_way_that_no_history_took(tidelog: Tidelog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "MANY", 2)
    monkeypatch.setattr("tidelog.session.soak.soak.WAYS", frozenset({("closures.unknown", "under")}))
    ended = tidelog("soak", "--histories", "2")
    assert (ended.status, ended.err) == (1, "error: no history took these: closures.unknown under\n")


@pytest.mark.usefixtures("forgetful")
def test_a_difference_is_made_small(tidelog: Tidelog) -> None:
    ended = tidelog("soak", "--histories", "5", "--engine", "forgetful")
    assert ended.status == 1
    assert re.search(r"\n(Difference|DataError): ", ended.out)  # whoever forgets a fact may refuse to delete it
    assert "goes wrong; repeat it with --engine forgetful --histories 1 --seed" in ended.err
    assert len(ended.out.split("\n")) < 15


def test_a_seed_names_a_history() -> None:
    assert random_history(Random(3), 5) == random_history(Random(3), 5)


def test_upserts_are_followed() -> None:
    history = random_history(Random(1), 12)
    keyed = next(relation.name for relation in history.start.inputs if len(relation.kinds) > 1)
    setting = Setting("columnar", keyed=keyed)
    assert "primary key (x) x.c0" in setting.declare(history.start)
    assert Following(history, setting, Paths()).follow() == 12


@pytest.mark.usefixtures("here")
def test_a_difference_from_duckdb_is_told(tidelog: Tidelog, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(rng: Any, rows: int) -> Sized:
        made = documents(rng, rows)
        return Sized(made.program, made.inputs, {**made.answers, "Known": "FROM Asked"})

    monkeypatch.setattr("tidelog.session.soak.sized.at_size.FAMILIES", (wrong,))
    ended = tidelog("soak", "--rows", "1000", "--strategy", "auto")
    assert ended.status == 1
    assert "Known" in ended.out
    assert "repeat it with --strategy auto --rows 1000 --histories 1 --seed 0" in ended.err


@pytest.mark.usefixtures("here")
def test_without_duckdb(tidelog: Tidelog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    ended = tidelog("soak", "--rows", "100")
    assert (ended.status, "pip install duckdb" in ended.err) == (1, True)


def test_one_kind_of_histories(tidelog: Tidelog) -> None:
    ended = tidelog("soak", "--rows", "1000", "--large")
    assert (ended.status, "choose one" in ended.err) == (1, True)
