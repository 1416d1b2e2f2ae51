"""Strata evaluated in one step instead of round by round: closures (`plan.closures.recognise`), by `run.closure`.

Same generation (`plan.closures.same_generation`) is, too, where it need not follow changes, unless it has too many
values.

A closure along steps may be one of few sources. Then its rules find it in less time than it takes to number the nodes
of all steps, and updates cost what the change does, not what the graph does. So where little is fed its rules are tried
first, for as long as they cost less than numbering would; if they end within that, it stays with them (`tried`).

A relation that is a closure has no support: its tuples are what its structure says (`closed`). Where it is to follow
changes, the structure is kept from one update to the next. Then the tuples that are fed and the steps that come and go
change a few of its rows, and the difference is the change of the relation. What feeds a closure has a relation of its
own, unless it is copied from another (`plan.closures.split_closures`); changes of its rules are changes of that
relation.
"""

from __future__ import annotations

import time
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

import numpy as np

from tidelog.plan.closures.merge_equals import merge_equals
from tidelog.plan.closures.recognise import Closure, Form, closure_of
from tidelog.plan.closures.same_generation import same_generation
from tidelog.plan.closures.split_closures import Wanted, split_closures
from tidelog.plan.closures.split_modules import ClosureRule, split_modules
from tidelog.plan.closures.split_parts import split_parts
from tidelog.plan.nodes import Plan, Stratum, as_before
from tidelog.run.columnar.arrays.table import Words
from tidelog.run.columnar.backend import ColumnarBackend
from tidelog.run.columnar.closures.closed import Closed, Shape, Steps, closed
from tidelog.run.columnar.closures.fed import all_fed, columns_of, step
from tidelog.run.columnar.closures.generations import generate
from tidelog.run.columnar.closures.paired import CodeColumns
from tidelog.run.columnar.closures.price import by_rules, owed
from tidelog.run.columnar.storage.batch import Batch
from tidelog.run.columnar.storage.layout import range_of
from tidelog.run.columnar.storage.lazy import LazyBatch
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.columnar.storage.rows import pack_columns
from tidelog.run.contract.engine import Work
from tidelog.run.contract.phase import Phase, Support
from tidelog.run.limits import MANY, OverBudgetError, Watch
from tidelog.run.maintain.rounds import gain, lose, reads_change
from tidelog.run.maintain.seminaive import bootstrap
from tidelog.run.phases import AFTER, DELETED, INSERTED, View

HOW = "closure"
"""The name of this strategy in profiles."""


