"""The state of a program in the tuples engine, and the leaf operations on it (`Backend`, `Iterations`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import field
from operator import itemgetter

from tidelog.base.record import record
from tidelog.base.tuning.plans import Tuples
from tidelog.plan.nodes import Aggregate, Plan, Project, Rule, Scan, Version
from tidelog.plan.rewrite.rederive import HEAD
from tidelog.run.base_store import Dividing
from tidelog.run.contract.engine import Delta, Row, Rows
from tidelog.run.contract.phase import Job, Phase, Support
from tidelog.run.limits import Watch
from tidelog.run.maintain.rounds import rederivation
from tidelog.run.phases import AFTER, BEFORE, DELETED, DYING, INSERTED, REMOVED, View, view_of
from tidelog.run.scalar.failure import ScalarError, failed
from tidelog.run.tuples.absorb import LINES, Bag, absorbed, released, started, unsupported
from tidelog.run.tuples.aggregate import aggregate
from tidelog.run.tuples.door import admitted, one_of_each_key
from tidelog.run.tuples.evaluator import Evaluator, Run
from tidelog.run.tuples.index import Columns
from tidelog.run.tuples.iterations import Schedule
from tidelog.run.tuples.probe import make_probe
from tidelog.run.tuples.relation import Find, Journal, Make, Part, Relation
from tidelog.run.tuples.relation import Support as Kept
from tidelog.run.tuples.scalars import Scalars

Bags = Mapping[str, Bag]


@record
class Equipment:
    """What an engine keeps from one update to the next besides its relations, and how it works."""

    evaluator: Evaluator
    make: Make
    support: Support
    pool: ThreadPoolExecutor | None
    scalars: Scalars
    divided: bool
    """Whether `elastic` looks for tuples that left with its filter divided by variable."""
    tuning: Tuples
    prepared: dict[int, tuple[Project, Run]] = field(default_factory=dict)
    """Trees made ready, by identity."""

    def prepare(self, tree: Project) -> Run:
        """Return a tree made ready for evaluation, once as long as not too many are kept."""
        known = self.prepared.get(id(tree))
        if known is None or known[0] is not tree:
            if len(self.prepared) >= self.tuning.prepared:
                self.prepared.clear()
            known = self.prepared[id(tree)] = tree, self.evaluator.prepare(tree, self.scalars)
        return known[1]


class Store(Dividing[Relation]):
    """Relations by name, and what is done to them in one update.

    The relations given are changed in place; journals can put back what they were.
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
        self.equipment = equipment
        self.journal = Journal()
        self.journals = [self.journal]
        self._schedule = Schedule()

    @property
    def support(self) -> Support:
        """What is kept of tuples."""
        return self.equipment.support

    def fresh(self, name: str) -> Relation:
        """Return an empty relation with the columns of the plan."""
        return Relation(name, [column.type for column in self.plan.relations[name].columns], self.equipment.make)

    def changeable(self, relation: Relation) -> Relation:
        """Return the relation itself: journals can put back what it was."""
        self.journal.change(relation)
        return relation

    # --- the backend's operations ------------------------------------------------------------------------------------

    def derive(self, jobs: Sequence[Job]) -> Bags:
        """Evaluate trees, each in a thread of its own if there is a pool; return for each head relation its bag."""
        pool = self.equipment.pool
        if pool is None or len(jobs) < 2:
            return self.unite([{rule.head: self._run(rule, tree, Seen(self, rule))} for rule, tree in jobs])
        running = [pool.submit(self._evaluate, rule, tree, Seen(self, rule)) for rule, tree in jobs]
        wait(running)
        return self.unite([{rule.head: self._count(e.result())} for (rule, _), e in zip(jobs, running, strict=True)])

    def _run(self, rule: Rule, tree: Project, seen: Seen) -> Bag:
        self.watch.rule = rule
        return self._count(self._evaluate(rule, tree, seen))

    def _evaluate(self, rule: Rule, tree: Project, seen: Seen) -> Bag:
        try:
            return self.equipment.prepare(tree)(seen)
        except ScalarError as failure:
            raise failed(failure, rule) from failure.error

    def _count(self, bag: Bag) -> Bag:
        self.derivations += len(bag)
        self.watch.spend(int(self.equipment.tuning.derivation) * len(bag))
        return bag

    def unite(self, bags: Sequence[Bags]) -> Bags:
        """Put bags of the same head relations together."""
        found: dict[str, Bag] = {}
        for one in bags:
            for name, bag in one.items():
                found[name] = found[name] + bag if name in found else bag
        return found

    def absorb(self, relations: Sequence[str], bags: Bags) -> None:
        """Let deltas become old; count support; make the new tuples the deltas."""
        for name in relations:
            target, boot = self.touch(name), self.phase is Phase.BOOT
            if boot:
                target.settle()
            else:
                target.insert()
            bag = bags.get(name)
            bound = self.bound(name)
            if bag and bound is not None:
                bag = admitted(target, bag, bound)
            if not bag:
                continue
            if self.support is Support.NONE:
                new = unsupported(target, bag, there=False)
            elif boot:
                new = started(target, bag, self.watch.round, self.support)
            else:
                new = absorbed(target, bag, self.journal, self.support)
            target.delta = target.part(new)
            self.watch.add_tuples(len(new))

    def release(self, relations: Sequence[str], bags: Bags) -> None:
        """Let deltas be removed; take derivations away; make the tuples that this removes the deltas."""
        for name in relations:
            target = self.touch(name)
            self._remove_delta(target)
            bag = bags.get(name)
            if not bag:
                continue
            if self.support is Support.NONE:
                lost = unsupported(target, bag, there=True)
            else:
                lost = released(target, bag, self.journal)
            target.mark(lost, DYING)
            target.delta = target.part(lost)

    @staticmethod
    def _remove_delta(target: Relation) -> None:
        rows = target.delta.rows
        if rows:
            target.mark(rows, REMOVED)
            target.gone |= rows
            target.delta = target.part()

    def removed(self, relation: str) -> int:
        """End the removal of tuples; those that may have derivations left are the view `deleted` then."""
        target = self.touch(relation)
        self._remove_delta(target)
        left = target.gone
        if self.support is not Support.NONE:
            left = {row for row in left if target.supports[row][-1] > 0}
        bound = self.bound(relation)
        if bound is not None:
            left = one_of_each_key(target.gone, bound)
        target.deleted = target.part(left)
        return len(left)

    def absent(self, bags: Bags) -> Bags:
        """Return the derivations whose heads are not there."""
        return {name: [one for one in bag if not self.relation(name).holds(one[0])] for name, bag in bags.items()}

    @property
    def leftovers(self) -> Store | None:
        """The store itself, where all derivations of a tuple are counted."""
        return self if LINES.get(self.support, 0) > 1 else None

    def left_over(self, relations: Collection[str]) -> Bags:
        """Return the derivations that removed tuples have left, all with the greatest rank there is."""
        rank = max(self.relation(name).highest for name in self.members)
        found: dict[str, Bag] = {}
        for name in relations:
            supports = self.relation(name).supports
            found[name] = [(row, rank) for row in self.relation(name).gone for _ in range(supports[row][-1])]
        return found

    def conclude(self, relation: str) -> None:
        """Let the delta become old, and let what did not come back be deleted."""
        target = self.touch(relation)
        self._merge(target)
        target.deleted = target.part(target.gone & target.marks.keys())
        target.gone = set()

    def changed(self, relation: str) -> tuple[int, int]:
        """Return how many tuples of a relation this update has deleted, and how many it has inserted."""
        found = self.touched.get(relation)
        return (0, 0) if found is None else (len(found.deleted.rows), len(found.inserted.rows))

    def count(self, relation: str) -> int:
        """Return the number of tuples of a relation."""
        return self.relation(relation).count()

    def has_delta(self, relation: str) -> bool:
        """Tell whether the delta of a relation has a tuple."""
        return bool(self.relation(relation).delta.rows)

    # --- following iterations ----------------------------------------------------------------------------------------

    @property
    def iterations(self) -> Store:
        """The store itself."""
        return self

    def schedule(self, relation: str, bag: Bag | None, sign: int) -> None:
        """Let derivations be lost or gained in the iterations they belong to."""
        if bag:
            self._schedule.add(self.touch(relation), bag, sign)

    def due(self, relations: Sequence[str]) -> int | None:
        """Return the first iteration for which there is something."""
        return self._schedule.due(relations)

    def advance(self, relation: str, iteration: int) -> None:
        """Let the delta become old; count what is due; make the tuples that leave their iteration the delta."""
        target = self.touch(relation)
        self._merge(target)
        self._schedule.begin(target, iteration, self.journal)

    def _merge(self, target: Relation) -> None:
        target.insert()
        self.watch.add_tuples(self._schedule.came(target))

    def turn(self, relation: str) -> int:
        """Remove the delta, and make what comes the delta; what is removed and does not come is the view `deleted`."""
        target = self.relation(relation)
        self._schedule.turn(target, self.journal)
        return len(target.deleted.rows)

    def rediscovery(self, rule: Rule) -> Project:
        """Return the tree that finds tuples that left again, as the user wants it."""
        return rederivation(rule, divided=self.equipment.divided)

    # --- what the driver of an update asks (`run.maintain.commit`) ----------------------------------------------------

    def change_facts(self, facts: Mapping[str, Delta]) -> None:
        """Insert and delete stored facts; what is both is inserted."""
        for name, change in facts.items():
            target, inserted = self.touch(name), set(change.inserted)
            gone = {row for row in set(change.deleted) - inserted if target.holds(row)}
            target.mark(gone, REMOVED)
            target.deleted = target.part(gone)
            target.inserted = target.part({row for row in inserted if not target.holds(row)})

    def fill(self, relation: str, facts: Relation) -> None:
        """Let an empty relation hold the tuples of another."""
        self.relations[relation].settled.add(facts.settled.rows)

    def contents(self, name: str, relation: Relation, view: View, plan: Plan) -> Rows:
        """Return the tuples that a view shows of a relation."""
        return frozenset(relation.rows(view))

    def finish(self) -> None:
        """Make the update final in every relation it touched."""
        for relation in self.touched.values():
            relation.finish(self.journal)

    # --- dropping work, and starting a stratum afresh ----------------------------------------------------------------

    def begin(self) -> None:
        """Remember this point of the update."""
        self.journal = Journal()
        self.journals.append(self.journal)
        self._begun = dict(self.relations), dict(self.touched)
        self._schedule = Schedule()

    def drop(self) -> None:
        """Undo what was done since `begin`: relations of a stratum are as they were before the update until then."""
        self.journal.undo()
        self.relations, self.touched = dict(self._begun[0]), dict(self._begun[1])

    def compare(self, relation: str) -> None:
        """Make the difference to what a relation held its net change."""
        old, new = self._aside.pop(relation), self.relations[relation]
        new.settle()
        new.differ(old.rows(AFTER))

    # --- aggregates --------------------------------------------------------------------------------------------------

    def regroup(self, rules: Sequence[Rule]) -> tuple[Bags, Bags]:
        """Evaluate the groups of aggregating rules that have changed, before and after; return the difference."""
        lost: list[Bags] = []
        gained: list[Bags] = []
        for rule in rules:
            tree = rule.full.tree
            step = tree.input
            assert isinstance(step, Aggregate), "plans keep aggregates in rules of their own"
            keys = self._changed_keys(step)
            before, after = (Counter(self._run(rule, tree, Seen(self, rule, view, keys))) for view in (BEFORE, AFTER))
            lost.append({rule.head: list((before - after).elements())})
            gained.append({rule.head: list((after - before).elements())})
        return self.unite(lost), self.unite(gained)

    def _changed_keys(self, step: Aggregate) -> set[Row]:
        """Return the keys of the groups in which something was deleted or inserted."""
        probe = make_probe(step.input.terms, ())
        key, agrees = probe.key(itemgetter), probe.agrees
        places = dict(probe.new)
        relation = self.relation(step.input.relation)
        return {
            tuple([row[places[each.name]] for each in step.keys])
            for view in (DELETED, INSERTED)
            for row in relation.finder(view, probe.columns)(key({}))
            if agrees is None or agrees(row)
        }


