"""What an evaluation spent on each rule: derivations expected and found, rounds, time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from tidelog.base.record import record
from tidelog.run.limits import RuleRun, analysis


@record
class RuleCost:
    """All evaluations of one rule."""

    rule: str
    runs: tuple[RuleRun, ...]

    @property
    def rounds(self) -> int:
        """In how many rounds it was evaluated."""
        return len({run.round for run in self.runs})

    @property
    def estimated(self) -> float:
        """The derivations expected."""
        return sum(run.estimated for run in self.runs)

    @property
    def derivations(self) -> int:
        """The derivations found."""
        return sum(run.derivations for run in self.runs)

    @property
    def seconds(self) -> float:
        """The time spent."""
        return sum(run.seconds for run in self.runs)


@contextmanager
def analyzing() -> Iterator[list[RuleRun]]:
    """Within the block, collect every evaluation of a rule in this thread (the columnar engine tells them).

    >>> from tidelog import Database
    >>> with analyzing() as runs:
    ...     db = Database("relation R(x: u8)  R(1).  R(x + 1) :- R(x), x < 4.")
    >>> [(cost.rule, cost.derivations) for cost in rule_costs(runs)]
    [('R(1).', 1), ('R(x + 1) :- R(x), x < 4.', 3)]
    """
    runs: list[RuleRun] = []
    token = analysis.set(runs)
    try:
        yield runs
    finally:
        analysis.reset(token)


def rule_costs(runs: Sequence[RuleRun]) -> list[RuleCost]:
    """Return the costs of each rule, in order of first evaluation."""
    by_rule: dict[str, list[RuleRun]] = {}
    for run in runs:
        by_rule.setdefault(run.rule, []).append(run)
    return [RuleCost(rule, tuple(found)) for rule, found in by_rule.items()]


def show_costs(costs: Sequence[RuleCost], *, by_round: bool = False) -> str:
    """Write the costs as a table, the dearest rule first."""
    lines = [f"{'time':>10}  {'derivations':>13}  {'estimated':>13}  {'rounds':>6}  rule"]
    for cost in sorted(costs, key=lambda cost: -cost.seconds):
        text = " ".join(cost.rule.split())
        lines.append(_line(cost.seconds, cost.derivations, cost.estimated, str(cost.rounds), text))
        if by_round:
            lines += [_line(r.seconds, r.derivations, r.estimated, f"#{r.round}", "") for r in cost.runs]
    return "\n".join(lines) + "\n"


def costs_as_json(costs: Sequence[RuleCost]) -> list[dict[str, Any]]:
    """Return the costs for programs: for each rule its text and its evaluations."""
    return [{"rule": cost.rule, "runs": [asdict(run) for run in cost.runs]} for cost in costs]


def _line(seconds: float, derivations: int, estimated: float, rounds: str, rule: str) -> str:
    return f"{seconds * 1000:>7.1f} ms  {derivations:>13,}  {estimated:>13,.0f}  {rounds:>6}  {rule}".rstrip()
