"""Follows one history with two databases at once: one on the engine in question, one on its twin, the reference engine.

The twin is asked for everything after every commit; the other one only for what the history looks at, when and how it
says so. Changes, previews and rows may be looked at when more commits were made, and must still be those of their own.
In the end all relations are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any, assert_never

import pyarrow as pa

from tidelog.base.errors import LimitError
from tidelog.base.tuning.thresholds import Paths
from tidelog.run.contract.engine import Limits, Row
from tidelog.session.changes import Change, Changes
from tidelog.session.live import Feed, View
from tidelog.session.soak.brute import Patience, TooBigError, consequences
from tidelog.session.soak.histories import History, Step
from tidelog.session.soak.looks import Ask, Inspect, Look, Read, SetStrategy, Verify
from tidelog.session.soak.settings import INDEX, Setting
from tidelog.session.soak.spec import Declared, Goal
from tidelog.session.transaction import Transaction

TRIES = 20_000
"""How many tuples brute force tries for a goal."""
EXTRA = ("Extra", "Doubled")
DECLARED = "input relation Extra(x: u8)  output relation Doubled(x: u8, y: u8)  Doubled(x, y) :- Extra(x), Extra(y)."
"""Relations that come and go beside those of the history."""
WATCHED = 3
"""How many goals are watched at once."""
Told = dict[str, list[tuple[Row, int]]]
"""Changes as data."""
ARROW: dict[str, pa.DataType] = {
    "int": pa.uint8(),
    "str": pa.string(),
    "bool": pa.bool_(),
    "wide": pa.int64(),
    "real": pa.float64(),
    "word": pa.uint64(),
}


class Difference(Exception):  # noqa: N818  (what a soak looks for, not an error of its user)
    """The engine and the reference engine disagree."""


class Following:
    """A history, two databases that go through it, and what will be looked at later."""

    def __init__(self, history: History, setting: Setting, paths: Paths) -> None:
        self._history, self._setting = history, setting
        self._database, self._twin = setting.databases(history.start, paths)
        self._declared = {relation.name: relation for relation in history.start.relations}
        self._views = {name: self._database.relation(name) for name in self._declared}
        self._told: list[Told] = []
        self._awaited: dict[int, Changes] = {}
        self._later: list[tuple[int, Callable[[], None]]] = []
        self._heard: list[Change] = []
        self._foreseen: list[tuple[Ask, list[Row]]] = []
        self._random = Random(f"declare {history.start}")  # noqa: S311  (a test needs no secrets)
        self._watched: list[tuple[Goal, View, Feed, set[Row]]] = []
        self.goals = 0
        """How many goals were asked."""
        if setting.subscribed is not None and setting.subscribed in self._declared:
            self._database.subscribe(setting.subscribed, self._heard.append)

    @property
    def changes(self) -> int:
        """The number of rows that came or went."""
        return sum(len(rows) for told in self._told for rows in told.values())

    def follow(self) -> int:
        """Go through the history; raise `Difference` when something is not as it should be. Return the commits."""
        for number, step in enumerate(self._history.steps):
            for undone in step.undone:
                self._undo(undone, number)
            self._commit(step, number)
            self._compare_watched(number)
            for look in step.looks:
                self._look(look, number)
            self._look_late(number)
        self._look_late(None)
        for name in self._declared:
            self._read(Read(name, "unordered"), len(self._told) - 1)
            self._read(Read(name, "count"), len(self._told) - 1)
        self._compare_heard()
        return len(self._told)

    # --- transactions ------------------------------------------------------------------------------------------------

    def _undo(self, step: Step, number: int) -> None:
        """Begin transactions, and roll them back."""
        mine, other = self._database.transaction().begin(), self._twin.transaction().begin()
        for tx in (mine, other):
            self._play(tx, step)
        if step.previews:
            wanted = self._shown(other.preview())
            self._preview(mine, step, number, lambda: wanted)
        mine.rollback()
        other.rollback()

    def _commit(self, step: Step, number: int) -> None:
        result = self._refused(step)
        if result is None:
            result = self._committed(step, number)
            for look, rows in self._foreseen:
                same(rows, self._database.query(str(look.goal), dict(look.goal.given)).rows(), f"what {look} foresaw")
        with self._twin.transaction() as other:
            self._play(other, replace(step, frames=False))
        self._told.append(self._shown(other.result.changes))
        if any(
            isinstance(look, Inspect) and later - look.ago == number
            for later, after in enumerate(self._history.steps)
            for look in after.looks
        ):
            self._awaited[number] = result

    def _shown(self, changes: Changes) -> Told:
        """Return changes of the twin as data, without those that the database cannot know."""
        return {name: rows for name, rows in plain(changes).items() if name not in self._setting.demanded}

    def _refused(self, step: Step) -> Changes | None:
        """Commit under a limit; None if it is exceeded, and then nothing has changed."""
        if step.refused is None:
            return None
        try:
            with self._database.transaction(Limits(tuples=step.refused)) as tx:
                self._play(tx, step)
        except LimitError:
            return None
        return tx.result.changes

    def _committed(self, step: Step, number: int) -> Changes:
        with self._database.transaction() as tx:
            self._declare(tx)
            self._play(tx, step)
            self._preview(tx, step, number, lambda: self._told[number])
            asks = [look for look in step.looks if isinstance(look, Ask) and look.inside and self._can_ask(look.goal)]
            self._foreseen = [(look, tx.query(str(look.goal), dict(look.goal.given)).rows()) for look in asks]
        return tx.result.changes

    def _declare(self, tx: Transaction) -> None:
        """Declare relations that nobody looks at, now and then, or take them back: all else is to stay as it is."""
        if self._random.random() > 0.1:
            return
        if any(view.name == "Extra" for view in self._database.relations()):
            for name in ("Doubled(x, y) :- Extra(x), Extra(y).", *reversed(EXTRA)):
                tx.remove(name)
        else:
            tx.add(DECLARED)
            tx.insert("Extra", [(1,), (2,)])

    def _preview(self, tx: Transaction, step: Step, number: int, wanted: Callable[[], Told]) -> None:
        """Take previews, and compare each when it is due."""
        for later in step.previews:
            preview = tx.preview()
            found = plain(preview) if later == 0 else None

            def check(preview: Changes = preview, found: Told | None = found) -> None:
                made = plain(preview) if found is None else found
                if made != wanted():
                    raise Difference(f"a preview of step {number} is {made}, but should be {wanted()}")

            self._later.append((number + later, check))

    def _play(self, tx: Transaction, step: Step) -> None:
        """Do in a transaction what a step says."""
        keyed = self._setting.keyed
        for relation, rows in step.deleted.items():
            if relation == keyed:
                tx.delete_keys(relation, sorted({row[0] for row in rows}, key=repr))
            else:
                tx.delete(relation, self._given(relation, step.frames, rows))
        for relation, rows in step.inserted.items():
            (tx.upsert if relation == keyed else tx.insert)(relation, self._given(relation, step.frames, rows))
        for rule in step.rules_removed:
            tx.remove_rules(str(rule))
        for rule in step.rules_added:
            tx.add_rules(str(rule))

    def _given(self, relation: str, frames: bool, rows: frozenset[Row]) -> Any:
        """Return rows as they are given: a list, or a table in which some stand twice."""
        ordered = sorted(rows, key=repr)
        declared = self._declared[relation]
        if not frames or not declared.kinds or any(kind not in ARROW for kind in declared.kinds):
            return ordered
        return table(declared, ordered if relation == self._setting.keyed else ordered + ordered[:1])

    # --- looks -------------------------------------------------------------------------------------------------------

    def _look(self, look: Look, number: int) -> None:
        match look:
            case Read(relation):
                if relation in self._declared:
                    self._read(look, number)
            case Inspect(ago):
                if number - ago in self._awaited:
                    self._inspect(look, number - ago)
            case Ask(goal):
                if self._can_ask(goal):
                    self._ask(goal, number)
                    if look.watched and self._setting.limits.tuples is None:
                        self._watch(goal)
            case Verify():
                self._database.verify()
            case SetStrategy(choice):
                strategies = self._setting.strategies()
                fallback = self._setting.fallback
                self._database.set_strategy(strategies[choice % len(strategies)], fallback)
            case _:
                assert_never(look)

    def _look_late(self, number: int | None) -> None:
        """Do what is due after a commit, or everything that is left."""
        due = [check for when, check in self._later if number is None or when <= number]
        self._later = [(when, check) for when, check in self._later if number is not None and when > number]
        for check in due:
            check()

    def _read(self, look: Read, number: int) -> None:
        """Read a relation, and compare what is found with the twin's rows."""
        view, wanted = self._views[look.relation], self._twin.relation(look.relation).rows()
        where = f"{look.relation} after step {number}"
        match look.way:
            case "rows":
                same(view.rows(), wanted, where)
            case "unordered":
                same_set(view.rows(ordered=False), wanted, where)
            case "iterate":
                same(list(view), wanted, where)
            case "count":
                same([len(view)], [len(wanted)], f"the count of {where}")
            case "contains":
                gone = [row for told in self._told[-3:] for row, weight in told.get(look.relation, ()) if weight < 0]
                asked = [*wanted[:: max(1, len(wanted) // 5)], *gone[:5]]
                there = set(wanted)
                same([row for row in asked if row in view], [row for row in asked if row in there], where)
            case "arrow":
                other = self._twin.relation(look.relation).to_arrow()
                same(values(view.to_arrow()), values(other), f"{where}, in Arrow,")
            case "held":
                held = view.raw_rows()
                self._later.append((number + look.later, lambda: same_set(list(held), wanted, f"held, {where}")))
            case "index":
                self._query()
            case _:
                assert_never(look.way)

    def _query(self) -> None:
        """Ask the index, if there is one, for some keys and for everything."""
        if self._setting.indexed in self._declared:
            rows = self._twin.dump_index(INDEX)
            for key in [row[0] for row in rows[:: max(1, len(rows) // 3)]]:
                same(self._database.query_index(INDEX, key), self._twin.query_index(INDEX, key), f"index at {key!r}")
            same(self._database.dump_index(INDEX), rows, "index")

    def _can_ask(self, goal: Goal) -> bool:
        return goal.relations <= self._declared.keys()

    def _ask(self, goal: Goal, number: int) -> None:
        """Ask a goal, and compare with what brute force finds in the twin's rows, or if that takes long the twin."""
        found = self._database.query(str(goal), dict(goal.given))
        if sorted(found.columns) != sorted(goal.columns):
            raise Difference(f"the goal {goal} has the columns {[*found.columns]}")
        places = [goal.columns.index(name) for name in found.columns]
        facts = {name: set(self._twin.relation(name).rows()) for name in goal.relations}
        try:
            rows = {row for _, row in consequences(goal.rule, facts, Patience(TRIES))}
            wanted = [tuple(row[place] for place in places) for row in rows]
        except TooBigError:
            wanted = self._twin.query(str(goal), dict(goal.given)).rows()
        same_set(found.rows(), wanted, f"the answers to {goal} with {dict(goal.given)} after step {number}")
        self.goals += 1

    def _watch(self, goal: Goal) -> None:
        """Watch a goal from now on; of those watched the first goes."""
        view = self._database.watch(str(goal), dict(goal.given))
        self._watched.append((goal, view, view.changes(), set(view.rows())))
        if len(self._watched) > WATCHED:
            self._watched.pop(0)[1].close()

    def _compare_watched(self, number: int) -> None:
        """Compare the changes reported of the goals that are watched, and their rows, with the twin's answers."""
        for goal, view, feed, rows in self._watched:
            where = f"the watched {goal} with {dict(goal.given)} after step {number}"
            for change in feed:
                same([row for row in change.inserted if row in rows], [], f"what came twice to {where}")
                same([row for row in change.deleted if row not in rows], [], f"what went twice from {where}")
                rows.difference_update(change.deleted)
                rows.update(change.inserted)
            same_set(view.rows(), sorted(rows, key=repr), f"the rows of {where}")
            same_set(view.rows(), self._twin.query(str(goal), dict(goal.given)).rows(), where)

    def _inspect(self, look: Inspect, commit: int) -> None:
        """Look at the changes of a commit, and compare them with the twin's."""
        changes, wanted = self._awaited[commit], self._told[commit]
        where = f"the change by step {commit}, after step {len(self._told) - 1},"
        if look.relation in self._setting.demanded:
            return
        if look.relation is not None and look.relation in self._declared:
            same([*changes[look.relation]], wanted.get(look.relation, []), f"{where} of {look.relation}")
            return
        match look.way:
            case "rows":
                same(sorted(plain(changes).items()), sorted(wanted.items()), where)
            case "sizes":
                signs = {name: [weight > 0 for _, weight in rows] for name, rows in wanted.items()}
                sizes = {name: (sum(more), len(more) - sum(more)) for name, more in signs.items()}
                same(
                    sorted((name, changes[name].sizes) for name in changes if name not in EXTRA),
                    sorted(sizes.items()),
                    where,
                )
            case "arrow":
                for name in changes.keys() - EXTRA:
                    weights = changes[name].to_arrow().column("weight").to_pylist()
                    same(weights, [weight for _, weight in wanted.get(name, [])], f"{where} of {name}, in Arrow,")
            case _:
                assert_never(look.way)

    def _compare_heard(self) -> None:
        """Compare what a subscriber heard with the twin's changes."""
        name = self._setting.subscribed
        if name is not None and name in self._declared:
            wanted = [(number + 1, told[name]) for number, told in enumerate(self._told) if told.get(name)]
            same([(change.commit, [*change]) for change in self._heard], wanted, f"what was heard of {name}")


def same(found: list[Any], wanted: list[Any], what: str) -> None:
    """Raise `Difference` if two lists differ, with what is missing and what is too much."""
    if found != wanted:
        lacks, more = [one for one in wanted if one not in found], [one for one in found if one not in wanted]
        told = f"lacks {lacks} and has {more} too much" if lacks or more else f"is {found}, but should be {wanted}"
        raise Difference(f"{what} {told}")


def same_set(found: list[Row], wanted: list[Row], what: str) -> None:
    """Raise `Difference` if rows are not those wanted, each once, in any order."""
    if len(found) != len(wanted) or set(found) != set(wanted):
        same(sorted(found, key=repr), sorted(wanted, key=repr), what)


def plain(changes: Changes) -> Told:
    """Return changes as data."""
    return {name: [*changes[name]] for name in changes if name not in EXTRA}


def table(relation: Declared, rows: list[Row]) -> pa.Table:
    """Return rows as an Arrow table."""
    columns = [pa.array([row[i] for row in rows], ARROW[kind]) for i, kind in enumerate(relation.kinds)]
    return pa.table(columns, names=[f"c{i}" for i in range(len(relation.kinds))])


def values(found: pa.Table) -> list[str]:
    """Return the rows of a table in some order."""
    return sorted(map(repr, zip(*(column.to_pylist() for column in found.columns), strict=True)))
