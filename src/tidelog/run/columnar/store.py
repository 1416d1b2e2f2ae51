"""The state of a program in the columnar engine, and the leaf operations on it (`contract.Backend`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from threading import Lock

import numpy as np

from tidelog.plan.nodes import Plan, Project, Rule
from tidelog.run.base_store import Dividing
from tidelog.run.columnar.arrays.table import Words
from tidelog.run.columnar.closures.closed import Closed
from tidelog.run.columnar.equipment import Equipment
from tidelog.run.columnar.facts import change_facts
from tidelog.run.columnar.kernels.ranks import level, lowest_of
from tidelog.run.columnar.machine import small_rounds
from tidelog.run.columnar.machine.kernels.operands import UNCOUNTED
from tidelog.run.columnar.rules.bindings import Table
from tidelog.run.columnar.rules.evaluate import Bag, Pipeline
from tidelog.run.columnar.rules.head_bitmap import Knowledge
from tidelog.run.columnar.rules.join_plan import Course
from tidelog.run.columnar.rules.semijoin import Filters
from tidelog.run.columnar.storage.batch import Batch, Journal, merge
from tidelog.run.columnar.storage.relation import Relation, Where
from tidelog.run.columnar.storage.rows import decoded
from tidelog.run.columnar.support.absorb import absorbed, first_found, fresh, gather, released, settled
from tidelog.run.columnar.support.cost import COMPARED, COUNTED, FIRST, SIFTED, SUPPORTED, UPDATE, Weights, weights
from tidelog.run.columnar.support.iterations import Schedule
from tidelog.run.columnar.support.lifting import lift, lifts, note
from tidelog.run.columnar.support.regroup import regroup
from tidelog.run.contract.engine import Delta, Rows
from tidelog.run.contract.phase import Job, Phase, Support
from tidelog.run.limits import OverBudgetError, RuleRun, Watch, analysis
from tidelog.run.maintain.rounds import rederivation
from tidelog.run.phases import AFTER, DELETED, DYING, REMOVED, View
from tidelog.run.scalar.failure import ScalarError, failed
from tidelog.run.threads import helpers, share

Bags = Mapping[str, Sequence[Bag]]


class Store(Dividing[Relation]):
    """Relations by name, and what is done to them in one update.

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
        self._divided = equipment.divided
        self._bare = equipment.bare
        self.closed: dict[str, Closed] = {}
        """The structures of relations that are closures, as far as this update changes them."""
        self.journal = Journal()
        self.journals = [self.journal]
        self._doubts: dict[str, Words] = {}
        self._schedule = Schedule()
        self._counting = Lock()
        self.filters = Filters()
        self.known = Knowledge()
        self._later = UPDATE
        self.pause, self.delay = 0, int(self.tuning.small_rounds.pause)
        """How many rounds are not tried as small ones, and how many will not be if the next try is in vain."""

    @property
    def ranked(self) -> bool:
        """Whether derivations carry ranks in this phase; in a bootstrap the round is the rank."""
        return self.support is not Support.NONE and self.phase is not Phase.BOOT

    def counts(self, relation: Relation) -> bool:
        """Tell whether it matters how often a tuple of a relation is derived now."""
        return relation.support is not Support.NONE and (relation.counted or self.phase is not Phase.BOOT)

    @property
    def _weights(self) -> Weights:
        return FIRST if self.phase is Phase.BOOT and self.watch.round == 1 else self._later

    def fresh(self, name: str) -> Relation:
        """Return an empty relation with the columns of the plan."""
        types = [column.type for column in self.plan.relations[name].columns]
        support = Support.NONE if name in self._bare else self.support
        made = Relation(name, types, self.arrays, support=support)
        made.planned = partial(self.orders.planned, name, self.plan)
        return made

    def changeable(self, relation: Relation) -> Relation:
        """Return a copy: the relations given remain as they were."""
        return relation.copy()

    # --- the backend's operations ------------------------------------------------------------------------------------

    def enter(self, phase: Phase, members: frozenset[str]) -> None:
        """Begin a phase of work on the stratum of these relations."""
        between_rounds = Phase.COUNT in (phase, self.phase)
        super().enter(phase, members)
        relations = map(self.relation, members)
        self._later = weights(phase, counted=any(self.counts(one) and one.lines > 1 for one in relations))
        self.filters = Filters()
        self.known = Knowledge()
        if not between_rounds:
            self.pause, self.delay = 0, int(self.tuning.small_rounds.pause)

    def derive(self, jobs: Sequence[Job]) -> Bags:
        """Evaluate trees; return for each head relation its bags."""
        self.known.check(self.relation)
        courses = [(rule, self.orders.best(rule, tree, self.relation)) for rule, tree in jobs]
        if analysis.get() is not None:
            bags = [self._analysed(rule, course) for rule, course in courses]
        elif self._are_large(jobs):
            bags = share(helpers.get(), lambda rule, course: self.run(Pipeline(rule, course, self)), courses)
        else:
            bags = [self.run(Pipeline(rule, course, self)) for rule, course in courses]
        found: dict[str, list[Bag]] = {}
        for (rule, _), made in zip(courses, bags, strict=True):
            found.setdefault(rule.head, []).extend(made)
        return found

    def visit(self, rule: Rule, tree: Project, take: Callable[[Bag], None]) -> None:
        """Evaluate a tree and hand on its bags as they are made, perhaps by several threads."""
        self.run(Pipeline(rule, self.orders.best(rule, tree, self.relation), self, take))

    def _are_large(self, jobs: Sequence[Job]) -> bool:
        """Tell whether it is worth to evaluate rules side by side: when a delta is large."""
        if len(jobs) == 1 or helpers.get() is None:
            return False
        deltas = (self.relation(name).main.delta for name in self.members)
        least = self.tuning.threads.rules_from
        return any(delta is not None and delta.size >= least for delta in deltas)

    def _analysed(self, rule: Rule, course: Course) -> list[Bag]:
        """Evaluate a course and note its work."""
        estimated, notes = self.orders.estimate(course, self.relation), analysis.get()
        start, before = time.perf_counter(), self.derivations
        made = self.run(Pipeline(rule, course, self))
        found, seconds = self.derivations - before, time.perf_counter() - start
        assert notes is not None
        notes.append(RuleRun(rule.identity, self.watch.round, estimated, found, seconds))
        return made

    def run(self, pipeline: Pipeline, table: Table | None = None) -> list[Bag]:
        """Return the bags of a pipeline, perhaps only of its last step, on bindings that have passed the others."""
        self.watch.rule = pipeline.rule
        try:
            bags = pipeline.run() if table is None else pipeline.finish(table)
        except ScalarError as failure:
            raise failed(failure, pipeline.rule) from failure.error
        with self._counting:
            self.derivations += pipeline.derivations
        return bags

    def spend_on_matches(self, count: int, sifted: int = 0) -> None:
        """Count the work on rows that a join has matched, and on those that were left out at once."""
        with self._counting:
            self.watch.spend(count * self._weights.match + sifted * SIFTED)

    def unite(self, bags: Sequence[Bags]) -> Bags:
        """Put bags of the same head relations together."""
        found: dict[str, list[Bag]] = {}
        for one in bags:
            for name, parts in one.items():
                found.setdefault(name, []).extend(parts)
        return found

    def absorb(self, relations: Sequence[str], bags: Bags) -> None:
        """Let deltas become old; count support; make the new tuples the deltas. Much of it is done side by side."""
        self._side_by_side(self._absorb, relations, bags)

    def release(self, relations: Sequence[str], bags: Bags) -> None:
        """Let deltas be removed; take derivations away; make the tuples that this removes the deltas."""
        self._side_by_side(self._release, relations, bags)

    def _side_by_side(self, what: Callable[..., None], relations: Sequence[str], bags: Bags) -> None:
        least = self.tuning.threads.rules_from
        much = [name for name in relations if sum(bag.rows.shape[1] for bag in bags.get(name, ())) >= least]
        # In a bootstrap they share what is known of heads, and sorting is shared anyway.
        pool = helpers.get() if self.phase is not Phase.BOOT and len(much) > 1 else None
        share(pool, what, [(name, bags.get(name)) for name in relations])

    def _absorb(self, relation: str, bag: Sequence[Bag] | None) -> None:
        target = self.touch(relation)
        boot = self.phase is Phase.BOOT
        if boot:
            target.settle()
        else:
            self.insert_delta(target)
        if not bag:
            return
        counted = self.counts(target)
        new = self.known.sifted(target, bag, counted=counted)
        found = gather(target, bag if new is None else new)
        if counted:
            if boot:
                delta = first_found(target, found, self.watch.round, all_new=new is not None)
            else:
                delta = absorbed(target, found, self.journal)
        else:
            rows = found.rows if new is not None else fresh(target, found)
            delta = Batch(rows) if target.support is Support.NONE else Batch(rows, level(self.watch.round))
        target.set_delta(delta)
        if boot and counted:
            self._judge(target, delta, bag)
        target.highest = max(target.highest, delta.highest())
        with self._counting:
            self.watch.add_tuples(delta.size)
            self.watch.spend(self._weights.round + delta.size * self._weights.added)

    def _judge(self, target: Relation, delta: Batch, bag: Sequence[Bag]) -> None:
        """After a round of a bootstrap, give counting all derivations up where they are many more than the tuples.

        Those of tuples that are there already need not be found then (`known`); there are up to fifty times as many as
        derivations that support a tuple. Tuples that are removed have to be looked for (`left_over`).
        """
        if target.lines < 2:
            self.known.learn(target, delta.rows)
            return
        target.derived += sum(one.rows.shape[1] if one.times is None else int(one.times.sum()) for one in bag)
        thresholds = self.tuning.counting
        if target.support is not Support.RANKED or target.derived <= thresholds.surveyed:
            return
        if target.derived > thresholds.often * target.count():
            target.lines, self._later = 1, SUPPORTED
            # Updates are held against what an evaluation takes that does not count: it would have left most out.
            self.watch.spend((target.count() - target.derived) * (COUNTED.match - SIFTED))
            for batch in (*target.main.settled, delta):
                assert batch.counts is not None
                batch.counts = batch.counts[:1].copy()

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

    def _release(self, relation: str, bag: Sequence[Bag] | None) -> None:
        target = self.touch(relation)
        self._remove_delta(target)
        if not bag:
            return
        lost, where, doubtful = released(target, gather(target, bag), self.journal)
        self._lose(target, lost, where)
        if doubtful.shape[1]:
            self._doubts[relation] = doubtful

    def _lose(self, target: Relation, lost: Batch, where: Where) -> None:
        target.take_away(lost.rows, DYING, self.journal, where)
        target.set_delta(lost)
        with self._counting:
            self.watch.spend(self._weights.round + lost.size * self._weights.removed)

    @property
    def lazy(self) -> Store:
        """The store itself."""
        return self

    def doubtful(self) -> Collection[str]:
        """Make tuples that may have lost their support the view `deleted`; return whose relations they are."""
        doubts, self._doubts = self._doubts, {}
        for relation, rows in doubts.items():
            self.relation(relation).set_deleted(rows)
        return doubts.keys()

    def settle(self, relations: Collection[str], bags: Bags) -> None:
        """Count what doubtful tuples have left; those without support join the delta."""
        for relation in relations:
            target, bag = self.relation(relation), bags.get(relation)
            lost, where, ranks = settled(target, gather(target, bag) if bag else None, self.journal)
            delta = target.main.delta
            assert delta is not None
            self._lose(target, lost, where)
            target.set_delta(merge(delta, lost, self.arrays))
            note(target, ranks)

    def lift(self) -> Collection[str]:
        """Let tuples of the deltas that may stand just above their rank hold again, and be the view `deleted`."""
        members = [self.relation(name) for name in self.members]
        lowest = lowest_of(member.lowest for member in members)
        return [member.name for member in members if lifts(member) and lift(member, lowest, self.journal)]

    def count(self, relation: str) -> int:
        """Return the number of tuples of a relation."""
        return self.relation(relation).count()

    def counted(self, relation: str) -> bool:
        """Tell whether the support of all tuples of a relation is known."""
        return self.relation(relation).counted

    def _remove_delta(self, target: Relation) -> None:
        delta = target.main.delta
        assert delta is not None
        if delta.size:
            target.remove_dying(self.journal)
            target.set_delta(target.nothing())

    def removed(self, relation: str) -> int:
        """End the removal of tuples; those that may have derivations left are the view `deleted` then."""
        target = self.touch(relation)
        self._remove_delta(target)
        rows = target.removed(derived=True)
        target.set_deleted(rows)
        return int(rows.shape[1])

    @property
    def leftovers(self) -> Store:
        """The store itself."""
        return self

    def left_over(self, relations: Collection[str]) -> Bags:
        """Return the derivations that removed tuples have left, all with the greatest rank there is."""
        relations = [name for name in relations if self.relation(name).lines > 1]
        if not relations:
            return {}
        rank = max(self.relation(name).highest for name in self.members)
        if rank > self.tuning.counting.highest_rank:
            # tuples that come back do so above all others; from scratch ranks begin from 1
            raise OverBudgetError("ranks had become too great")
        return {name: [self._left_over(self.relation(name), rank)] for name in relations}

    def _left_over(self, target: Relation, rank: int) -> Bag:
        rows, times = target.left_over()
        return Bag(target.layout, rows, np.full(len(times), rank, np.int32), times)

    def conclude(self, relation: str) -> None:
        """Let the delta become old, and let what did not come back be deleted."""
        target = self.touch(relation)
        self.insert_delta(target)
        target.set_deleted(target.removed())

    def changed(self, relation: str) -> tuple[int, int]:
        """Return how many tuples of a relation this update has deleted, and how many it has inserted."""
        found = self.touched.get(relation)
        if found is None:
            return 0, 0
        main = found.main
        return main.deleted.size if main.deleted is not None else 0, sum(batch.size for batch in main.inserted)

    @property
    def batched(self) -> Store:
        """The store itself."""
        return self

    def start(self, phase: Phase, rules: Sequence[Rule], bags: Bags, most: int) -> int | None:
        """Enter a phase, release or absorb bags in it and go on for rounds, if they are few; None: nothing."""
        return small_rounds.begin_small(self, phase, rules, bags, most)

    def go_on(self, rules: Sequence[Rule], most: int) -> int:
        """Do rounds at once while they are small; return how many were done."""
        return small_rounds.small_rounds(self, rules, most)

    def has_delta(self, relation: str) -> bool:
        """Tell whether the delta of a relation has a tuple."""
        delta = self.relation(relation).main.delta
        return delta is not None and delta.size > 0

    @property
    def iterations(self) -> Store:
        """The store itself."""
        return self

    def schedule(self, relation: str, bag: Sequence[Bag] | None, sign: int) -> None:
        """Let derivations be lost or gained in the iterations they belong to."""
        if bag:
            self._schedule.add(self.touch(relation), bag, sign)

    def due(self, relations: Sequence[str]) -> int | None:
        """Return the first iteration for which there is something."""
        return self._schedule.due(relations)

    def advance(self, relation: str, iteration: int) -> None:
        """Let the delta become old; count what is due; make the tuples that leave their iteration the delta."""
        target = self.touch(relation)
        self.insert_delta(target)
        leaving = self._schedule.settle(target, iteration, self.journal)
        if leaving is not None:
            target.take_away(leaving.rows, DYING, self.journal)
            target.set_delta(leaving)
            self.watch.spend(leaving.size * self._weights.removed)
        self.watch.spend(2 * self._weights.round)  # one for what leaves, one for what comes

    def turn(self, relation: str) -> int:
        """Remove the delta, and make what comes the delta; what is removed and does not come is the view `deleted`."""
        target = self.touch(relation)
        coming = self._schedule.coming(target)
        assert target.main.delta is not None
        gone = self.arrays(coming.size).without(target.main.delta.rows.copy(), coming.rows)
        self._remove_delta(target)
        target.set_deleted(gone)
        target.set_delta(coming)
        self.watch.add_tuples(coming.size)
        self.watch.spend(coming.size * self._weights.added)
        return int(gone.shape[1])

    def rediscovery(self, rule: Rule) -> Project:
        """Return the tree that finds tuples that left again: as the user wants it, or that expects less work."""
        whole = rederivation(rule)
        if self._divided is False:
            return whole
        thresholds = self.tuning.counting
        if self._divided is None and self._deletions(self.relation(rule.head)) < thresholds.divide_from:
            return whole
        divided = rederivation(rule, divided=True)
        worth = self._divided or thresholds.divide_worth * self._work(rule, divided) < self._work(rule, whole)
        return divided if worth else whole

    def _work(self, rule: Rule, tree: Project) -> float:
        course = self.orders.best(rule, tree, self.relation)
        return self._deletions(self.scanned(course.scans[0])) * self.orders.work(course, self.relation)

    @staticmethod
    def _deletions(relation: Relation) -> int:
        return sum(batch.size for batch, _ in relation.batches(relation.main, DELETED))

    # --- dropping work, and starting a stratum afresh ----------------------------------------------------------------

    def begin(self) -> None:
        """Remember this point of the update."""
        self.journal = Journal()
        self.journals.append(self.journal)
        self._begun = dict(self.relations), dict(self.touched)
        self._doubts = {}
        self._schedule = Schedule()

    def drop(self) -> None:
        """Undo what was done since `begin`."""
        self.journal.undo()
        self.relations, self.touched = dict(self._begun[0]), dict(self._begun[1])

    def leave_uncounted(self, relation: str) -> None:
        """Let the bootstrap of a relation, just reset, give tuples their ranks only."""
        old, new = self._aside[relation], self.relations[relation]
        if new.support is Support.RANKED:
            new.counted, new.lines = False, old.lines

    def compare(self, relation: str) -> None:
        """Make the difference to what a relation held its net change."""
        old, new = self._aside.pop(relation), self.relations[relation]
        new.settle()
        self.watch.spend(new.count() * COMPARED)  # also if there is nothing to compare with: there will be next time
        if old.count():
            before = gather(new, [Bag(old.layout, old.rows(AFTER))]).rows  # first, as it may change the layout of `new`
            new.differ(before)
        else:
            new.all_is_new()
        if new.support is Support.RANKED and not new.counted:
            for batch in (*new.main.settled, *new.main.inserted):
                batch.counts = new.counts(batch.size, UNCOUNTED) if batch.counts is None else batch.counts

    # --- what the driver of an update asks (`run.maintain.commit`) ----------------------------------------------------

    def change_facts(self, facts: Mapping[str, Delta]) -> None:
        """Insert and delete stored facts."""
        for name, change in facts.items():
            change_facts(self.touch(name), change, self.codec, self.journal)

    def fill(self, relation: str, facts: Relation) -> None:
        """Let an empty relation hold the tuples of another."""
        target = self.relations[relation]
        target.set_delta(target.stated(gather(target, [Bag(facts.layout, facts.rows())]).rows))
        target.settle()

    def contents(self, name: str, relation: Relation, view: View, plan: Plan) -> Rows:
        """Return the tuples that a view shows of a relation, decoded when they are looked at."""
        if relation.is_empty(view):
            return ()
        columns = [column.name for column in plan.relations[name].columns]
        return decoded(relation, relation.gathered(view, bare=True), columns, self.codec)

    def finish(self) -> None:
        """Make the update final in every relation it touched."""
        for relation in self.touched.values():
            relation.finish(self.journal)

    def regroup(self, rules: Sequence[Rule]) -> tuple[Bags, Bags]:
        """Evaluate the groups of aggregating rules that have changed: derivations lost, and gained."""
        return regroup(self, rules)
