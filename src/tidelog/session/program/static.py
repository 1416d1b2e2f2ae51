"""What can be done with a program without running it: check, format, plan."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tidelog.base.diagnostic import Diagnostic, Report
from tidelog.base.errors import ProgramError
from tidelog.base.extern import Externs
from tidelog.base.span import Source
from tidelog.lang.format.format import format_module
from tidelog.lang.parse.parse import parse
from tidelog.logic.passes import analyse
from tidelog.plan import nodes
from tidelog.plan.closures.decompose import show_ways
from tidelog.plan.passes import plan_program
from tidelog.plan.show.dot import show_dot
from tidelog.plan.show.dred import show_dred
from tidelog.plan.show.json import show_json
from tidelog.plan.show.mermaid import show_mermaid
from tidelog.plan.show.text import show_text
from tidelog.run.dbsp.show import show_kit
from tidelog.session.engines import StrategyName


def check_program(source: Source, library: Sequence[Path] = (), externs: Externs | None = None) -> list[Diagnostic]:
    """Return all mistakes and warnings of a program, by position.

    >>> [d.code for d in check_program(Source("a.dl", "relation R(x: u8)  R(x) :- Q(x)."))]
    ['E0201']
    """
    report = Report()
    program = analyse(source, report, library=library, externs=externs)
    if program is not None:
        plan_program(program, report)
    return report.sorted()


PLAN_FORMATS = ("text", "dot", "mermaid", "json")
"""The methods of a `Plan` that write all of it."""
PLAN_STRATEGIES: tuple[StrategyName, ...] = (
    "auto",
    "ranked",
    "dred",
    "dred-c",
    "elastic",
    "modular",
    "dbsp",
    "recompute",
)


class Plan:
    """How a program is computed: its strata, and for each rule the joins from scratch and for each change."""

    def __init__(self, plan: nodes.Plan) -> None:
        self._plan = plan

    def text(self, strategy: StrategyName = "auto") -> str:
        """Return what a strategy evaluates: rules from scratch alone, their deltas too, or programs of its own."""
        match strategy:
            case "recompute":
                return show_text(self._plan, variants=False)
            case "dred":
                return show_dred(self._plan)
            case "dbsp":
                return show_kit(self._plan)
            case _:
                return show_text(self._plan)

    def dot(self) -> str:
        """Return the plan as a graph for Graphviz."""
        return show_dot(self._plan)

    def mermaid(self) -> str:
        """Return the plan as a graph for Mermaid."""
        return show_mermaid(self._plan)

    def json(self) -> str:
        """Return the plan as JSON."""
        return show_json(self._plan)

    def on_cluster(self) -> str:
        """Return how each stratum will run on a cluster.

        >>> text = "input relation E(a: u8, b: u8)  relation T(a: u8, b: u8)  T(1, 1).  T(x, z) :- T(x, y), E(y, z)."
        >>> print(Plan(plan_source(Source("t.dl", text))).on_cluster().splitlines()[0])
        stratum 0: T decomposes by a: one job, E everywhere
        """
        return show_ways(self._plan)

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def __repr__(self) -> str:
        rules = sum(len(stratum.rules) for stratum in self._plan.strata)
        return f"<Plan strata={len(self._plan.strata)} rules={rules}>"


def plan_source(source: Source, library: Sequence[Path] = (), externs: Externs | None = None) -> nodes.Plan:
    """Return the plan of a program; raise `ProgramError` with all its mistakes."""
    report = Report()
    program = analyse(source, report, library=library, externs=externs)
    plan = plan_program(program, report) if program is not None else None
    if plan is None:
        raise ProgramError(report.errors)
    return plan


def format_source(source: Source) -> str:
    """Return a program's text in the canonical layout, with its comments; raise `ProgramError` if it does not parse.

    >>> print(format_source(Source("a.dl", "relation R(x:u8)R(1):-R(2).")), end="")
    relation R(x: u8)
    R(1) :- R(2).
    """
    report = Report()
    module = parse(source, report)
    if report.errors:
        raise ProgramError(report.errors)
    return format_module(module)
