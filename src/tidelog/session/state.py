"""What a database has committed, and what it is about to: the records that a store goes over between.

A commit becomes visible by one assignment, of a `State`. Before the engine changes, what can undo it is noted
(`Unfinished`); whoever uses the engine next (`Use`) first undoes what was not made visible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import copy_context
from dataclasses import field
from typing import Any

from tidelog.base.errors import TidelogError, UserError
from tidelog.base.process.lock import Hold, Lock
from tidelog.base.record import record
from tidelog.plan.nodes import Plan, shown
from tidelog.run.contract.engine import Delta, Engine, Fallback, Limits, Row, Rows, Update
from tidelog.session.changes import Commit
from tidelog.session.engines import StrategyName
from tidelog.session.program.rules import RuleBase
from tidelog.session.program.standing import asked_for


class VerificationError(TidelogError):
    """The maintained state differs from evaluation from scratch: a defect of Tidelog."""


@record
class State:
    """A commit as readers see it: its number, its rules, its engine, and the rows that were read of it so far."""

    number: int
    rules: RuleBase
    engine: Engine
    strategy: StrategyName
    fallback: Fallback | None
    asked: Mapping[str, frozenset[Row]] = field(default_factory=dict)
    """What was given for the parameters of each goal that is watched."""
    seen: dict[str, Rows] = field(default_factory=dict)
    owed: Mapping[str, Delta] = field(default_factory=dict)
    """How the relations that have rows of the past are behind."""


class Outcome:
    """Where a commit is put just before it becomes visible; it is taken away again if it does not."""

    __slots__ = ("commit",)

    def __init__(self) -> None:
        self.commit: Commit | None = None


@record
class Unfinished:
    """An update of the engine, noted before it begins; it counts only as long as the state is the one it began from."""

    state: State
    token: Any
    """What the engine can restore."""
    outcome: Outcome | None = None
    """Where the transaction has its commit."""


class Use(Hold):
    """A use of the engine, as a context manager: nobody else uses it meanwhile, and it is what was committed last."""

    __slots__ = ("_settle",)

    def __init__(self, lock: Lock, settle: Callable[[], None]) -> None:
        super().__init__(lock)
        self._settle = settle

    def __enter__(self) -> bool:
        taken = super().__enter__()
        if taken:  # within an update that is going on its beginnings are no remains
            self._settle()
        return taken


def asking(before: Mapping[str, frozenset[Row]], after: Mapping[str, frozenset[Row]]) -> dict[str, Delta]:
    """Return the facts that ask for other goals; of one that is gone there is nothing left to say."""
    found = {}
    for goal, rows in after.items():
        was = before.get(goal, frozenset())
        if rows is not was and rows != was:
            found[asked_for(goal)] = Delta(rows - was, was - rows)
    return found


def live_changes(rules: RuleBase, update: Update) -> dict[str, Delta]:
    """Return what changed of the goals that are watched."""
    names = (goal.name for goal in rules.goals.values())
    return {name: update.changes[name] for name in names if name in update.changes}


def follow(engine: Engine, facts: Mapping[str, Delta], plan: Plan | None, limits: Limits) -> Update:
    """Let an engine follow changes, in a context of its own: an interrupt leaves none of its context variables set."""
    if plan is not None and engine.name != "reference":
        for stratum in plan.strata:
            if stratum.iterated:
                message = f"{shown(stratum.relations)[0]} is derived by a group in its own recursion"
                raise UserError(f"{message}, which only engine='reference' evaluates, not '{engine.name}'")
    return copy_context().run(engine.update, facts, plan, limits)


def kept(rows: Rows, many: int) -> Rows:
    """Return a copy that does not follow the engine; of many rows in Arrow, if that is offered."""
    if len(rows) >= many and hasattr(rows, "__arrow_c_stream__"):
        from tidelog.session.frames.arrow import TableRows, as_table  # noqa: PLC0415  (loads pyarrow)

        return TableRows(as_table(rows))
    return tuple(rows)
