"""The benchmarks still run: tiny inputs, sizes checked against brute force and between the racers in this process."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from benchmarks import generate, strategies
from benchmarks.__main__ import main
from benchmarks.batch import check_sizes, show, summary
from benchmarks.compare import Row
from benchmarks.compare import show as compare_rows
from benchmarks.goals import show_goals
from benchmarks.lubm import SCHEMA, TYPE, Encoder
from benchmarks.measure import Bounds, measure
from benchmarks.race_tidelog import evaluate, planned
from benchmarks.racers import Racer, Result, racers
from benchmarks.tables import ratio, seconds, table
from benchmarks.updates import SUBJECTS
from benchmarks.workloads import WORKLOADS, Workload, chosen
from tidelog.base.plain.plain import Plain
from tidelog.session.formats.files import read_facts

TINY = [pytest.param(workload, id=workload.name) for workload in chosen("tiny")]


def closure(edges: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    found = set(edges)
    while more := {(a, d) for a, b in found for c, d in found if b == c} - found:
        found |= more
    return found


def sizes(workload: Workload, folder: Path, *, tracked: bool) -> dict[str, int]:
    program = workload.text(".dl")
    assert program is not None
    plan = planned(program)
    facts = dict(read_facts(folder, plan.relations, Plain(plan.types)).rows)
    found: dict[str, int] = evaluate(plan, facts, 1, tracked)["sizes"]
    return found


@pytest.mark.parametrize("workload", TINY)
def test_batch_and_tracked_agree_with_the_known_sizes(workload: Workload, tmp_path: Path) -> None:
    workload.make(tmp_path, tmp_path)
    batch = sizes(workload, tmp_path, tracked=False)
    assert batch == sizes(workload, tmp_path, tracked=True)
    assert batch == {name: known or batch[name] for name, known in workload.sizes.items()}
    assert all(batch.values())


def test_the_closure_is_the_closure(tmp_path: Path) -> None:
    edges = generate.random_graph(40, 80)
    for form in ("right", "left", "nonlinear"):
        workload = WORKLOADS[f"tc-{form}-OL"]
        WORKLOADS["tiny-tc"].make(tmp_path, tmp_path)
        assert sizes(workload, tmp_path, tracked=False) == {"Path": len(closure(edges))}


@pytest.mark.parametrize("workload", [w for w in WORKLOADS.values() if w.program != "galen"], ids=lambda w: w.name)
def test_every_workload_has_its_program_for_every_racer_that_can(workload: Workload) -> None:
    assert all(workload.text(ending) is not None for ending in (".dl", ".souffle.dl", ".lp"))


def test_every_program_can_be_planned_with_the_rule_that_comes_and_goes() -> None:
    for subject in SUBJECTS:
        program = WORKLOADS[subject.workload].text(".dl")
        assert program is not None
        assert planned(program).relations[subject.relation].role == "input"


@pytest.mark.long(reason="a benchmark in processes of its own")
def test_a_race_in_processes_of_its_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    written = tmp_path / "results.json"
    options = ["--suite", "tiny-tc", "--threads", "1", "--peers", "duckdb,clingo", "--work", str(tmp_path)]
    assert main(["batch", *options, "--json", str(written)]) == 0
    shown = capfd.readouterr().out
    assert "tiny-tc: Path" in shown
    assert written.read_text().count('"status": "ok"') == len(racers(1, ("duckdb", "clingo")))


@pytest.mark.long(reason="a benchmark, on small inputs")
def test_strategies_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    of_each_engine = {options["engine"]: options for options in strategies.all_settings()}
    monkeypatch.setattr(strategies, "all_settings", of_each_engine.values)
    assert main(["strategies", "--suite", "tiny-tc", "--work", str(tmp_path)]) == 0
    shown = capfd.readouterr().out
    assert "columnar dbsp" in shown
    assert "tuples ranked algebra hash 2 threads" in shown


@pytest.mark.long(reason="a benchmark, on small inputs")
def test_closures_beside_recomputing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    written = tmp_path / "results.json"
    options = ["--suite", "tiny-stc", "--peers", "", "--work", str(tmp_path), "--json", str(written)]
    assert main(["closures", *options]) == 0
    shown = capfd.readouterr().out
    assert "tiny-stc" in shown
    assert "closure 15" in shown
    assert "== goals" in shown
    assert written.read_text().count('"what": "delete"') >= 2


@pytest.mark.long(reason="a benchmark, on small inputs")
def test_updates_and_their_goals(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    written = tmp_path / "results.json"
    assert main(["updates", "--suite", "tiny-tc", "--work", str(tmp_path), "--json", str(written)]) == 0
    shown = capfd.readouterr().out
    assert "== updates of tiny-tc, auto" in shown
    assert "deletes, of inserts" in shown
    (told,) = json.loads(written.read_text())
    kinds = [(line["what"], line["facts"]) for line in told["updates"]["lines"]]
    facts = [(what, size) for size in (1, 10) for what in ("delete", "insert")]
    assert kinds == [*facts, ("add a rule", 1), ("remove it", 1)]
    assert all(line["recomputed"] > 0 for line in told["updates"]["lines"])


def test_a_goal_is_missed_by_its_worst_case() -> None:
    def line(what: str, facts: int, time: float) -> dict[str, Any]:
        return {"what": what, "facts": facts, "time": time, "worst": 2 * time, "recomputed": 0.6}

    lines = [line("delete", 10, 0.03), line("insert", 10, 0.015), line("delete", 1000, 0.4), line("insert", 1000, 0.1)]
    updates = {"batch": 0.5, "tracked": 1.0, "lines": [*lines, line("add a rule", 1, 0.01)]}
    told = {"workload": "galen", "batch": {"memory": 1}, "tracked": {"memory": 3}, "updates": updates}
    broken = {"workload": "crdt", "batch": {}, "tracked": {}, "updates": {"errors": "timeout"}}
    shown = show_goals([told, broken]).splitlines()
    verdicts = {row.split("  ")[0]: row.split()[-1] for row in shown[3 : 3 + 8]}
    assert verdicts == {
        "Galen, 10 facts": "missed",
        "Galen, 1,000 facts": "met",
        "small updates, of recomputing": "missed",
        "worst update, of recomputing": "missed",
        "the same, of from scratch": "missed",
        "deletes, of inserts": "missed",
        "a rule in or out": "met",
        "memory, of batch": "met",
    }
    assert "deletes, of inserts: galen, delete 1,000 4.00x" in shown
    assert "worst update, of recomputing: galen, delete 1,000 1.33x" in shown


def test_wrong_sizes_are_loud() -> None:
    workload = WORKLOADS["tiny-crdt"]
    right = Result(workload.name, Racer("tidelog", "batch", 1), "ok", 1.0, 2.0, 2.0, 5, 3.0, {"Pair": 4, "Counters": 4})
    wrong = Result(workload.name, Racer("clingo", "", 1), "ok", 1.0, 4.0, 2.0, 5, 3.0, {"Pair": 4, "Counters": 3})
    assert check_sizes(workload, [right]) == []
    assert check_sizes(workload, [right, wrong]) == ["tiny-crdt: clingo -j1 has 3 tuples of Counters, not 4"]
    assert "2.00x" in show(workload, [right, wrong])
    assert "2.00x (1.00x)" in summary([right, wrong])


def test_bounds_stop_a_process() -> None:
    slow = measure(["sleep", "60"], Bounds(seconds=0.1))
    assert (slow.status, slow.wall < 30) == ("timeout", True)
    busy = measure([sys.executable, "-c", "while True: pass"], Bounds(processor=0.2))
    assert (busy.status, busy.cpu >= 0.2) == ("timeout", True)
    assert measure(["false"], Bounds()).status == "failed"


def test_lubm_is_encoded(tmp_path: Path) -> None:
    (tmp_path / "o.ttl").write_text(':Chair a owl:Class ;\n\trdfs:label "chair" ;\n\trdfs:subClassOf :Professor .\n')
    encoder = Encoder()
    ((chair, relation, professor),) = encoder.ontology(tmp_path / "o.ttl")
    assert relation == SCHEMA["subClassOf"]
    assert len({chair, professor, *SCHEMA.values(), TYPE}) == 7


def test_tables() -> None:
    assert (seconds(0.0005), ratio(3.0), ratio(30.0)) == ("500 us", "3.00x", "30x")
    assert table(("a", "b"), [("cc", "d")]) == "a   b\ncc  d"


def test_dyre(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dyre", "--suite", "tiny", "--work", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "== figure 4" in printed
    assert printed.count("2 - update") == 4


def test_papers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Settings find the same; paths take modules a square of rule instances, where the transitive rule has a cube."""
    assert main(["papers", "--suite", "tiny", "--json", str(tmp_path / "found")]) == 0
    assert "== elastic, filter" in capsys.readouterr().out
    lines = [line for line in json.loads((tmp_path / "found").read_text()) if line["table"] == "modular, Example 1"]
    derived = {(line["case"], line["setting"]): line["scratch"][1] for line in lines}
    assert derived["a path of 20 edges", "modular"] < 2 * 20 * 20  # with the steps on the graph
    assert derived["a path of 20 edges", "ranked"] > 20**3 / 6


