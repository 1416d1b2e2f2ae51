"""Histories: which facts are loaded, and what comes and goes after that, from one fact to half of them.

A history keeps facts in reserve that it can insert: some of the family's own, which leaves gaps in its graph, or some
that are foreign to it (the columns of a relation drawn anew), or none, when only what was deleted comes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from benchmarks.regret.families import Facts
from benchmarks.regret.graphs import Edges, distinct

LARGEST = 0.5
"""The part of a relation's facts that a change has at most."""


@dataclass(frozen=True, slots=True)
class Step:
    """One commit: what is inserted and deleted, and the same in words."""

    what: str
    inserted: Facts = field(default_factory=dict)
    deleted: Facts = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of facts that change."""
        return sum(map(len, self.inserted.values())) + sum(map(len, self.deleted.values()))


def load(facts: Facts) -> Step:
    """Return the first commit, which loads facts."""
    return Step("load", facts)


class History:
    """Facts of some relations, of which some are present now; makes steps that let them come and go."""

    def __init__(self, random: np.random.Generator, facts: Facts, spare: Facts) -> None:
        self._random = random
        self._rows = {name: np.concatenate((rows, spare.get(name, rows[:0]))) for name, rows in facts.items()}
        self._present = {name: np.arange(len(self._rows[name])) < len(rows) for name, rows in facts.items()}

    @property
    def relations(self) -> list[str]:
        """The relations that have facts to come and go."""
        return list(self._rows)

    def count(self, relation: str, *, present: bool = True) -> int:
        """Return how many facts of a relation are present now, or are not."""
        return int((self._present[relation] == present).sum())

    def out(self, relation: str, count: int) -> Step:
        """Delete random facts."""
        chosen = self._choose(relation, count, present=True)
        self._present[relation][chosen] = False
        rows = self._rows[relation][chosen]
        return Step(f"-{len(rows):,} {relation}", deleted={relation: rows})

    def back(self, relation: str, count: int) -> Step:
        """Insert random facts that are absent."""
        chosen = self._choose(relation, count, present=False)
        self._present[relation][chosen] = True
        rows = self._rows[relation][chosen]
        return Step(f"+{len(rows):,} {relation}", inserted={relation: rows})

    def both(self, relation: str, count: int) -> Step:
        """Delete random facts, and insert others."""
        inserted = self._choose(relation, count // 2, present=False)
        gone = self.out(relation, count - len(inserted))
        self._present[relation][inserted] = True
        rows = self._rows[relation][inserted]
        return Step(f"{gone.what}, +{len(rows):,}", {relation: rows}, gone.deleted) if len(rows) else gone

    def _choose(self, relation: str, count: int, *, present: bool) -> Edges:
        (places,) = np.nonzero(self._present[relation] == present)
        return self._random.choice(places, min(count, len(places)), replace=False)


def draw_history(random: np.random.Generator, facts: Facts) -> list[Step]:
    """Return a load and some commits after it."""
    reserve = str(random.choice(("none", "own", "foreign")))
    loaded, spare = dict(facts), {}
    if reserve == "own":
        share = float(random.choice((0.02, 0.3)))
        for name, rows in facts.items():
            kept = random.random(len(rows)) >= share
            loaded[name], spare[name] = rows[kept], rows[~kept]
    elif reserve == "foreign":
        spare = {name: _foreign(random, rows) for name, rows in facts.items()}
    return [load(loaded), *_steps(random, History(random, loaded, spare))]


def _foreign(random: np.random.Generator, rows: Edges) -> Edges:
    """Return facts that a relation has not, made of the values its columns have."""
    count = min(len(rows), 20_000)
    if not count:
        return rows
    made = np.stack([random.choice(rows[:, column], count) for column in range(rows.shape[1])], axis=1)
    known = set(map(tuple, rows.tolist()))
    fresh = [row for row in map(tuple, distinct(made).tolist()) if row not in known]
    return np.array(fresh, np.int64).reshape(-1, rows.shape[1])


def _steps(random: np.random.Generator, history: History) -> Iterator[Step]:
    """Yield commits; some kinds are done again and again, as people do."""
    names = [name for name in history.relations if history.count(name)]
    sizes = np.array([history.count(name) for name in names], float)
    for _ in range(int(random.integers(2, 5))):
        relation = names[int(random.choice(len(names), p=(sizes + 1) / (sizes + 1).sum()))]
        most = max(1.0, LARGEST * history.count(relation))
        count = max(1, int(most ** random.random()))
        kind = str(random.choice(("out and back", "out", "back", "both")))
        for _ in range(int(random.choice((1, 1, 3)))):
            if kind in ("out", "out and back") or not history.count(relation, present=False):
                if history.count(relation):
                    yield history.out(relation, count)
            elif kind == "both":
                yield history.both(relation, count)
            if kind in ("back", "out and back") and history.count(relation, present=False):
                yield history.back(relation, count)
