"""What a program means: the least model, stratum by stratum, by naive iteration; an update computes it anew.

For a stratum with rules r1 .. rn, the relations it defines are the limit of

    R0 = stored facts,    R(i+1) = stored facts + r1(Ri) + .. + rn(Ri)

where the relations of earlier strata are complete. Change = new state - old state.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tidelog.base.errors import EvaluationError, LimitError
from tidelog.plan.nodes import Plan, Rule, Stratum
from tidelog.run.contract import Change, Limits, Row, Rows, Update, Work
from tidelog.run.reference.algebra import Algebra
from tidelog.run.reference.evaluate import Evaluator
from tidelog.run.reference.operators import Failure

State = dict[str, frozenset[Row]]
NO_LIMITS = Limits()


class ReferenceEngine:
    """The state of one program: stored facts, and every relation computed from them."""

    name = "reference"

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._facts: State = {}
        self._state: State = {}
        self._state, _ = _evaluate(plan, self._facts, {}, NO_LIMITS)

    @property
    def plan(self) -> Plan:
        """The program whose consequences the state holds."""
        return self._plan

    def update(self, facts: Mapping[str, Change], plan: Plan | None = None, limits: Limits = NO_LIMITS) -> Update:
        """Change stored facts and the program, and evaluate from scratch; after an error nothing has changed."""
        after = plan or self._plan
        stored = {r: rows for r, rows in self._facts.items() if _same_columns(r, self._plan, after)}
        for relation, change in facts.items():
            stored[relation] = stored.get(relation, frozenset()).difference(change.deleted).union(change.inserted)
        before = self._state
        state, work = _evaluate(after, stored, before, limits)
        self._plan, self._facts, self._state = after, stored, state
        return Update(_difference(before, state), work)

    def rows(self, relation: str) -> Rows:
        """Return the tuples of a relation."""
        return self._state[relation]

    def count(self, relation: str) -> int:
        """Return the number of tuples of a relation."""
        return len(self._state[relation])

    def contains(self, relation: str, row: Row) -> bool:
        """Tell whether a tuple is in a relation."""
        return row in self._state[relation]

    def snapshot(self) -> Any:
        """Return the current state: values never change, so it is its own copy."""
        return self._plan, self._facts, self._state

    def restore(self, token: Any) -> None:
        """Go back to the state of a token."""
        self._plan, self._facts, self._state = token


def _evaluate(plan: Plan, facts: State, before: State, limits: Limits) -> tuple[State, tuple[Work, ...]]:
    """Return every relation of a program, and what each stratum took."""
    watch = Watch(limits)
    state: State = {relation: facts.get(relation, frozenset()) for relation in plan.relations}
    algebra = Algebra(Evaluator(plan.functions, plan.types), lambda scan: state[scan.relation], watch.tick)
    work = []
    for stratum in plan.strata:
        start = time.perf_counter()
        rounds = derivations = 0
        changed = bool(stratum.rules)
        while changed:
            rounds += 1
            watch.begin_round(stratum, rounds)
            found = {relation: set(facts.get(relation, ())) for relation in stratum.relations}
            for rule in stratum.rules:
                derivations += _derive(rule, found[rule.head], before.get(rule.head, frozenset()), algebra, watch)
            changed = stratum.recursive and any(len(rows) > len(state[r]) for r, rows in found.items())
            state.update({relation: frozenset(rows) for relation, rows in found.items()})
        watch.end_stratum()
        seconds = time.perf_counter() - start
        work.append(Work(stratum.number, stratum.relations, "naive", "reference", rounds, derivations, seconds))
    return state, tuple(work)


def _derive(rule: Rule, found: set[Row], before: frozenset[Row], algebra: Algebra, watch: Watch) -> int:
    """Add what a rule derives to the tuples found; return the number of derivations."""
    watch.rule = rule
    derivations = 0
    try:
        for row in algebra.derivations(rule.body):
            derivations += 1
            if row not in found:
                found.add(row)
                watch.add_tuple(row in before)
    except Failure as failure:
        raise EvaluationError(f"{failure}\n  in the rule `{rule.origin.text}` ({rule.origin.span})") from failure
    return derivations


def _difference(before: State, after: State) -> dict[str, Change]:
    """Return the change of every relation that changed; one that is new or gone counts as empty where it is not."""
    changes = {}
    for relation in before.keys() | after.keys():
        old, new = before.get(relation, frozenset()), after.get(relation, frozenset())
        if old != new:
            changes[relation] = Change(new - old, old - new)
    return changes


def _same_columns(relation: str, before: Plan, after: Plan) -> bool:
    """Tell whether stored facts of a relation remain facts of it in another program."""
    old, new = before.relations.get(relation), after.relations.get(relation)
    return old is not None and new is not None and [c.type for c in old.columns] == [c.type for c in new.columns]


class Watch:
    """Stops an evaluation that exceeds its limits; the error says where."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._end = None if limits.seconds is None else time.monotonic() + limits.seconds
        self._ticks = 0
        self._stratum: Stratum | None = None
        self._done = self._round = 0
        self.rule: Rule | None = None

    def begin_round(self, stratum: Stratum, number: int) -> None:
        """Note the stratum, and count its rounds."""
        self._stratum, self.rule, self._round = stratum, None, 0
        if self._limits.rounds is not None and number > self._limits.rounds:
            raise self._error(f"more than {self._limits.rounds} rounds")
        self._look()

    def end_stratum(self) -> None:
        """Keep the number of new tuples: every round of naive evaluation finds those of the rounds before again."""
        self._done += self._round

    def add_tuple(self, known: bool) -> None:
        """Count a tuple that the state before the update did not have."""
        self._round += not known
        if self._limits.tuples is not None and self._done + self._round > self._limits.tuples:
            raise self._error(f"more than {self._limits.tuples} new tuples")

    def tick(self) -> None:
        """Look at the clock and at the memory now and then."""
        self._ticks += 1
        if self._ticks % 1024 == 0:
            self._look()

    def _look(self) -> None:
        if self._end is not None and time.monotonic() > self._end:
            raise self._error(f"more than {self._limits.seconds} seconds")
        if self._limits.memory is not None and memory_in_use() > self._limits.memory:
            raise self._error(f"more than {self._limits.memory} bytes of memory")

    def _error(self, excess: str) -> LimitError:
        relations = ", ".join(self._stratum.relations) if self._stratum else ""
        place = f"stratum {self._stratum.number} ({relations})" if self._stratum else "evaluation"
        rule = f"\n  in the rule `{self.rule.origin.text}` ({self.rule.origin.span})" if self.rule else ""
        return LimitError(f"{place} took {excess}{rule}")


def memory_in_use() -> int:
    """Return the bytes of memory this process holds now, or 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