class Claims:
    """The strata of one plan that are closures, as far as they are wanted. `lasting` if they follow changes.

    With `modules`, closures that are fed from their own strata are modules of these (`plan.closures.split_modules`).
    """

    def __init__(
        self, given: Plan, wanted: Wanted, *, lasting: bool, modules: bool = False, earlier: Claims | None = None
    ) -> None:
        self.given = given
        self.lasting = lasting
        before = earlier.plan if earlier is not None else None
        self.plan: Plan = merge_equals(given, wanted, before) if modules else given
        if lasting:
            self.plan = split_closures(self.plan, wanted, before)
        if modules:
            self.plan = split_modules(split_parts(self.plan, wanted, before), wanted, before)
        if before is not None and self.plan is not given:
            self.plan = replace(self.plan, strata=as_before(self.plan.strata, before.strata))
        self.modules = frozenset(r.head for s in self.plan.strata for r in s.rules if isinstance(r, ClosureRule))
        """The relations that closures among other rules make."""
        found = ((stratum, closure_of(stratum)) for stratum in self.plan.strata if wanted(stratum, self.plan))
        self._closures = {stratum.relations[0]: closure for stratum, closure in found if closure is not None}
        others = ((s, same_generation(s)) for s in self.plan.strata if wanted(s, self.plan))
        self._generations = {stratum.relations[0]: one for stratum, one in others if one is not None}
        self.relations = frozenset(self._closures if lasting else (*self._closures, *self._generations))
        """The relations that have structures of their own."""

    def claims(self, stratum: Stratum) -> bool:
        """Tell whether a stratum is a closure or same generation, and is to be evaluated as such."""
        return stratum.relations[0] in self.relations

    def may_generate(self, stratum: Stratum) -> bool:
        """Tell whether a stratum is same generation, which rules follow until that is given up."""
        return self.lasting and stratum.relations[0] in self._generations

    def regenerate(self, store: ColumnarBackend, stratum: Stratum, watch: Watch) -> int:
        """Evaluate same generation as such where its rules have followed changes in vain; it has no support then."""
        name = stratum.relations[0]
        store.bare.add(name)
        store.touched[name] = store.relations[name] = store.fresh(name)
        return self.evaluate({}, store, stratum, watch)

    def evaluate(
        self, kept: dict[str, Closed], store: ColumnarBackend, stratum: Stratum, watch: Watch, *, again: bool = False
    ) -> int:
        """Evaluate a closure, or same generation, from scratch, and keep it; return the number of rounds.

        `again` if its rules followed changes until now, in vain: then it keeps its structure for longer.
        """
        name, walked = stratum.relations[0], watch.walked
        watch.begin_round(stratum, 1)
        store.enter(Phase.BOOT, frozenset(stratum.relations))
        target = store.touch(name)
        others: CodeColumns = {}
        if name in self._generations:
            generated = generate(store, self._generations[name])
            if generated is None:
                if self.lasting:
                    _let_rules(store, name)
                return bootstrap(store, stratum, watch)
            found = generated
        else:
            closure = self._closures[name]
            fed = all_fed(store, name, closure.feeds)
            rounds = tried(store, stratum, closure, fed, watch)
            if rounds is not None:
                kept.pop(name, None)
                return rounds
            target = store.touch(name)
            made, others = close(store, closure, fed, lasting=self.lasting)
            if self.lasting:
                kept[name] = replace(made, owed=-by_rules(made)) if again else made
            found = made.tuples
        watch.look()
        store.derivations += watch.walked - walked
        watch.add_tuples(found.pairs.size)
        target.admit(found.ranges(target.arity))
        if any(len(codes) for codes in others.values()):
            target.admit([range_of(codes) for codes in others.values()])
            target.set_delta(Batch(_packed(others, target)))
            target.settle()
        target.hold(found.batch(target.layout), found.ranges(target.arity))
        return 1

    def follow(self, kept: dict[str, Closed], store: ColumnarBackend, stratum: Stratum, watch: Watch) -> Work | None:
        """Bring a closure that is kept and whose rules have not changed up to date; None if nothing reaches it."""
        closure = self._closures[stratum.relations[0]]
        before = kept[closure.relation]
        if not any(reads_change(store, rule) for rule in stratum.rules):
            return None
        start, spent, walked, paid = time.perf_counter(), store.derivations, watch.walked, watch.spent
        watch.begin_round(stratum, 1)
        target = store.touch(closure.relation)
        bags = lose(store, stratum, closure.feeds, ())[0], gain(store, stratum, closure.feeds, ())
        fed = [columns_of(found.get(closure.relation, ()), target.arity) for found in bags]
        (lost, others_lost), (gained, others_gained) = (_divided(before.shape, columns) for columns in fed)
        steps = [_steps(store, closure, before.shape, view) for view in (DELETED, INSERTED)]
        after, deleted, inserted = before.change(lost, gained, *steps)
        watch.look()
        watch.add_tuples(inserted.size)
        changed_steps = sum(len(sources) for view in steps for sources, _ in view)
        after = replace(after, owed=owed(before, after, watch.spent - paid, (deleted, inserted), changed_steps))
        kept[closure.relation] = after
        graph, thresholds = after.held.graph, store.tuning.closures
        if thresholds.nodes_spare + int(thresholds.nodes_for_edge) * graph.edges < graph.nodes:
            # Values that no tuple has any more are nodes without edges: numbered anew, they are gone.
            fed_now = all_fed(store, closure.relation, closure.feeds)
            kept[closure.relation] = close(store, closure, fed_now, lasting=self.lasting)[0]
        tuples = after.tuples
        target.admit(tuples.ranges(target.arity))
        if before.shape.constants:
            target.admit([range_of(codes) for codes in others_gained.values()])
            gone, new = (
                _merged(tuples.write(pairs, target.layout), _packed(others, target))
                for pairs, others in ((deleted, others_lost), (inserted, others_gained))
            )
            target.exchange(Batch(gone), Batch(new), store.journal)
        else:
            gone_lazy, new_lazy = (
                LazyBatch(pairs.size, lambda pairs=pairs: tuples.write(pairs, target.layout))  # type: ignore[misc]
                for pairs in (deleted, inserted)
            )
            ranges = tuples.ranges(target.arity)
            target.exchange(gone_lazy, new_lazy, store.journal, (tuples.batch(target.layout), ranges))
        store.derivations += watch.walked - walked
        used = store.derivations - spent
        return Work(stratum.number, stratum.relations, HOW, "", 1, used, time.perf_counter() - start)

    def evaluate_by_rules(self, kept: dict[str, Closed], store: ColumnarBackend, stratum: Stratum, watch: Watch) -> int:
        """Evaluate a closure by its rules, which are to follow changes from now on; return the number of rounds."""
        name = stratum.relations[0]
        _let_rules(store, name)
        kept.pop(name, None)
        return bootstrap(store, stratum, watch)

    def gives_way(self, closed: Closed, relation: str, store: ColumnarBackend) -> bool:
        """Tell whether a closure that is kept has cost so much that its rules are to follow changes from now on."""
        thresholds, along = store.tuning.closures, _along(self._closures[relation], store)
        small = closed.pairs.size <= thresholds.rows
        dear = thresholds.owed * by_rules(closed) <= closed.owed
        return along and small and dear and store.watch.rounds_left() >= MANY

    def check(self, store: ColumnarBackend, held: Container[str]) -> Iterable[str]:
        """Yield which of the closures held differ from those evaluated from scratch."""
        for name, closure in self._closures.items():
            if name not in held:
                continue
            store.enter(Phase.LOSE, frozenset((name,)))
            target = store.relation(name)
            again, others = close(store, closure, all_fed(store, name, closure.feeds), lasting=self.lasting)
            found = again.tuples
            target.admit(found.ranges(target.arity))
            rows = _merged(found.write(found.pairs, target.layout), _packed(others, target))
            held = target.rows()
            if held.shape != rows.shape or (held != rows).any() or target.count() != held.shape[1]:
                yield f"{name}: {held.shape[1]} tuples are held, the closure has {rows.shape[1]}"


