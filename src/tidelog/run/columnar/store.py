"""The state of a program in one update of the columnar engine: relations, phase, journals, work.

Evaluating rules (`rules.deriving`), taking what they derive (`support`), and the backend made of both (`backend`) stand
on it: they add operations, and it knows none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from threading import Lock

import numpy as np

from tidelog.plan.nodes import Plan
from tidelog.run.base_store import Dividing
from tidelog.run.columnar.cost import CHECKED, FIRST, GROUPED, SIFTED, UPDATE, Weights, weights
from tidelog.run.columnar.equipment import Equipment
from tidelog.run.columnar.rules.head_bitmaps import HeadBitmaps
from tidelog.run.columnar.rules.semijoin import Filters
from tidelog.run.columnar.storage.batch import Journal
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.contract.phase import Phase, Support
from tidelog.run.limits import Watch
from tidelog.run.phases import REMOVED


class Store(Dividing[Relation]):
    """Relations by name, and what all who work on them in one update share.

    A relation is copied before its first change (`touched`), so that the relations given remain as they were, except
    for the marks, ranks and counts that the journals put back.
    """

    def __init__(
        self,
        plan: Plan,
        equipment: Equipment,
        relations: dict[str, Relation],
        before: Mapping[str, Relation],
        watch: Watch,
    ) -> None:
        super().__init__(plan, relations, before, watch)
        self.tools = equipment.tools
        self.tuning, self.arrays = self.tools.tuning, self.tools.arrays
        self.codec = equipment.codec
        self.scalars = equipment.scalars
        self.orders = equipment.orders
        self.support = equipment.support
        self.divided = equipment.divided
        self.closing = equipment.closing
        self.bare = set(equipment.bare)
        self.modules = equipment.modules
        self.doors = frozenset(name for name, relation in plan.relations.items() if relation.bound is not None)
        """The relations of bounds."""
        self.journals: list[Journal] = []
        self.counting = Lock()
        """Held by whoever counts work: rules may be evaluated side by side."""
        self.filters = Filters()
        self.bitmaps = HeadBitmaps(self.doors)
        self.later = UPDATE
        """What operations cost after the first round."""
        self.begin()

    @property
    def ranked(self) -> bool:
        """Whether derivations carry ranks in this phase; in a bootstrap the round is the rank."""
        return self.support is not Support.NONE and self.phase is not Phase.BOOT

    def counts(self, relation: Relation) -> bool:
        """Tell whether it matters how often a tuple of a relation is derived now."""
        return relation.support is not Support.NONE and (relation.counted or self.phase is not Phase.BOOT)

    @property
    def weights(self) -> Weights:
        """What operations cost now."""
        return FIRST if self.phase is Phase.BOOT and self.watch.round == 1 else self.later

    def fresh(self, name: str) -> Relation:
        """Return an empty relation with the columns of the plan."""
        types = [column.type for column in self.plan.relations[name].columns]
        support = Support.NONE if name in self.bare else self.support
        made = Relation(name, types, self.arrays, support=support)
        made.planned = partial(self.orders.planned, name, self.plan)
        return made

    def changeable(self, relation: Relation) -> Relation:
        """Return a copy: the relations given remain as they were."""
        return relation.copy()

    def enter(self, phase: Phase, members: frozenset[str]) -> None:
        """Begin a phase of work on the stratum of these relations."""
        super().enter(phase, members)
        relations = map(self.relation, members if phase is Phase.BOOT else ())
        self.later = weights(phase, counted=any(self.counts(one) and one.lines > 1 for one in relations))
        self.filters = Filters()
        self.bitmaps = HeadBitmaps(self.doors)

    def spend_on_rule(self, times: int = 1) -> None:
        """Count what evaluating a rule costs besides its rows."""
        with self.counting:
            self.watch.spend(times * self.weights.rule)

    def spend_on_matches(self, count: int, sifted: int = 0) -> None:
        """Count the work on rows that a join has matched, and on those that were left out at once."""
        with self.counting:
            self.watch.spend(count * self.weights.match + sifted * SIFTED)

    def spend_on_checks(self, count: int) -> None:
        """Count the work on bindings that must not be in a relation."""
        with self.counting:
            self.watch.spend(count * CHECKED)

    def spend_on_groups(self, count: int) -> None:
        """Count the work on tuples that groups have."""
        with self.counting:
            self.watch.spend(count * GROUPED)

    def insert_delta(self, target: Relation) -> None:
        """Let removed tuples that came back hold again, and keep the others as inserted."""
        delta = target.main.delta
        assert delta is not None
        if delta.size and target.main.removed:
            back = np.zeros(delta.size, bool)
            for _, places, _ in target.locate(target.main, delta.rows, REMOVED):
                back[places] = True
            if back.any():
                target.rerank(delta.taken(back), self.journal)
                target.set_delta(delta.taken(~back))
        target.insert()

    def remove_delta(self, target: Relation) -> None:
        """End the removal of the delta."""
        delta = target.main.delta
        assert delta is not None
        if delta.size:
            target.remove_dying(self.journal)
            target.set_delta(target.nothing())

    def count(self, relation: str) -> int:
        """Return the number of tuples of a relation."""
        return self.relation(relation).count()

    def changed(self, relation: str) -> tuple[int, int]:
        """Return how many tuples of a relation this update has deleted, and how many it has inserted."""
        found = self.touched.get(relation)
        if found is None:
            return 0, 0
        main = found.main
        return main.deleted.size if main.deleted is not None else 0, sum(batch.size for batch in main.inserted)

    def has_delta(self, relation: str) -> bool:
        """Tell whether the delta of a relation has a tuple."""
        delta = self.relation(relation).main.delta
        return delta is not None and delta.size > 0

    def begin(self) -> None:
        """Remember this point of the update."""
        self.journal = Journal()
        self.journals.append(self.journal)
        self._begun = dict(self.relations), dict(self.touched)

    def drop(self) -> None:
        """Undo what was done since `begin`."""
        self.journal.undo()
        self.relations, self.touched = dict(self._begun[0]), dict(self._begun[1])
