"""Every program of the repository's cases: its plan keeps its promises, and can be shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases import externs_of
from tests.papers.translation_steps import translation_steps
from tests.plan.validate import validate
from tidelog.base.diagnostic import Report
from tidelog.base.span import Source
from tidelog.logic.passes import analyse
from tidelog.logic.program import Program
from tidelog.plan.closures.recognise import closures
from tidelog.plan.join.translate import translate
from tidelog.plan.nodes import Plan
from tidelog.plan.passes import plan_program
from tidelog.plan.show.dot import show_dot
from tidelog.plan.show.json import show_json
from tidelog.plan.show.mermaid import show_mermaid
from tidelog.plan.show.text import show_text

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((ROOT / "tests" / "programs").rglob("program.dl"))


def analysed(path: Path) -> Program | None:
    report = Report()
    source = Source(path.name, path.read_text(encoding="utf-8"))
    return analyse(source, report, library=(path.parent,), externs=externs_of(path.parent))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.parent.name)
def test_plan(path: Path) -> None:
    program = analysed(path)
    assert program is not None
    report = Report()
    plan = plan_program(program, report)
    assert isinstance(plan, Plan), report.diagnostics
    validate(plan)
    assert show_text(plan)
    assert show_dot(plan)
    assert show_mermaid(plan)
    assert json.loads(show_json(plan))["strata"] is not None
    for stratum in plan.strata:
        closures(stratum)
        for rule in stratum.rules:
            assert rule.source is not None
            assert translation_steps(rule.source)[-1][1] == translate(rule.source)
    again = plan_program(program, Report(), earlier=plan)
    assert again is not None
    assert all(
        a is b for s, t in zip(again.strata, plan.strata, strict=True) for a, b in zip(s.rules, t.rules, strict=True)
    )


def test_there_are_programs() -> None:
    assert len(PROGRAMS) > 100