def tried(store: ColumnarBackend, stratum: Stratum, closure: Closure, fed: CodeColumns, watch: Watch) -> int | None:
    """Evaluate a closure by its rules, if it is fed little and they take little; return the rounds, or None."""
    thresholds, steps = store.tuning.closures, sum(store.relation(scan.relation).count() for scan in closure.steps)
    if not _along(closure, store) or thresholds.few * len(fed[0]) > steps or watch.rounds_left() < MANY:
        return None
    name, tuples = closure.relation, watch.tuples
    _let_rules(store, name)
    watch.budget = float(thresholds.tried) * steps
    try:
        return bootstrap(store, stratum, watch)
    except OverBudgetError:
        store.bare.add(name)
        store.touched[name] = store.relations[name] = store.fresh(name)
        store.enter(Phase.BOOT, frozenset(stratum.relations))
        watch.forget_tuples(tuples)
        return None
    finally:
        watch.unbind()


def _let_rules(store: ColumnarBackend, name: str) -> None:
    """Let a closure's relation, just reset, have the support that its rules need."""
    store.bare.discard(name)
    store.touched[name] = store.relations[name] = store.fresh(name)


def _along(closure: Closure, store: ColumnarBackend) -> bool:
    """Tell whether a closure's rules go along steps, so that they may do in its place."""
    return closure.form is not Form.NONLINEAR and not closure.exact and store.support is not Support.COUNTED


def close(store: ColumnarBackend, closure: Closure, fed: CodeColumns, *, lasting: bool) -> tuple[Closed, CodeColumns]:
    """Return the closure of what it is fed, and the tuples fed that are not of it for their constants."""
    shape = Shape.of(closure, store.codec)
    fed, others = _divided(shape, fed)
    return closed(shape, fed, _steps(store, closure, shape, AFTER), store.tools, lasting=lasting), others


def _divided(shape: Shape, columns: CodeColumns) -> tuple[CodeColumns, CodeColumns]:
    """Return the tuples that have the constants of a closure, and the others."""
    fits = shape.fits(columns)
    if fits.all():
        return columns, {column: codes[:0] for column, codes in columns.items()}
    one, other = ({c: codes[chosen] for c, codes in columns.items()} for chosen in (fits, ~fits))
    return one, other


def _packed(columns: Mapping[int, Words], target: Relation) -> Words:
    return pack_columns([list(columns.values())], (), target)


def _merged(one: Words, other: Words) -> Words:
    rows = np.concatenate((one, other), axis=1)
    return np.ascontiguousarray(rows[:, np.lexsort(rows[::-1])]) if other.shape[1] else one


def _steps(store: ColumnarBackend, closure: Closure, shape: Shape, view: View) -> Steps:
    """Return the steps of a closure that are not what is fed, as a view shows them."""
    if not shape.own:
        return []
    scans = zip(closure.steps, closure.step_columns, strict=True)
    return [step(store, scan, columns, view) for scan, columns in scans]


def explained(work: Work | None, reason: str, *, by_rules: bool) -> Work | None:
    """Return what was done, as that of a closure evaluated from scratch for a reason."""
    if work is None or by_rules:
        return None if work is None else replace(work, reason=f"{reason}; its rules took less than a closure")
    return replace(work, strategy=HOW, reason=reason)
