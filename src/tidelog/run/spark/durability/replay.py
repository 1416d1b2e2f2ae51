"""Later rounds of a recursion by the physical plan of an earlier one.

To analyse, optimise and plan a query takes Spark longer than to run a small round, and from its third round on a linear
recursion asks the same question of other rows: the delta, and what is known. So the plan is kept as a `Template`. Its
scans of these rows are exchanged; Spark's own `withNewChildren` copies the nodes above them, and everything else, such
as what was sent to all executors, serves again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from tidelog.run.contract.phase import Job
from tidelog.run.spark.frames.checkpoint import Asked, Kept, Part, are_alike, java_of
from tidelog.run.spark.frames.relation import Relation
from tidelog.run.spark.rules.absorb import Told

Slot = tuple[str, str]
"""What differs from round to round: a relation, and which rows of it: its delta, or all that are known."""
_DELTA, _KNOWN = "delta", "known"


class Again(dict[str, DataFrame]):
    """The derivations of a round whose plan is known: no queries, but what is asked by templates."""

    def __init__(self, templates: Mapping[str, tuple[Template, Told]], deltas: Mapping[Slot, Kept]) -> None:
        super().__init__()
        self.templates = templates
        self._deltas = deltas

    def asked(self, known: Mapping[str, Kept | None]) -> list[tuple[Asked, Told]]:
        """Return the questions to ask, given what is known of each relation."""
        rows = dict(self._deltas)
        for name, kept in known.items():
            assert kept is not None, "parts were alike when this was made"
            rows[name, _KNOWN] = kept
        return [(template.over(rows), told) for template, told in self.templates.values()]


class Replays:
    """The plans of the rounds of a bootstrap, by the trees that were evaluated in them."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], dict[str, tuple[Template, Told]]] = {}
        self._at: tuple[int, ...] | None = None
        """The round that is being asked for, if its plan may serve again."""
        self._reads: set[tuple[str, Slot]] = set()
        """Which head that round finds by which delta."""

    def again(self, jobs: Sequence[Job], members: frozenset[str], held: Callable[[str], Relation]) -> Again | None:
        """Return how a round is asked for by the plan of an earlier one, if there is one for the same jobs."""
        reads = [(rule.head, (name, _DELTA)) for rule, _ in jobs for name in rule.reads if name in members]
        self._at = tuple(id(tree) for _, tree in jobs) if len(reads) == len(jobs) else None  # linear rules read one
        self._reads = set(reads)
        templates = self._known.get(self._at) if self._at is not None else None
        if not templates:
            return None
        deltas: dict[Slot, Kept] = {}
        for template, _ in templates.values():
            for slot, place in template.needs.items():
                parts = _rows(held(slot[0]), slot)
                if not parts or not are_alike(parts) or parts[0].kept is None or parts[0].kept.place != place:
                    return None
                deltas[slot] = parts[0].kept
        return Again(templates, deltas)

    def remember(
        self, asked: Mapping[str, tuple[Asked, Told]], deltas: Mapping[str, Part], known: Mapping[str, Kept | None]
    ) -> None:
        """Keep the plans of a round, if all that differs in the next one is found in them."""
        if self._at is None or self._at in self._known:
            return
        slots = {part.kept.rdd.id(): ((name, _DELTA), part.kept.place) for name, part in deltas.items() if part.kept}
        wanted = {kept.rdd.id(): ((name, _KNOWN), kept.place) for name, kept in known.items() if kept is not None}
        if len(wanted) < len(asked) or wanted.keys() & slots.keys():
            return  # too early: nothing but the delta is known yet
        self._known[self._at] = {}
        try:
            made = {name: (Template(one, slots | wanted), told) for name, (one, told) in asked.items()}
        except (Py4JError, AttributeError, LookupError):  # a version of Spark with other plans: slower, but right
            return
        needed = [*self._reads, *((name, (name, _KNOWN)) for name in made)]
        found = all(slot in made[head][0].needs for head, slot in needed if head in made)
        if found and all(template.is_steady for template, _ in made.values()):
            self._known[self._at] = made


