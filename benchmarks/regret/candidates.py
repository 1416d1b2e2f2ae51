"""Who is measured: the default, and every strategy of every engine that runs in this process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tidelog.session.engines import DEFAULT_ENGINE, ENGINES, EngineName, StrategyName

IN_PROCESS: tuple[EngineName, ...] = ("columnar", "tuples", "reference")
FIRST = ("recompute", "ranked", "dred", "modular")
"""Strategies that are often the best: they go first, since the best so far decides how long others may go on."""


@dataclass(frozen=True, order=True, slots=True)
class Candidate:
    """An engine and a strategy."""

    engine: EngineName
    strategy: StrategyName

    def __str__(self) -> str:
        return f"{self.engine} {self.strategy}"

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of a `Database`; the default takes none."""
        return {} if self == DEFAULT else {"engine": self.engine, "strategy": self.strategy}


DEFAULT = Candidate(DEFAULT_ENGINE, "auto")
RECOMPUTE = Candidate(DEFAULT_ENGINE, "recompute")


def alternatives() -> list[Candidate]:
    """Return everyone but the default, those first that are often the best."""
    found = [Candidate(engine, strategy) for engine in IN_PROCESS for strategy in ENGINES[engine].strategies]
    order = {strategy: place for place, strategy in enumerate(FIRST)}

    def place(candidate: Candidate) -> tuple[int, int]:
        return order.get(candidate.strategy, len(order)), IN_PROCESS.index(candidate.engine)

    # What `auto` does on the reference engine is to recompute: there is nothing else it could do.
    same = Candidate("reference", "auto")
    return sorted((one for one in found if one not in (DEFAULT, same)), key=place)
