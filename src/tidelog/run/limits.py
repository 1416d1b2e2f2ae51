"""Watching an evaluation: it stops with an error that names the stratum and rule at work when it exceeds its limits.

Whoever called may look on (`observer`): how far the evaluation is, a few times a second, and remarks.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Self

from tidelog.base.errors import LimitError
from tidelog.base.process.meter import Meter
from tidelog.base.record import record
from tidelog.plan.nodes import Rule, Stratum, shown
from tidelog.run.contract.engine import NO_LIMITS, Limits


@record
class Progress:
    """How far an evaluation is; a `remark` stands for itself."""

    relations: tuple[str, ...] = ()
    round: int = 0
    tuples: int = 0
    seconds: float = 0.0
    remark: str = ""
    strategy: str = ""


observer: ContextVar[Callable[[Progress], None] | None] = ContextVar("observer", default=None)
"""Who follows the progress of evaluations in this context."""


@record
class RuleRun:
    """One evaluation of one rule: in which round, the derivations expected and found, and the time it took."""

    rule: str
    round: int
    estimated: float
    derivations: int
    seconds: float


analysis: ContextVar[list[RuleRun] | None] = ContextVar("analysis", default=None)
"""Where engines note each evaluation of a rule in this context, if anybody wants to know."""

MANY = 1 << 40
"""As many rounds as one likes."""
INTERVAL = 0.2
"""Seconds between two reports."""


def tell(remark: str) -> None:
    """Give the observer a remark, if there is one."""
    told = observer.get()
    if told is not None:
        told(Progress(remark=remark))


class OverBudgetError(Exception):
    """An update is to be dropped for an evaluation from scratch: for what it says, or as it takes too much work."""


def _nothing() -> float:
    return 0.0


class Watch(Meter):
    """Counts rounds and tuples and looks at the clock and the memory of one update.

    It is the current meter within its `with` block.
    """

    def __init__(self, limits: Limits = NO_LIMITS) -> None:
        super().__init__(limits.seconds, limits.memory)
        self._limits = limits
        self._tuples = 0
        self._observer = observer.get()
        self._start = self._told = time.monotonic()
        self.round = 0
        self.spent: float = 0.0
        """Work so far, in units of the engine's."""
        self.saved: float = 0.0
        """How much less the updates of strata so far have taken than evaluating them from scratch does."""
        self.budget: float = math.inf
        """How much work the update of the stratum may still take."""
        self.less: Callable[[], float] = _nothing
        """By how much that is less by now, asked between rounds: an update may leave less to evaluate from scratch."""
        self.patience: float = math.inf
        """When it is given up, by `time.perf_counter`."""
        self.strategy = ""
        """How the stratum at work is brought up to date, for reports."""
        self.stratum: Stratum | None = None
        self.rule: Rule | None = None
        self.walked = 0
        """Edges walked and words written so far by what is evaluated on graphs: they count like derivations."""
        self._watching: Token[Watch | None] | None = None

    def __enter__(self) -> Self:
        self._watching = watching.set(self)
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        if self._watching is not None:
            watching.reset(self._watching)

    def restart(self) -> None:
        """Count from nothing, for another attempt at the same update; its time goes on."""
        self._tuples, self.round, self.spent, self.saved = 0, 0, 0.0, 0.0
        self.unbind()
        self.strategy, self.stratum, self.rule = "", None, None

    def unbind(self) -> None:
        """Let work take what it takes: no update is to be given up."""
        self.budget = self.patience = math.inf
        self.less = _nothing

    def begin_round(self, stratum: Stratum, number: int) -> None:
        """Note the stratum, and count its rounds."""
        self.stratum, self.rule, self.round = stratum, None, number
        if self.budget < self.less():
            raise OverBudgetError
        if self._limits.rounds is not None and number > self._limits.rounds:
            raise self.error(f"more than {self._limits.rounds} rounds")
        self.look()

    def rounds_left(self) -> int:
        """Return how many rounds there may be, the present one included."""
        return MANY if self._limits.rounds is None else self._limits.rounds - self.round + 1

    def limits_left(self) -> Limits:
        """Return the bounds on what is left of the update, for whoever takes a part of it elsewhere."""
        rounds = None if self._limits.rounds is None else max(0, self.rounds_left())
        return Limits(rounds=rounds, tuples=self.tuples_left(), seconds=self.seconds_left(), memory=self._limits.memory)

    def add_tuples(self, count: int) -> None:
        """Count tuples that became true."""
        self._tuples += count
        if self._limits.tuples is not None and self._tuples > self._limits.tuples:
            raise self.error(f"more than {self._limits.tuples} new tuples")

    def tuples_left(self) -> int | None:
        """Return how many tuples may still become true; None if there is no limit."""
        return None if self._limits.tuples is None else max(0, self._limits.tuples - self._tuples)

    @property
    def tuples(self) -> int:
        """How many tuples became true so far."""
        return self._tuples

    def forget_tuples(self, before: int) -> None:
        """Go back to an earlier count: what was found since is dropped, and will be found again."""
        self._tuples = before

    def expect_tuples(self, count: int) -> None:
        """Refuse to go on if this many tuples, found but not yet counted, are too many already."""
        self.add_tuples(count)
        self._tuples -= count

    def spend(self, work: float) -> None:
        """Count work, also against the budget of the stratum's update."""
        self.spent += work
        self.budget -= work
        if self.budget < 0:
            raise OverBudgetError

    def walk(self, steps: int, work: float) -> None:
        """Count steps on a graph, and their work, also against the budget of the stratum's update."""
        self.walked += steps
        self.spend(work)

    def look(self) -> None:
        """Look at the clock and at the memory, and report."""
        if self.patience < math.inf and time.perf_counter() > self.patience:
            raise OverBudgetError
        if self._observer is not None and time.monotonic() - self._told > INTERVAL:
            self._told = time.monotonic()
            relations = shown(self.stratum.relations) if self.stratum else ()
            seconds = self._told - self._start
            self._observer(Progress(relations, self.round, self._tuples, seconds, strategy=self.strategy))
        super().look()

    def error(self, excess: str) -> LimitError:
        """Return the error that names the stratum and the rule at work."""
        relations = ", ".join(shown(self.stratum.relations)) if self.stratum else ""
        place = f"stratum {self.stratum.number} ({relations})" if self.stratum else "evaluation"
        rule = f"\n  in the rule {self.rule.origin.quoted}" if self.rule else ""
        return LimitError(f"{place} took {excess}{rule}")


watching: ContextVar[Watch | None] = ContextVar("watching", default=None)
"""The watch of the update at work."""
