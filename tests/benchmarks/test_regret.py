"""The benchmark of regret: families, histories, measurement and judgement, on tiny workloads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks.measure import CHECKOUT
from benchmarks.regret.candidates import DEFAULT, RECOMPUTE, Candidate, alternatives
from benchmarks.regret.changes import draw_history
from benchmarks.regret.child import Prepared, prepare, row_hash
from benchmarks.regret.examine import Commit, Examination, Limits, Run
from benchmarks.regret.graphs import GRAPHS, mean_reach
from benchmarks.regret.judge import PROCESS, batch_regret, memory_regret, regrets
from benchmarks.regret.named import NAMED, chosen
from benchmarks.regret.report import distribution, mistakes, wasteful, worst
from benchmarks.regret.workloads import FAMILIES, NUMBERS, Workload, draw, size_of
from tidelog import Database

RANKED = Candidate("columnar", "ranked")
TUPLES = Candidate("tuples", "ranked")


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_has_about_as_many_distinct_edges_as_asked_for(name: str) -> None:
    edges = GRAPHS[name](np.random.default_rng(1), 500)
    assert len(np.unique(edges, axis=0)) == len(edges)
    assert 250 <= len(edges) <= 700


def test_what_nodes_reach_is_estimated() -> None:
    chain = np.stack((np.arange(100), np.arange(1, 101)), axis=1)
    assert 10 < mean_reach(np.random.default_rng(1), chain, 1000) < 90
    assert mean_reach(np.random.default_rng(1), chain, 3) <= 3


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_makes_a_program_and_a_history_of_its_facts(family: str) -> None:
    random = np.random.default_rng(2)
    made = FAMILIES[family](random, 120)
    steps = tuple(draw_history(random, made.facts))
    prepared = prepare(Workload("", made.program, steps, family, made.graph, text=family not in NUMBERS))
    database = prepared.database(DEFAULT)
    for number, (inserted, deleted) in enumerate(prepared.steps):
        with database.transaction() as transaction:
            for name, rows in deleted.items():
                transaction.delete(name, rows)
            for name, rows in inserted.items():
                transaction.insert(name, rows)
        changed = sum(len(transaction.result.changes[name]) for name in {*inserted, *deleted})
        assert changed == steps[number].size > 0  # what comes was not there, and what goes was


def test_a_seed_names_a_workload() -> None:
    one, other, another = draw(7), draw(7), draw(8)
    assert (one.program, one.graph, one.facts) == (other.program, other.graph, other.facts)
    assert [step.what for step in one.steps] == [step.what for step in other.steps]
    assert (one.program, one.graph) != (another.program, another.graph)
    sizes = [size_of(seed) for seed in range(300)]
    assert 100 <= min(sizes) < 1_000
    assert 100_000 < max(sizes) <= 1_000_000


def test_rows_have_a_hash_whatever_their_order() -> None:
    def hashed(*rows: tuple[int, str]) -> str:
        database = Database("input relation R(a: u32, b: string)")
        with database.transaction() as transaction:
            transaction.insert("R", list(rows))
        return row_hash(database, "R")

    assert hashed((1, "x"), (2, "y")) == hashed((2, "y"), (1, "x"))
    assert len({hashed((1, "x"), (2, "y")), hashed((1, "y"), (2, "x")), hashed((1, "x"), (2, "z")), hashed()}) == 4


def test_everyone_but_the_default_is_an_alternative() -> None:
    found = alternatives()
    assert DEFAULT not in found
    assert {RECOMPUTE, RANKED, TUPLES, Candidate("columnar", "dbsp"), Candidate("reference", "recompute")} <= set(found)
    assert found[0] == RECOMPUTE
    assert DEFAULT.options == {}


def a_run(*cpu: float, memory: int = 0, changes: int = 1, hashed: str = "h", status: str = "ok") -> Run:
    commits = [Commit(one, 10, 1, ("R: why",), {"R": [changes, 0]}) for one in cpu]
    return Run(status, commits, memory, {"R": hashed} if hashed else {})


def an_examination(**first: Run) -> Examination:
    found = Examination(Prepared("", (), ()), Limits(default=9.0))
    found.first = {
        Candidate(*name.split("_")):  # type: ignore[arg-type]
        run
        for name, run in first.items()
    }
    return found


def test_regret_is_never_measured_on_a_wrong_answer() -> None:
    found = an_examination(
        columnar_auto=a_run(0.1, 0.2),
        columnar_recompute=a_run(0.2, 0.1),
        columnar_ranked=a_run(0.01, 0.01, changes=2),
        tuples_ranked=a_run(0.05, 0.05, hashed="other"),
        tuples_dred=Run("failed", error="Error: no"),
    )
    assert set(found.wrong()) == {RANKED, TUPLES, Candidate("tuples", "dred")}
    assert "step 0 changed" in found.wrong()[RANKED]
    assert found.best(0) == (0.1, DEFAULT)
    assert found.best(1) == (0.1, RECOMPUTE)


def test_medians_of_turns_take_the_place_of_the_first_run() -> None:
    found = an_examination(columnar_auto=a_run(0.3), columnar_recompute=a_run(0.1))
    found.turns = {DEFAULT: [a_run(0.1), a_run(0.9), a_run(0.12)]}
    assert found.times(DEFAULT) == [0.12]


def test_a_default_that_was_stopped_has_taken_at_least_its_allowance() -> None:
    found = an_examination(columnar_auto=a_run(1.0, status="stopped"), columnar_recompute=a_run(0.1, 0.1))
    assert found.stopped
    assert found.times(DEFAULT) == [1.0, 8.0]


def told(candidates: dict[str, Any], wrong: dict[str, str] | None = None) -> dict[str, Any]:
    def one(cpu: list[float], memory: int) -> dict[str, Any]:
        counts = [100] * len(cpu)
        return {"cpu": cpu, "memory": memory, "derivations": counts, "work": [["R: why, because"]] * len(cpu)}

    return {
        "family": "reach",
        "graph": "a grid",
        "facts": 50,
        "steps": ["load", "-1 Edge"],
        "stopped": False,
        "wrong": wrong or {},
        "skipped": ["reference recompute"],
        "candidates": {name: one(cpu, memory) for name, (cpu, memory) in candidates.items()},
    }


def test_regret_in_time_and_memory() -> None:
    found = told(
        {
            "columnar auto": ([0.0995, 0.0395], PROCESS * 5),
            "columnar recompute": ([0.0495, 0.0995], PROCESS),
            "tuples ranked": ([0.0995, 0.0095], 0),
            "tuples dred": ([0.9, 0.9], 0),
        }
    )
    load, commit = regrets("w", found)
    assert (round(load.ratio, 9), load.winner) == (2.0, "columnar recompute")
    assert (round(commit.ratio, 9), commit.winner) == (4.0, "tuples ranked")
    assert (round(load.in_engine, 9), round(commit.in_engine, 9)) == (2.0, 1.0)
    assert batch_regret(found) == pytest.approx(1.0)
    assert memory_regret(found) == (6.0, "tuples ranked")
    shown = distribution({"w": found})
    assert "missed: median, 95th, max" not in shown
    assert shown.count("missed") == 3
    assert "4.00x  w: reach; a grid; 50 facts; step 1, -1 Edge" in worst({"w": found})
    assert "R: why, because" in worst({"w": found})
    assert "6.00x  w" in wasteful({"w": found})


def test_a_wrong_default_is_told_and_not_measured() -> None:
    found = told(
        {"columnar auto": ([0.1, 0.1], 0), "columnar recompute": ([0.1, 0.1], 0)}, {"columnar auto": "differs"}
    )
    assert list(regrets("seed 5", found)) == []
    assert mistakes({"seed 5": found}) == ["seed 5: columnar auto differs"]
    assert "0" in distribution({"seed 5": found})


def test_a_workload_without_all_strategies_of_the_engine_does_not_count() -> None:
    found = told({"columnar auto": ([0.1, 0.1], 0), "columnar recompute": ([0.1, 0.1], 0)})
    assert len(list(regrets("w", found))) == 2
    found["skipped"] = ["columnar ranked"]
    assert list(regrets("w", found)) == []
    assert "over 1 workloads, 1 of them left out" in distribution({"w": found})


def test_names_of_workloads() -> None:
    assert chosen("reach-few") == ["reach-few-55037", "reach-few-100000", "reach-few-100937"]
    assert chosen("tiny,hops") == ["tiny", "hops-large", "hops-small"]
    assert "tiny" not in chosen("all")
    with pytest.raises(SystemExit, match="there is no workload `nothing`"):
        chosen("nothing")
    assert NAMED["crdt-first"](Path("nowhere")) is None


@pytest.mark.long(reason="a benchmark in processes of its own")
def test_a_workload_is_measured_in_processes_of_its_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    written = tmp_path / "regret.json"
    assert main(["regret", "--suite", "tiny", "--json", str(written)]) == 0
    shown = capfd.readouterr().out
    assert "== regret of the default over 1 workloads" in shown
    found = json.loads(written.read_text())["tiny"]
    assert set(found["candidates"]) == {str(one) for one in (DEFAULT, *alternatives())}
    assert all(len(one["cpu"]) == len(found["steps"]) for one in found["candidates"].values() if one["status"] == "ok")


@pytest.mark.long(reason="a benchmark in processes of its own")
def test_who_takes_too_long_is_stopped() -> None:
    limits = {"default": 0.02, "everyone": 0.2, "turns": 0.0}
    request = json.dumps({"name": "chain-15000", "data": "", "limits": limits})
    worker = [sys.executable, "-m", "benchmarks.regret.worker"]
    environment = {**os.environ, **CHECKOUT}
    run = subprocess.run(worker, input=request, stdout=subprocess.PIPE, text=True, check=True, env=environment)
    found = json.loads(run.stdout)
    assert found["stopped"]
    assert found["skipped"]
    assert found["candidates"]["columnar auto"]["status"] == "stopped"
