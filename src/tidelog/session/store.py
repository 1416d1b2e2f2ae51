"""The state behind a database: an engine, what was committed, and the locks around both.

One transaction is open at a time; other threads wait for it. What readers see is always one whole commit: the engine
works under a lock that a read takes too, and what was read is kept until a commit changes it, so reading it again
waits for nobody.

Commits are crash-only: first what can undo the change is noted (`Unfinished`), then the engine changes, then a single
assignment, of `_state`, makes it visible. Whatever interrupts that, at whatever line, be it while undoing: whoever uses
the engine next, in whatever thread, first undoes what was not made visible (`Use`). No lock outlives who took it
(`base.process.lock`).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, Unpack

from tidelog.base.arguments import expect
from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import DataError, UserError
from tidelog.base.plain.plain import Plain
from tidelog.base.process.lock import Hold, Lock
from tidelog.base.process.meter import ask, within
from tidelog.base.text.write import show_row
from tidelog.base.tuning.table import DEFAULT
from tidelog.base.values import Value
from tidelog.logic.check.check_goal import GOAL
from tidelog.plan.nodes import EMPTY_PLAN, Plan, Relation
from tidelog.plan.rewrite.separate_facts import stored_in
from tidelog.run.contract.columns import ValueColumns
from tidelog.run.contract.engine import NO_LIMITS, Delta, Engine, Fallback, Limits, Lookups, Row, Rows, Update, Work
from tidelog.session.changes import Change, Changes, Commit, check_known
from tidelog.session.engines import EngineName, Options, StrategyName, make_engine
from tidelog.session.facts.keys import Keys, key_function, shower
from tidelog.session.facts.passing import owing, passed, visible, weighted
from tidelog.session.facts.pending import Pending, PendingCopies, PendingFacts, PendingKeyed, copies
from tidelog.session.facts.reading import Reading
from tidelog.session.frames.rows import GivenRows
from tidelog.session.live_goals import IDLE, LiveGoals, Watched, goals_in_use
from tidelog.session.program.rules import RuleBase
from tidelog.session.queries.answers import Answers
from tidelog.session.queries.goal import Goal, Goals, Selection, stand
from tidelog.session.queries.index import Index
from tidelog.session.queries.tables import Tables
from tidelog.session.state import Outcome, State, Unfinished, Use, VerificationError, asking, follow, kept, live_changes
from tidelog.session.subscriptions import Subscriptions

Found = TypeVar("Found")
ROW_BYTES = 100
"""Bytes that a row takes as a Python tuple, at least."""


class Store:
    """An engine and its committed state. Made and opened by a database, and used by its views and transactions."""

    def __init__(
        self,
        rules: RuleBase,
        engine: EngineName | None,
        strategy: StrategyName,
        spark: Any = None,
        fallback: Fallback | None = None,
        **options: Unpack[Options],
    ) -> None:
        self._new_engine: Callable[[StrategyName, Fallback | None], Engine] = lambda strategy, fallback: make_engine(
            engine, EMPTY_PLAN, strategy, spark, fallback=fallback, **options
        )
        self.tuning = options.get("tuning", DEFAULT)
        self._state = State(0, rules, self._new_engine(strategy, fallback), strategy, fallback)
        self._unfinished: Unfinished | None = None
        self._checker: Reading | None = None
        self._forget()
        self._goals = Goals(rules)
        self._live = LiveGoals()
        self._using = Lock()
        self.writing = Lock()
        """The lock of writers, which an open transaction holds."""
        self.limits = NO_LIMITS
        """Those of the database: evaluations from scratch keep to all of them, whoever reads keeps to its memory."""
        self.subscriptions = Subscriptions(lambda: self._state.number)

    def open(self, facts: Mapping[str, GivenRows], limits: Limits = NO_LIMITS) -> tuple[Work, ...]:
        """Evaluate the program for the first time, on these facts; to be called once, before anything else."""
        self.limits = limits
        given = {name: self._first(name, rows) for name, rows in facts.items()}
        given = {name: change for name, change in given.items() if change}
        update = follow(self._engine, given, self.plan, limits)
        self._keys.check(self.plan)
        return update.work

    def _first(self, name: str, rows: GivenRows) -> Delta:
        """Return the first facts of a relation, checked as a transaction would check them."""
        relation, proper = self.reading(self._state.rules).input(name), self.read(name, rows, self._state.rules)
        if relation.kind == "multiset":
            return Delta(copies(proper))
        if relation.primary_key is None:
            return Delta(proper)
        keyed = PendingKeyed({}, key_function(relation, self.plan), lambda row: self._show(relation, row))
        keyed.insert(proper)
        return keyed.change()

    @property
    def state(self) -> State:
        """The last commit."""
        return self._state

    @property
    def _engine(self) -> Engine:
        return self._state.engine

    @property
    def plain(self) -> Plain:
        """The values of the last commit in plain form."""
        return self.reading(self._state.rules).plain

    @property
    def plan(self) -> Plan:
        """How the rules in force are computed."""
        return self._state.rules.plan

    # --- reading -----------------------------------------------------------------------------------------------------

    def rows(self, relation: str) -> Rows:
        """Return the rows of a relation in no particular order; of one that is computed by demand all are asked for."""
        seen = self._state.seen.get(relation)
        return self._reading(None, lambda: self._seen(relation)) if seen is None else seen

    def _reading(self, limits: Limits | None, read: Callable[[], Found]) -> Found:
        """Return what is read within limits of its own, or within the memory of the database."""
        if limits is None:
            return within(None, self.limits.memory, read)
        return within(limits.seconds, limits.memory, read)

    def _seen(self, relation: str) -> Rows:
        seen = self._state.seen.get(relation)
        check_known(relation, self.plan.relations)
        if seen is None:
            with self._use():
                if relation in self.plan.partial:
                    seen = self._evaluated(self._current_goals().rows(relation, {}), {}, self.limits)
                else:
                    seen = self._read_rows(relation)
                self._state.seen[relation] = seen
        return seen

    def _read_rows(self, relation: str) -> Rows:
        ask(ROW_BYTES * self._engine.count(relation))
        return kept(self._engine.rows(relation), self.tuning.rows.kept_rows)

    def _use(self) -> Use:
        return Use(self._using, self._undo)

    def stored(self, relation: str) -> Rows:
        """Return the rows of an input relation that transactions gave, without those that the program states."""
        return self.rows(stored_in(relation, self.plan.relations)) if relation in self.plan.relations else ()

    def count(self, relation: str) -> int:
        """Return the number of rows of a relation."""
        check_known(relation, self.plan.relations)
        if relation in self.plan.partial:
            return len(self.rows(relation))
        with self._use():
            return self._engine.count(relation)

    def contains(self, relation: str, row: Row) -> bool:
        """Tell whether a row is in a relation."""
        check_known(relation, self.plan.relations)
        if relation in self.plan.partial:
            return bool(self.look_up(relation, dict(enumerate(row))))
        with self._use():
            return self._engine.contains(relation, row)

    def frame(self, relation: str) -> Any:
        """Return a relation as a Spark DataFrame, structures as text."""
        self.check_whole(relation)
        with self._use():
            frame = getattr(self._engine, "frame", None)
            if frame is None:
                raise UserError(f"to_spark needs a database with engine='spark', not '{self._engine.name}'")
            return frame(relation)

    def index(self, name: str) -> Index:
        """Return a declared index as of the last commit."""
        expect(name, str, "index", "the name of an index")
        if name not in self.plan.declared:
            hint = did_you_mean(name, self.plan.declared)
            raise UserError(f"the program has no index `{name}`" + (f"; {hint}" if hint else ""))
        declared = self.plan.declared[name]
        return Index(declared, self.plan.relations[declared.relation], self.plain)

    def look_up(self, relation: str, values: Mapping[int, Value]) -> Rows:
        """Return the rows of a relation that have these values in some columns, by their places, in any order."""
        return self._reading(None, lambda: self._found(relation, values))

    def _found(self, relation: str, values: Mapping[int, Value]) -> Rows:
        if not values:
            return self._seen(relation)
        with self._use():
            if relation in self.plan.partial:
                return self._evaluated(self._current_goals().rows(relation, values), {}, self.limits)
            if isinstance(self._engine, Lookups):
                return self._engine.look_up(relation, values)
            columns = tuple(sorted(values))
            key = tuple([values[column] for column in columns])
            return self._tables.find(relation, columns, key, self._state.number, lambda: self._seen(relation))

    def answers(self, text: str, parameters: Mapping[str, Any], limits: Limits) -> Answers:
        """Return the answers to a goal as of the last commit."""
        goal = self._current_goals().goal(text, parameters)
        in_cluster = hasattr(self._engine, "frame")  # what is looked up would have to be brought here
        if goal.selection is not None and not in_cluster:
            rows = self._reading(limits, partial(self._selected, goal.selection))
        else:
            rows = self._evaluated(goal, {}, limits)
        return Answers(rows, goal.columns, Plain(goal.plan.types), goal.plan)

    def _current_goals(self) -> Goals:
        goals = self._goals
        if goals.rules is not self._state.rules:
            goals = self._goals = Goals(self._state.rules)
        return goals

    def check_whole(self, relation: str) -> None:
        """Refuse a relation of which nobody keeps all rows."""
        if relation in self.plan.demanded:
            raise UserError(
                f"{relation} is computed only as far as it is asked for: ask a goal with `query`, or follow one with"
                " `watch`"
            )

    def _selected(self, selection: Selection) -> Rows:
        rows = self._found(selection.relation, dict(selection.bound))
        ask(ROW_BYTES * len(rows))
        return selection.project(rows)

    def foreseen(
        self, text: str, parameters: Mapping[str, Any], facts: Mapping[str, Delta], rules: RuleBase, limits: Limits
    ) -> Answers:
        """Return the answers that a goal would have after a commit."""
        goal = Goals(rules).goal(text, parameters)
        given = passed(facts, rules.timed, self._engine, self._state.owed)
        return Answers(self._evaluated(goal, given, limits), goal.columns, Plain(goal.plan.types), goal.plan)

    def _evaluated(self, goal: Goal, facts: Mapping[str, Delta], limits: Limits) -> Rows:
        """Let the engine go over to the plan with a goal, read its answers, and go back."""

        def read(_: Update) -> Rows:
            return self._reading(limits, lambda: self._read_rows(GOAL))

        return self._tried({**facts, **goal.facts}, goal.plan, limits, read)

    def relation(self, name: str) -> Relation:
        """Return the declaration of a relation."""
        check_known(name, self.plan.relations)
        return self.plan.relations[name]

    def as_change(self, relation: Relation, *, rows: bool) -> tuple[int, Change | None]:
        """Return the number of the last commit and, if wanted, the rows it left as insertions."""
        with self._use():
            number = self._state.number
            change = Delta(self.rows(relation.name)) if rows else None
        return number, Change(relation, change, self.plain, number) if change is not None else None

    def verify(self) -> None:
        """Compute everything from scratch within the limits and compare; raise `VerificationError` on a difference."""
        with self._use():
            within(None, self.limits.memory, self._verify)

    def _verify(self) -> None:
        for problem in self._engine.verify():
            raise VerificationError(problem)
        fresh = self._fresh(self._state.strategy, self._state.fallback)
        for name, relation in ((n, r) for n, r in self.plan.relations.items() if r.bound is None):
            count = self._engine.count(name)
            ask(2 * ROW_BYTES * count)
            kept, computed = set(self._engine.rows(name)), set(fresh.rows(name))
            if kept != computed or len(kept) != count:
                row = next(iter(kept ^ computed), None)
                example = f", for instance {self._show(relation, row)}" if row is not None else ""
                raise VerificationError(
                    f"{name} has {count} rows, evaluation from scratch gives {len(computed)}{example}"
                )

    def _fresh(self, strategy: StrategyName, fallback: Fallback | None) -> Engine:
        """Return another engine with the same facts and rules, evaluated within the limits of the database."""
        fresh = self._new_engine(strategy, fallback)
        relations = self.plan.relations
        inputs = [name for name, r in relations.items() if r.role == "input" and (r.past or not r.auxiliary)]
        stored = {name: Delta(inserted=self._engine.rows(stored_in(name, relations))) for name in inputs}
        follow(fresh, {**stored, **asking({}, self._state.asked)}, self.plan, self.limits)
        return fresh

    def set_strategy(self, strategy: StrategyName, fallback: Fallback | None) -> None:
        """Go over to an engine with another strategy; what is true stays true."""
        self._refuse_second()
        with self.writing.held(), self._use():
            engine = self._fresh(strategy, fallback)
            self._state = replace(self._state, engine=engine, strategy=strategy, fallback=fallback)
        self.subscriptions.deliver()

    # --- live goals --------------------------------------------------------------------------------------------------

    def watch(self, view: Watched, text: str, parameters: Mapping[str, Any]) -> None:
        """Let the engine keep the answers to a goal, and a view hear of them, after the last commit."""
        self._refuse_second()
        with self.writing.held(), self._use():
            before = self._state
            goal, given = stand(before.rules, text, parameters)
            asked, rules = self._live.still_asked(before.asked), before.rules
            if goal.key not in rules.goals:
                asked = self._live.watched(before.asked)
                rules = rules.with_goals({**goals_in_use(rules.goals, asked), goal.key: goal})
            live = self._live.of(goal.name, len(given))
            view.open(goal, given, before.number)
            live.add(given, view)
            asked = {one.name: asked.get(one.name, frozenset()) for one in rules.goals.values()}
            asked[goal.name] |= {given}
            self._ask(before, rules, asked)
            self.subscriptions.enter(live)
        self.subscriptions.deliver()

    def unwatch(self, goal: str, given: Row) -> None:
        """Note that a view was closed; the next update of the engine asks no more for what nobody watches."""
        self._live.closed.append((goal, given))

    def _ask(self, before: State, rules: RuleBase, asked: Mapping[str, frozenset[Row]]) -> None:
        """Let the engine answer other goals; nothing else changes."""
        self._unfinished = Unfinished(before, before.engine.snapshot())
        closed = len(self._live.closed)
        try:
            plan = rules.plan if rules is not before.rules else None
            update = follow(before.engine, asking(before.asked, asked), plan, self.limits)
            self._tables.follow(update.changes, before.number)
            seen = {name: rows for name, rows in before.seen.items() if name not in update.changes}
            self._state = replace(before, rules=rules, asked=asked, seen=seen)
            self._live.forget(closed)
        finally:
            self._undo()

    def open_goals(self) -> list[str]:
        """Return the texts of the goals that are watched."""
        in_use = goals_in_use(self._state.rules.goals, self._live.watched(self._state.asked))
        return [goal.text for goal in in_use.values()]

    # --- one writer --------------------------------------------------------------------------------------------------

    def begin(self, hold: Hold) -> None:
        """Wait until no other transaction is open, and take the lock of writers."""
        self._refuse_second()
        self.subscriptions.resume()
        hold.take()

    def _refuse_second(self) -> None:
        holder = self.writing.holder()
        if holder is not None and holder.thread is threading.current_thread():
            raise UserError("this thread has a transaction open already; commit or roll it back first")

    def apply(self, facts: Mapping[str, Delta], rules: RuleBase, limits: Limits, outcome: Outcome) -> Commit:
        """Commit changes. On any exception nothing has changed."""
        started = time.perf_counter()
        plan = self._changed_plan(rules)
        with self._use():
            before = self._state
            number = before.number + 1
            closed = len(self._live.closed)
            asked = self._live.still_asked(before.asked)
            in_use = goals_in_use(rules.goals, asked)
            if len(rules.goals) - len(in_use) > IDLE:
                rules = rules.with_goals(in_use)
                plan, asked = rules.plan, {goal.name: asked[goal.name] for goal in in_use.values()}
            self._unfinished = Unfinished(before, before.engine.snapshot(), outcome)
            try:
                given = passed(facts, rules.timed, before.engine, before.owed)
                update = follow(before.engine, {**given, **asking(before.asked, asked)}, plan, limits)
                changes = self._changes(update, rules, number)
                self._check_deleted(facts, rules.plan)
                if rules.analysis is not before.rules.analysis:
                    self._forget()
                self._keys.follow(update.changes)
                self._tables.follow(update.changes, number)
                self._keys.check(rules.plan)
                gone = update.changes.keys() | rules.plan.demanded
                seen = {name: rows for name, rows in before.seen.items() if name not in gone}
                live, took = live_changes(rules, update), time.perf_counter() - started
                commit = outcome.commit = Commit(number, took, changes, update.work, live=live)
                self.subscriptions.publish(commit)
                owed = owing(rules.timed, update)
                self._state = replace(before, number=number, rules=rules, asked=asked, seen=seen, owed=owed)
                self._live.forget(closed)
            finally:
                self._undo()
        return commit

    def try_out(self, facts: Mapping[str, Delta], rules: RuleBase, limits: Limits) -> Changes:
        """Return the changes that a commit would make."""
        given = passed(facts, rules.timed, self._engine, self._state.owed)
        return self._tried(given, self._changed_plan(rules), limits, lambda update: self._changes(update, rules, None))

    def _changes(self, update: Update, rules: RuleBase, number: int | None) -> Changes:
        changed, weights = visible(update, rules.timed, self._engine), weighted(update, rules.timed)
        return Changes(changed, rules.plan, self.reading(rules).plain, number, weights)

    def _tried(
        self, facts: Mapping[str, Delta], plan: Plan | None, limits: Limits, read: Callable[[Update], Found]
    ) -> Found:
        """Let the engine make changes, and undo them; return what is read in between."""
        with self._use():
            self._unfinished = Unfinished(self._state, self._engine.snapshot())
            try:
                update = follow(self._engine, facts, plan, limits)
                self._check_deleted(facts, self.plan if plan is None else plan)
                return read(update)
            finally:
                self._undo()

    def settle(self, outcome: Outcome) -> None:
        """Undo what the interrupted update of a transaction has left."""
        unfinished = self._unfinished
        if unfinished is not None and unfinished.outcome is outcome:
            with self._use():
                pass  # whoever uses the engine undoes it

    def _undo(self) -> None:
        """Undo an update that was not made visible. May be interrupted, and is then done again."""
        unfinished = self._unfinished
        if unfinished is not None and unfinished.state is self._state:
            if unfinished.outcome is not None:
                unfinished.outcome.commit = None
                self.subscriptions.withdraw()
                self._forget()
            self._engine.restore(unfinished.token)
        self._unfinished = None

    def _changed_plan(self, rules: RuleBase) -> Plan | None:
        return rules.plan if rules is not self._state.rules else None

    # --- what a writer gives -----------------------------------------------------------------------------------------

    def pending(self, relation: str, rules: RuleBase) -> Pending:
        """Return an empty collection of operations on an input relation."""
        found = self.reading(rules).input(relation)
        if found.kind == "multiset":
            stored = stored_in(relation, self.plan.relations) if self.holds(found) else None
            count = lambda row: len(self.look_up(stored, dict(enumerate(row)))) if stored else 0  # noqa: E731
            return PendingCopies(count, lambda row: self._show(found, row))
        if found.primary_key is None:
            return PendingFacts()
        if not self.holds(found):
            return PendingKeyed({}, key_function(found, rules.program), shower(found, rules.program))
        with self._use():
            keyed = self._keys.of(found, self.plan)
        return PendingKeyed(keyed.rows, keyed.key, shower(found, self.plan))

    def holds(self, relation: Relation) -> bool:
        """Tell whether rows of a relation are committed, with these columns."""
        there = self.plan.relations.get(relation.name)
        return there is not None and there.columns == relation.columns

    def _forget(self) -> None:
        """Forget what is kept beside the engine, which is made anew from its rows."""
        self._keys, self._tables = Keys(self._rows_now), Tables()

    def _rows_now(self, relation: str) -> Rows:
        return self._engine.rows(relation)

    def _check_deleted(self, facts: Mapping[str, Delta], plan: Plan) -> None:
        """Refuse to take away by key a row that the program states: it would still be there beside its replacement."""
        for name, change in facts.items():
            relation = plan.relations[name]
            if relation.primary_key is not None:
                for row in change.deleted:
                    if self._engine.contains(name, row):
                        raise DataError(
                            f"{self._show(relation, row)} is a fact of the program: remove that rule instead"
                        )

    def read(self, relation: str, rows: GivenRows, rules: RuleBase) -> Rows:
        """Return rows given by a user, checked."""
        reading = self.reading(rules)
        found = reading.input(relation)
        if isinstance(rows, ValueColumns):
            return rows.fitting(found)
        take = getattr(self._engine, "take_frame", None)
        plan = self.plan if relation in self.plan.relations else rules.plan
        taken: Rows | None = take(relation, rows, plan) if take is not None else None
        return reading.rows(relation, rows) if taken is None else taken

    def reading(self, rules: RuleBase) -> Reading:
        """Return what reads facts for the relations that rules know."""
        found = self._checker
        if found is None or found.program.relations is not rules.program.relations:
            found = self._checker = Reading(rules.program, self.tuning.rows)
        return found

    def _show(self, relation: Relation, row: Row) -> str:
        return show_row(relation.name, relation.columns, row, self.plan.types)