@pytest.mark.long(reason="processes of their own, five for each program")
def test_modules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Strategies find the same; goals in derivations are reached."""
    told = tmp_path / "told.json"
    for suite in ("clique", "LUBM"):
        assert main(["modules", "--suite", suite, "--quick", "--json", str(told)]) == 0
    shown = capsys.readouterr().out
    assert "reached: clique of 200, fed" in shown
    assert "MISSED" not in shown
    assert {line["strategy"] for line in json.loads(told.read_text())} == {
        "auto",
        "modular",
        "recompute",
        "dred",
        "dred-c",
    }


def test_an_option_that_would_be_ignored_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["start", "--suite", "tiny"])
    assert "start takes no --suite" in capsys.readouterr().err


@pytest.mark.long(reason="a benchmark in processes of its own")
def test_two_versions_take_turns(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The last commit and this checkout do the same work; which of them is quicker on tiny inputs is chance."""
    main(["compare", "--base", "HEAD", "--suite", "tiny-tc", "--runs", "1", "--work", str(tmp_path)])
    shown = capfd.readouterr().out
    assert "tiny-tc tracked" in shown
    assert "tiny-tc delete 1" in shown
    assert "geometric mean of" in shown


def test_what_became_slower_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    before: dict[tuple[str, ...], Row] = {("a",): Row([0.1, 0.2, 0.3], {"5 in 2"}), ("b",): Row([0.0001], {"1"})}
    now: dict[tuple[str, ...], Row] = {("a",): Row([0.3, 0.3, 0.3], {"6 in 2"}), ("b",): Row([0.0002], {"1"})}
    assert compare_rows(before, now) == [
        "a takes 1.50 times what it took (goal 1.1)",
        "the geometric mean is 1.73x (goal 1.03)",
    ]
    shown = capsys.readouterr().out
    assert "5 in 2    6 in 2" in shown
    assert "same" in shown


def test_queries_of_few_rows(tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    main(["queries", "--quick", "--json", str(told)])  # times of so few rows decide nothing
    found = json.loads(told.read_text())
    assert {"Edge.where(b=...)", "query_index(by_b)", "Edge($n, x)"} <= set(found)
    assert all(0 <= time < 60 for times in found.values() for time in times)


def test_distances_of_a_small_graph(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bounds", "--quick", "--peers", ""]) == 0
    assert "100 weights changed one by one" in capsys.readouterr().out