def _rows(relation: Relation, slot: Slot) -> Sequence[Part]:
    """Return the rows of a slot: the delta, or what is known once the delta is."""
    delta = (relation.delta,) if relation.delta.count else ()
    return delta if slot[1] == _DELTA else (*relation.settled, *delta)


@dataclass(slots=True)
class _Node:
    """A node of the plan; one that `changes` is above a scan that is exchanged, or is one itself."""

    java: Any
    children: list[_Node]
    changes: bool
    slot: Slot | None = None
    arguments: tuple[Any, ...] = ()
    counts: bool = False
    reused: int | None = None
    """For a node that uses the output of another, which shuffles: the number of that."""


class Template:
    """The plan of a question, with places for the rows that differ from round to round."""

    def __init__(self, asked: Asked, slots: Mapping[int, tuple[Slot, str]]) -> None:
        """Take the plan of a question; `slots`, and how their rows are placed, are by the RDDs that this round read."""
        self._asked = asked
        self._slots = slots
        self._shuffles: dict[int, _Node] = {}
        self.needs: dict[Slot, str] = {}
        """What the plan reads that differs, and how it is placed."""
        self.is_steady = True
        """Whether nothing that differs is sent to all executors: who knows how much it will be."""
        self._root = self._read(asked.frame._jdf.queryExecution().executedPlan())  # noqa: SLF001

    def _read(self, java: Any) -> _Node:
        several = java.children()
        children = [self._read(several.apply(number)) for number in range(several.size())]
        kind = java.getClass().getSimpleName()
        node = _Node(java, children, any(child.changes for child in children))
        if kind == "RDDScanExec" and (found := self._slots.get(java.rdd().id())) is not None:
            slot, self.needs[slot] = found
            node.slot, node.changes = slot, True
            node.arguments = tuple(java.productElement(number) for number in range(java.productArity()))
        elif kind == "ReusedExchangeExec":
            node.reused, node.arguments = java.child().id(), (java.output(),)
            node.changes = self._shuffles[node.reused].changes
        elif kind in ("ShuffleExchangeExec", "BroadcastExchangeExec"):
            self._shuffles[java.id()] = node
            self.is_steady = self.is_steady and not (kind == "BroadcastExchangeExec" and node.changes)
        node.counts = kind == "CollectMetricsExec"
        return node

    def over(self, rows: Mapping[Slot, Kept]) -> Asked:
        """Return the same question of other rows."""
        session = self._asked.frame.sparkSession
        with _active(session):
            made = _Copy(java_of(session), rows, self._shuffles)
            plan = made.copied(self._root)
            found = Kept(plan.execute(), plan.output(), plan.outputPartitioning(), "", session)
        return Asked(found.frame, self._asked.names, made.metrics.collectedMetrics)


class _Copy:
    """A copy of a plan, over other rows."""

    def __init__(self, java: Any, rows: Mapping[Slot, Kept], shuffles: Mapping[int, _Node]) -> None:
        self._java = java
        self._rows = rows
        self._shuffles = shuffles
        self._made: dict[int, Any] = {}
        self.metrics: Any = None
        """The node that counts."""

    def copied(self, node: _Node) -> Any:
        """Return a node as it is if nothing below it changes, otherwise a copy."""
        if not node.changes:
            return node.java
        if node.slot is not None:
            output, _, *others = node.arguments
            return self._java.rdd_scan(output, self._rows[node.slot].rdd, *others)
        if node.reused is not None:
            return self._java.reused(*node.arguments, self.copied(self._shuffles[node.reused]))
        found = self._made.get(id(node))
        if found is None:
            children = [self.copied(child) for child in node.children]
            found = self._made[id(node)] = node.java.withNewChildren(self._java.sequence(children))
            if node.counts:
                self.metrics = found
        return found


@contextmanager
def _active(session: SparkSession) -> Iterator[None]:
    """Within the block, what Spark makes belongs to a session."""
    sessions = java_of(session).sessions
    before = sessions.getActiveSession()
    sessions.setActiveSession(session._jsparkSession)  # noqa: SLF001
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()
