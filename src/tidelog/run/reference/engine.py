"""What a program means: the least model, stratum by stratum, by naive iteration; an update computes it anew.

For a stratum with rules r1 .. rn, the relations it defines are the limit of

    R0 = stored facts,    R(i+1) = stored facts + r1(Ri) + .. + rn(Ri)

where the relations of earlier strata are complete; of a relation of bounds, R(i) is the best bound of each key.
Change = new state - old state. Where a group is part of a recursion (in the dialect of DDlog) what was derived may go
again in a later round; auxiliary relations are then computed anew before each round, so that a round is what the user's
rules derive at once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import count
from typing import Any

from tidelog.base.errors import EvaluationError
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.base.values import order_key
from tidelog.plan.nodes import Plan, Relation, Rule, Stratum
from tidelog.plan.rewrite.separate_facts import stored_in
from tidelog.run.contract.engine import NO_LIMITS, Delta, Limits, Row, Rows, Update, Work
from tidelog.run.limits import Watch
from tidelog.run.reference.algebra import Algebra
from tidelog.run.reference.evaluate import Evaluator
from tidelog.run.reference.operators import Failure

State = dict[str, frozenset[Row]]


class ReferenceEngine:
    """The state of one program: stored facts, and every relation computed from them.

    Whatever `strategy` asks for, `auto` or `recompute`, everything is computed from scratch, and in one way, so that no
    threshold of `tuning` matters.
    """

    name = "reference"

    def __init__(
        self, plan: Plan, limits: Limits = NO_LIMITS, *, strategy: str = "auto", tuning: Tuning = DEFAULT
    ) -> None:
        self._plan = plan
        self._facts: State = {}
        self._state: State = {}
        with Watch(limits) as watch:
            self._state, _ = _evaluate(plan, self._facts, {}, watch)

    @property
    def plan(self) -> Plan:
        """The program whose consequences the state holds."""
        return self._plan

    def update(self, facts: Mapping[str, Delta], plan: Plan | None = None, limits: Limits = NO_LIMITS) -> Update:
        """Change stored facts and the program, and evaluate from scratch; after an error nothing has changed."""
        after = plan or self._plan
        stored = {r: rows for r, rows in self._facts.items() if _same_columns(r, self._plan, after)}
        for relation, change in facts.items():
            stored[relation] = stored.get(relation, frozenset()).difference(change.deleted).union(change.inserted)
        before = self._state
        with Watch(limits) as watch:
            state, work = _evaluate(after, stored, before, watch)
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

    def verify(self) -> tuple[str, ...]:
        """Nothing is kept beside the tuples."""
        return ()

    def snapshot(self) -> Any:
        """Return the current state: values never change, so it is its own copy."""
        return self._plan, self._facts, self._state

    def restore(self, token: Any) -> None:
        """Go back to the state of a token."""
        self._plan, self._facts, self._state = token


def _evaluate(plan: Plan, facts: State, before: State, watch: Watch) -> tuple[State, tuple[Work, ...]]:
    """Return every relation of a program, and what each stratum took."""
    rows_made = count(1)

    def tick() -> None:
        if next(rows_made) % 1024 == 0:
            watch.look()

    facts = {stored_in(relation, plan.relations): rows for relation, rows in facts.items()}
    state: State = {relation: facts.get(relation, frozenset()) for relation in plan.relations}
    algebra = Algebra(Evaluator(plan.functions, plan.types), lambda scan: state[scan.relation], tick)
    work = []
    for stratum in plan.strata:
        start = time.perf_counter()
        rounds = derivations = 0
        changed = bool(stratum.rules)
        while changed:
            rounds += 1
            watch.begin_round(stratum, rounds)
            if stratum.iterated:
                _settle(stratum, plan, state, algebra, watch)
            found = {relation: set(facts.get(relation, ())) for relation in stratum.relations}
            for rule in stratum.rules:
                known = state[rule.head] | before.get(rule.head, frozenset())
                derivations += _derive(rule, found[rule.head], known, algebra, watch)
            now = {relation: _kept(plan.relations[relation], rows, state[relation]) for relation, rows in found.items()}
            changed = stratum.recursive and any(rows != state[relation] for relation, rows in now.items())
            state.update(now)
        seconds = time.perf_counter() - start
        work.append(Work(stratum.number, stratum.relations, "naive", "reference", rounds, derivations, seconds))
    return state, tuple(work)


def _kept(relation: Relation, rows: set[Row], before: frozenset[Row]) -> frozenset[Row]:
    """Return the tuples that a relation keeps of those derived: of bounds, the best of each key, now or before."""
    bound = relation.bound
    if bound is None:
        return frozenset(rows)
    best: dict[Row, Row] = {}
    for row in rows | before:
        key = row[: bound.column] + row[bound.column + 1 :]
        known = best.setdefault(key, row)
        lesser, greater = order_key(row[bound.column]), order_key(known[bound.column])
        if (greater < lesser) if bound.greatest else (lesser < greater):
            best[key] = row
    return frozenset(best.values())


def _settle(stratum: Stratum, plan: Plan, state: State, algebra: Algebra, watch: Watch) -> None:
    """Compute the auxiliary relations of a stratum from its others."""
    rules = [rule for rule in stratum.rules if plan.relations[rule.head].auxiliary]
    changed = True
    while changed:
        found: dict[str, set[Row]] = {rule.head: set() for rule in rules}
        for rule in rules:
            _derive(rule, found[rule.head], frozenset(), algebra, watch)
        changed = any(rows != state[relation] for relation, rows in found.items())
        state.update({relation: frozenset(rows) for relation, rows in found.items()})


def _derive(rule: Rule, found: set[Row], known: frozenset[Row], algebra: Algebra, watch: Watch) -> int:
    """Add what a rule derives to the tuples found; return the number of derivations."""
    watch.rule = rule
    derivations = 0
    try:
        for row in algebra.derivations(rule.body):
            derivations += 1
            if row not in found:
                found.add(row)
                watch.add_tuples(row not in known)
    except (Failure, RecursionError) as failure:
        reason = failure if isinstance(failure, Failure) else "a value is nested too deeply"
        raise EvaluationError(f"{reason}\n  in the rule {rule.origin.quoted}") from failure
    return derivations


def _difference(before: State, after: State) -> dict[str, Delta]:
    """Return the change of every relation that changed; one that is new or gone counts as empty where it is not."""
    changes = {}
    for relation in before.keys() | after.keys():
        old, new = before.get(relation, frozenset()), after.get(relation, frozenset())
        if old != new:
            changes[relation] = Delta(new - old, old - new)
    return changes


def _same_columns(relation: str, before: Plan, after: Plan) -> bool:
    """Tell whether stored facts of a relation remain facts of it in another program."""
    old, new = before.relations.get(relation), after.relations.get(relation)
    return old is not None and new is not None and [c.type for c in old.columns] == [c.type for c in new.columns]
