"""What a history looks at after a commit, and what else it does between two: as data, drawn at random.

What is read, when and how is a part of a history: an engine that puts work off does other things if a relation or a
change is read at once, later or never. Looks are data, so that a seed repeats them and `shrink` can leave them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

from tidelog.session.soak.draw.grow import Grower
from tidelog.session.soak.spec import Goal, Program

ReadingWay = Literal["rows", "unordered", "iterate", "count", "contains", "arrow", "held", "index"]
ChangeWay = Literal["rows", "sizes", "arrow"]
READING: tuple[ReadingWay, ...] = ("rows", "unordered", "iterate", "count", "contains", "arrow", "held", "index")
CHANGE: tuple[ChangeWay, ...] = ("rows", "rows", "sizes", "arrow")


@dataclass(frozen=True)
class Read:
    """Read a relation in some way. What is `held` is compared only when that many more commits were made."""

    relation: str
    way: ReadingWay
    later: int = 0

    def __str__(self) -> str:
        return f"read {self.relation} ({self.way}{f', compared {self.later} commits later' if self.later else ''})"


@dataclass(frozen=True)
class Inspect:
    """Look at what a commit changed: the last one, or one that many commits before it; in all relations, or in one."""

    ago: int
    way: ChangeWay
    relation: str | None = None

    def __str__(self) -> str:
        which = f"commit {self.ago} before the last" if self.ago else "last commit"
        return f"look at the changes of {self.relation or 'all relations'} in the {which} ({self.way})"


@dataclass(frozen=True)
class Verify:
    """Let the database verify itself."""

    def __str__(self) -> str:
        return "verify"


@dataclass(frozen=True)
class SetStrategy:
    """Go over to another strategy: the one with this number among those that the setting has, round and round."""

    choice: int

    def __str__(self) -> str:
        return f"follow by strategy number {self.choice}"


@dataclass(frozen=True)
class Ask:
    """Ask a goal, first `inside` the transaction before the commit or not; perhaps it is `watched` from then on."""

    goal: Goal
    inside: bool = False
    watched: bool = False

    def __str__(self) -> str:
        given = "".join(f", ${name} = {value!r}" for name, value in self.goal.given)
        also = " (also before the commit)" if self.inside else ""
        return f"{'watch' if self.watched else 'ask'} {self.goal}{given}{also}"


Look = Ask | Read | Inspect | Verify | SetStrategy


class Watcher:
    """Draws what one history looks at. Some watch everything, some nothing, most something."""

    def __init__(self, random: Random, program: Program) -> None:
        self._random = random
        self._names = [relation.name for relation in program.relations]
        self._reads, self._inspects, self._acts = (random.choice((0.0, 0.1, 0.3, 1.0)) for _ in range(3))
        # Goals have a source of their own, so that a seed's history is the same with them and without.
        self._asking = Random(str(program))  # noqa: S311  (a test needs no secrets)
        kinds = dict.fromkeys(kind for relation in program.relations for kind in relation.kinds)
        self._grower = Grower(self._asking, (*kinds,), None)
        self._relations = program.relations
        self._asks = self._asking.choice((0.0, 0.1, 0.3))

    def may(self, chance: float) -> bool:
        """Tell whether to do something beside committing."""
        return self._acts > 0 and self._random.random() < chance * (0.5 + self._acts)

    def previews(self) -> tuple[int, ...]:
        """Return after how many more commits each of some previews is looked at; 0 is before its own."""
        if not self.may(0.15):
            return ()
        return tuple(self._random.choice((0, 0, 1, 3)) for _ in range(self._random.choice((1, 1, 2))))

    def looks(self, number: int) -> tuple[Look, ...]:
        """Return what to look at after a commit of that number, in any order."""
        random = self._random
        found: list[Look] = [
            Read(name, way := random.choice(READING), random.randrange(4) if way == "held" else 0)
            for name in self._names
            if random.random() < self._reads
        ]
        if random.random() < self._inspects:
            found.append(Inspect(0, random.choice(CHANGE), random.choice((None, None, random.choice(self._names)))))
        if number and random.random() < self._inspects / 2:
            found.append(Inspect(random.randint(1, min(number, 5)), random.choice(CHANGE)))
        if self.may(0.04):
            found.append(Verify())
        if self.may(0.06):
            found.append(SetStrategy(random.randrange(100)))
        random.shuffle(found)
        return (*found, *self._goals())

    def _goals(self) -> list[Ask]:
        asking = self._asking
        if asking.random() >= self._asks:
            return []
        goals = [self._grower.goal(self._relations) for _ in range(asking.choice((1, 1, 3)))]
        return [Ask(goal, asking.random() < 0.2, asking.random() < 0.3) for goal in goals]

    def last(self, commits: int) -> tuple[Look, ...]:
        """Return what to look at in the end, beside all relations: mostly what all commits changed."""
        inspects = [Inspect(ago, "rows") for ago in range(commits) if self._random.random() < 0.8]
        self._random.shuffle(inspects)
        return (*inspects, *([Verify()] if self._random.random() < 0.3 else []))
