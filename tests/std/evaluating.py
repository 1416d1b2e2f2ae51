"""Evaluates expressions of the language through the whole pipeline, for tests of the library."""

from __future__ import annotations

from tidelog.base.diagnostic import Report
from tidelog.base.errors import ProgramError
from tidelog.base.span import Source
from tidelog.logic.passes import analyse
from tidelog.plan.passes import plan_program
from tidelog.run.reference.engine import ReferenceEngine


def evaluate(expressions: list[str], declarations: str = "") -> list[str]:
    """Return the display text of each expression's value."""
    facts = "\n".join(f"O({i}, to_string_debug({text}))." for i, text in enumerate(expressions))
    report = Report()
    program = analyse(Source("test.dl", f"{declarations}\noutput relation O(i: bit<32>, v: string)\n{facts}\n"), report)
    plan = plan_program(program, report) if program else None
    if plan is None:
        raise ProgramError(report.errors)
    return [shown for _, shown in sorted(ReferenceEngine(plan).rows("O"))]
