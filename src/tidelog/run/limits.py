"""Watching an evaluation: it stops with an error that names the stratum and rule at work when it exceeds its limits."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path

from tidelog.base.errors import LimitError
from tidelog.plan.nodes import Rule, Stratum
from tidelog.run.contract import NO_LIMITS, Limits


class OverBudgetError(Exception):
    """An update takes more work than evaluating the stratum from scratch may be worth."""


class Watch:
    """Counts rounds and tuples and looks at the clock and the memory of one update."""

    def __init__(self, limits: Limits = NO_LIMITS) -> None:
        self._limits = limits
        self._end = None if limits.seconds is None else time.monotonic() + limits.seconds
        self._tuples = 0
        self.round = 0
        self.budget: float = math.inf
        """How many derivations the update of the stratum may still take."""
        self.stratum: Stratum | None = None
        self.rule: Rule | None = None

    def begin_round(self, stratum: Stratum, number: int) -> None:
        """Note the stratum, and count its rounds."""
        self.stratum, self.rule, self.round = stratum, None, number
        if self._limits.rounds is not None and number > self._limits.rounds:
            raise self._error(f"more than {self._limits.rounds} rounds")
        self.look()

    def add_tuples(self, count: int) -> None:
        """Count tuples that became true."""
        self._tuples += count
        if self._limits.tuples is not None and self._tuples > self._limits.tuples:
            raise self._error(f"more than {self._limits.tuples} new tuples")

    def derived(self, count: int) -> None:
        """Count derivations against the work budget of the stratum."""
        self.budget -= count
        if self.budget < 0:
            raise OverBudgetError

    def look(self) -> None:
        """Look at the clock and at the memory."""
        if self._end is not None and time.monotonic() > self._end:
            raise self._error(f"more than {self._limits.seconds} seconds")
        if self._limits.memory is not None and memory_in_use() > self._limits.memory:
            raise self._error(f"more than {self._limits.memory} bytes of memory")

    def _error(self, excess: str) -> LimitError:
        relations = ", ".join(self.stratum.relations) if self.stratum else ""
        place = f"stratum {self.stratum.number} ({relations})" if self.stratum else "evaluation"
        rule = f"\n  in the rule `{self.rule.origin.text}` ({self.rule.origin.span})" if self.rule else ""
        return LimitError(f"{place} took {excess}{rule}")


def memory_in_use() -> int:
    """Return the bytes of memory this process holds now, or 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
