"""From a program's text to its answers, for tests that compare engines and passes."""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.base.diagnostic import Report
from tidelog.base.errors import ProgramError
from tidelog.base.span import Source
from tidelog.logic.passes import analyse
from tidelog.plan.nodes import Plan
from tidelog.plan.passes import plan_program
from tidelog.run.contract.engine import Delta, Engine
from tidelog.run.reference.engine import ReferenceEngine
from tidelog.session.soak.spec import Program, Row


def plan_text(text: str) -> Plan:
    """Check and plan a program text."""
    report = Report()
    program = analyse(Source("random.dl", text), report)
    plan = plan_program(program, report) if program else None
    if plan is None:
        raise ProgramError(report.errors)
    return plan


def answers(engine: Engine) -> dict[str, frozenset[Row]]:
    """Return every relation that is not auxiliary."""
    shown = (name for name, relation in engine.plan.relations.items() if not relation.auxiliary)
    return {name: frozenset(engine.rows(name)) for name in shown}


def reference_answers(text: str, facts: Mapping[str, frozenset[Row]]) -> dict[str, frozenset[Row]]:
    """Evaluate a program text with the reference engine."""
    engine = ReferenceEngine(plan_text(text))
    engine.update({relation: Delta(rows) for relation, rows in facts.items()})
    return answers(engine)


def evaluate(program: Program) -> dict[str, frozenset[Row]]:
    """Evaluate a random program with the reference engine."""
    return reference_answers(str(program), program.facts)
