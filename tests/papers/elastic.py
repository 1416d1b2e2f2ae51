"""Algorithms 2 and 3 of "Towards Elastic Incrementalization for Datalog" to the letter, on Python sets: the slow twin.

A tuple is a relation's name and a row. Rules are given as text, `H(x, z) :- R(x, y), not S(y), x != z.`, with variables
only. A state is the sequence of multisets N#: for each iteration the tuples first derived in it with their derivations.
`epochs` applies the algorithms stratum by stratum, each with all that is below as its input E.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Fact = tuple[str, tuple[Any, ...]]
Facts = frozenset[Fact]
State = tuple[Mapping[Fact, int], ...]
"""N#(0), N#(1), ..."""
Atom = tuple[str, tuple[str, ...]]
COMPARISONS = {"!=": operator.ne, "<": operator.lt}
NOTHING: Facts = frozenset()


@dataclass(frozen=True)
class Rule:
    """One rule: positive and negated atoms, and constraints."""

    head: Atom
    positive: tuple[Atom, ...]
    negative: tuple[Atom, ...]
    constraints: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Derivation:
    """An instantiated rule: its head, the tuples of its body, and those it needs to be absent."""

    head: Fact
    body: Facts
    absent: Facts


def parse(text: str) -> tuple[Rule, ...]:
    """Read rules."""
    return tuple(_rule(line) for line in map(str.strip, text.split(".")) if line)


def _rule(text: str) -> Rule:
    head, body = text.split(":-")
    atoms = [(bool(no), _atom(atom)) for no, atom in re.findall(r"(not )?(\w+\([^)]*\))", body)]
    constraints = re.findall(r"(\w+) (!=|<) (\w+)", body)
    positive, negative = (tuple(atom for no, atom in atoms if no == negated) for negated in (False, True))
    return Rule(_atom(head.strip()), positive, negative, tuple(constraints))


def _atom(text: str) -> Atom:
    name, variables = text.rstrip(")").split("(")
    return name, tuple(re.findall(r"\w+", variables))


def instances(rules: Iterable[Rule], facts: Facts, absent_from: Facts | None = None) -> Iterator[Derivation]:
    """All instantiated rules with their bodies in a set, and their negated tuples outside of it (or of another set)."""
    outside = facts if absent_from is None else absent_from
    for rule in rules:
        bindings: list[dict[str, Any]] = [{}]
        for name, variables in rule.positive:
            rows = [row for relation, row in facts if relation == name]
            bindings = [
                longer for binding in bindings for row in rows if (longer := _fit(variables, row, binding)) is not None
            ]
        for binding in bindings:
            absent = frozenset(_ground(atom, binding) for atom in rule.negative)
            holds = all(COMPARISONS[op](binding[a], binding[b]) for a, op, b in rule.constraints)
            if holds and not absent & outside:
                body = frozenset(_ground(atom, binding) for atom in rule.positive)
                yield Derivation(_ground(rule.head, binding), body, absent)


def _fit(variables: tuple[str, ...], row: tuple[Any, ...], binding: dict[str, Any]) -> dict[str, Any] | None:
    longer = dict(binding)
    fits = all(longer.setdefault(name, value) == value for name, value in zip(variables, row, strict=True))
    return longer if fits else None


def _ground(atom: Atom, binding: Mapping[str, Any]) -> Fact:
    return atom[0], tuple(binding[name] for name in atom[1])


def supp(counts: Mapping[Fact, int]) -> Facts:
    """Supp of a counting multiset."""
    return frozenset(fact for fact, count in counts.items() if count > 0)


def without(counts: Mapping[Fact, int], facts: Facts) -> Counter[Fact]:
    """The part of a multiset outside of a set."""
    return Counter({fact: count for fact, count in counts.items() if fact not in facts})


def bootstrap(rules: Sequence[Rule], facts: Facts) -> State:
    """Algorithm 2."""
    state: list[Mapping[Fact, int]] = [Counter(facts)]
    known = facts
    while True:
        last = supp(state[-1])
        found = Counter(d.head for d in instances(rules, known) if d.body & last)
        state.append(without(found, known))
        known |= supp(state[-1])
        if not supp(state[-1]):
            return tuple(state[:-1])


@dataclass(frozen=True)
class Iteration:
    """What Update has after an iteration: N#(k), I-(k) and I+(k)."""

    counts: Mapping[Fact, int]
    missing: Facts
    ahead: Facts


def update(rules: Sequence[Rule], old: State, deleted: Facts, inserted: Facts) -> list[Iteration]:
    """Algorithm 3, with negation as in section 3.3.

    One correction: there the re-discovery term reads negated tuples, too, from the intersection of the two epochs, and
    so finds derivations that an inserted tuple forbids, and a second time those that a deleted tuple allows. They must
    be absent from both.
    """
    assert deleted <= supp(old[0])
    assert not inserted & supp(old[0])
    now = Counter((supp(old[0]) - deleted) | inserted)
    done = [Iteration(now, deleted, inserted)]
    known, before = supp(now), supp(old[0])  # I(k-1) and Io(k-1)
    last, last_before = known, before  # N(k-1) and No(k-1)
    while True:
        k = len(done)
        missing, ahead = done[-1].missing, done[-1].ahead
        was = Counter(old[k] if k < len(old) else {})
        lost = Counter(
            d.head
            for d in instances(rules, before)
            if d.body & last_before and (d.body & missing or d.absent & inserted) and d.head not in before
        )
        gained = Counter(
            d.head
            for d in instances(rules, known)
            if d.body & last and (d.body & ahead or d.absent & deleted) and d.head not in known
        )
        again = Counter(
            d.head
            for d in instances(rules, before & known, before | known)
            if d.body & last and d.head in missing and d.head not in known
        )
        assert not lost - was, "nothing is deleted that was not there"
        now = without(was - lost + gained + again, ahead)
        last, last_before = supp(now), supp(was)
        known, before = known | last, before | last_before
        missing = (missing - last) | (last_before - known)
        ahead = (ahead - last_before) | (last - before)
        if not last:
            return done
        done.append(Iteration(now, missing, ahead))


def epochs(strata: Sequence[str], old: Sequence[State], deleted: Facts, inserted: Facts) -> list[State]:
    """Update one stratum after the other, each with the changes of those below as changes of its input."""
    states: list[State] = []
    for text, state in zip(strata, old, strict=True):
        done = update(parse(text), state, deleted, inserted)
        states.append(tuple(iteration.counts for iteration in done))
        facts, before = tuples(states[-1]), tuples(state)
        deleted, inserted = before - facts, facts - before
    return states


def bootstraps(strata: Sequence[str], facts: Facts) -> list[State]:
    """Bootstrap one stratum after the other."""
    states: list[State] = []
    for text in strata:
        states.append(bootstrap(parse(text), facts))
        facts = tuples(states[-1])
    return states


def tuples(state: State) -> Facts:
    """All tuples of a state."""
    return frozenset(fact for counts in state for fact in supp(counts))


def iterations(state: State) -> dict[Fact, tuple[int, int]]:
    """The first iteration and the count of every derived tuple."""
    return {fact: (k, count) for k, counts in enumerate(state) if k for fact, count in counts.items() if count}