class Seen:
    """What a rule sees in the phase at work (`evaluator.Sight`), or of an aggregate some groups in one view."""

    def __init__(self, store: Store, rule: Rule, view: View | None = None, keys: Collection[Row] | None = None) -> None:
        self._store = store
        self._rule = rule
        self._view = view
        self._keys = keys
        self.tuning = store.equipment.tuning

    def finder(self, scan: Scan, columns: Columns, *, negated: bool = False) -> Find:
        """Return what finds the rows that a scan sees by the values of some columns."""
        store = self._store
        view = self._view or view_of(scan, self._rule, store.phase, store.members, negated=negated)
        return store.scanned(scan).finder(view, columns)

    def supports(self, scan: Scan) -> Mapping[Row, Kept] | None:
        """Return the support of the rows that a scan sees; in a bootstrap the round is the rank."""
        store = self._store
        if store.support is Support.NONE or store.phase is Phase.BOOT or scan.relation not in store.members:
            return None
        if scan.version is Version.PART or scan.occurrence == HEAD:
            return None  # what is looked for again is no premise of its derivations
        return store.relation(scan.relation).supports

    def groups(self, step: Aggregate, names: Sequence[str], keys: Collection[Row], columns: Columns) -> Find:
        """Return what finds the results of an aggregate by some of its columns."""
        if self._keys is not None:
            names, keys = [key.name for key in step.keys], self._keys
        finder = lambda bound: self.finder(step.input, bound)  # noqa: E731
        store = self._store
        part = Part([variable.type for variable in (*step.keys, step.result)], store.equipment.make)
        part.add(aggregate(step, names, keys, finder, store.equipment.scalars))
        return part.finder(columns)

    def look(self) -> None:
        """Look at the clock and the memory."""
        self._store.watch.look()
