"""A workload: a program, a history of its facts, and where both came from. A seed names one.

`draw(seed)` gives the same workload for the same seed wherever it runs with the same version of numpy. The size is
drawn first, so that a run can pass over seeds whose workloads are too large for it without making them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.regret.changes import Step, draw_history
from benchmarks.regret.families import OVER_GRAPHS, Family
from benchmarks.regret.other_families import OTHERS

FAMILIES: Mapping[str, Family] = {**OVER_GRAPHS, **OTHERS}
WEIGHTS = {"reach from few": 2.0, "permissions": 2.0, "triples": 2.0, "wide": 1.5}
"""Families that are drawn more often than others: those that real programs are most like."""
NUMBERS = ("triples",)
"""Families whose programs have numbers for constants, so that their nodes are never text."""
SIZES = ((2, 3, 0.3), (3, 4, 0.35), (4, 5, 0.25), (5, 6, 0.1))
"""Powers of ten between which the number of facts is drawn, and how often."""
TEXT = 0.15
"""How often nodes are text."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A program with a history: the first step loads facts, the others change them."""

    name: str
    program: str
    steps: tuple[Step, ...]
    family: str
    graph: str
    text: bool = False

    @property
    def facts(self) -> int:
        """The number of facts that are loaded."""
        return self.steps[0].size

    def source(self) -> str:
        """Return the program with the type of its nodes."""
        return f"typedef node = {'string' if self.text else 'u32'}\n{self.program}"


def size_of(seed: int) -> int:
    """Return how many facts the workload of a seed should have."""
    random = np.random.default_rng(seed)
    low, high, _ = SIZES[int(random.choice(len(SIZES), p=[share for *_, share in SIZES]))]
    return int(10 ** random.uniform(low, high))


def draw(seed: int) -> Workload:
    """Return the workload that a seed names."""
    random = np.random.default_rng((seed, 1))
    weights = np.array([WEIGHTS.get(name, 1.0) for name in FAMILIES])
    family = list(FAMILIES)[int(random.choice(len(FAMILIES), p=weights / weights.sum()))]
    made = FAMILIES[family](random, size_of(seed))
    text = family not in NUMBERS and random.random() < TEXT
    steps = tuple(draw_history(random, made.facts))
    return Workload(f"seed {seed}", made.program, steps, family, made.graph + (", text" if text else ""), text)
