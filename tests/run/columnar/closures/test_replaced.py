"""Rules that replace equals by equals are a module: Definitions 3, 6 and 7, equal states, and one step a tuple."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from random import Random

import pytest

from benchmarks.modules.families import SAME
from tests.generate.pipeline import plan_text
from tidelog.plan.closures.replace_equals import ReplacingRule
from tidelog.plan.closures.split_modules import ClosureRule
from tidelog.run.columnar import engine as columnar
from tidelog.run.columnar.closures import modules
from tidelog.run.columnar.closures.replaced import Replacing
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.columnar.rules.bag import Bags
from tidelog.run.columnar.rules.deriving import Deriving
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.contract.engine import Delta, Fallback
from tidelog.run.contract.module import Module
from tidelog.run.contract.phase import Job, Phase, Support
from tidelog.run.phases import AFTER, CURRENT, DELETED, DELTA, WITH_DYING, View

Fact = tuple[int, ...]
Pairs = set[tuple[int, int]]


def rows(relation: Relation, view: View) -> set[Fact]:
    """Return what a view shows, as tuples of codes."""
    found = relation.rows(view)
    return set(zip(*(relation.layout.codes(found, c).tolist() for c in range(relation.arity)), strict=True))


def derived(bags: Bags) -> list[Fact]:
    return [
        fact
        for parts in bags.values()
        for bag in parts
        for fact in zip(*(bag.layout.codes(bag.rows, c).tolist() for c in range(3)), strict=True)
    ]


def connected(pairs: Pairs) -> Pairs:
    """Return the pairs of names that are equal by some steps."""
    found = pairs | {(y, x) for x, y in pairs}
    while more := {(x, z) for x, y in found for w, z in found if y == w} - found:
        found |= more
    return found


@dataclass
class Checked:
    """The module, each answer of which is held against its definition."""

    module: Replacing
    rule: ReplacingRule
    calls: set[str]

    def _replaced(self, facts: Iterable[Fact], pairs: Pairs) -> set[Fact]:
        """Return the facts with equals by one step in place of each other."""
        of: dict[int, set[int]] = {}
        for x, y in pairs:
            of.setdefault(x, set()).add(y)

        def names(column: int, name: int) -> set[int]:
            return {name, *(of.get(name, ()) if column in self.rule.columns else ())}

        return {(a, p, b) for s, p, o in facts for a, b in product(names(0, s), names(2, o))}

    def _pairs(self, view: View) -> Pairs:
        return {(s, o) for s, _, o in rows(self.module.store.relation(self.rule.reads[1]), view)}

    def add(self, jobs: Sequence[Job]) -> Bags:
        """Definition 3."""
        held, new = rows(self.module.whole, CURRENT), rows(self.module.external, DELTA)
        found = self.module.add(jobs)
        assert set(derived(found)) == self._replaced(held | new, self._pairs(CURRENT)) - held
        return self._once("add", found)

    def diff(self, jobs: Sequence[Job]) -> Bags:
        """Definition 5: where the rule itself goes or comes, all that it derives does."""
        found = self.module.diff(jobs)
        assert set(derived(found)) == self._replaced(rows(self.module.external, AFTER), self._pairs(AFTER))
        return self._once("diff", found)

    def delete(self, jobs: Sequence[Job]) -> Bags:
        """Definition 6: what follows in one step with a deleted fact or pair, and no more than in any number."""
        left, gone, lost = rows(self.module.whole, AFTER), rows(self.module.external, DELTA), self._pairs(DELTA)
        pairs, external = self._pairs(WITH_DYING), rows(self.module.external, AFTER) | gone
        stand = rows(self.module.external, AFTER) if self.module.whole.support is not Support.NONE else set[Fact]()
        found = set(derived(self.module.delete(jobs)))
        least = left & (
            self._replaced(gone, pairs) | (self._replaced(external, pairs) - self._replaced(external, pairs - lost))
        )
        ends = {name for pair in lost for name in pair}
        at = {fact for fact in left for column in self.rule.columns if fact[column] in ends}
        assert least - stand <= found <= left & self._replaced(gone | at, connected(pairs))
        return self._once("delete", self.module.delete(jobs))

    def rederive(self, jobs: Sequence[Job]) -> Bags:
        """Definition 7, with the external facts that are left."""
        found = self.module.rederive(jobs)
        if self.module.store.phase is Phase.COUNT:
            return found
        gone, external = rows(self.module.whole, DELETED), rows(self.module.external, AFTER)
        assert set(derived(found)) == gone & self._replaced(external, connected(self._pairs(AFTER)))
        return self._once("rederive", found)

    def _once(self, call: str, found: Bags) -> Bags:
        """Each tuple is one derivation of the rule."""
        assert len(derived(found)) == len(set(derived(found)))
        if derived(found):
            self.calls.add(call)
        return found


PLANS = (
    SAME,
    SAME + 'P(y, p, x) :- P(x, p, y), p != "same".  P(x, "same", y) :- P(z, "is", x), P(z, "is", y), x != y.',
    SAME.replace("P(s, p, y) :- P(x", "P(s, p, y) :- s != 77, P(x"),
)


@pytest.mark.parametrize("strategy", ["recompute", "auto", "modular"])
def test_the_module_captures_its_rules(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = set[str]()
    make = modules.closing

    def checked(rule: ClosureRule, store: Deriving) -> Module:
        made = make(rule, store)
        if not isinstance(made, Replacing):
            return made
        assert isinstance(rule, ReplacingRule)
        return Checked(made, rule, calls)

    monkeypatch.setattr(columnar, "closing", checked)
    plans = [plan_text(text) for text in PLANS]
    for seed in range(12):
        random, plan = Random(seed), plans[seed % 3]
        engine = ColumnarEngine(plan, strategy=strategy, fallback=Fallback(math.inf) if strategy == "auto" else None)
        twin = ColumnarEngine(plan, strategy="recompute", closures=False)
        names = random.choice((3, 5, 8))
        for _ in range(7):
            held = sorted(twin.rows("W"))
            given = [
                (random.randrange(names), random.choice(("same", "in", "is")), random.randrange(names))
                for _ in range(random.randint(0, 4))
            ]
            change = {"W": Delta(given, random.sample(held, min(random.randint(0, 3), len(held))))}
            plan = random.choice((*plans, *[plan] * 12))
            found, wanted = (one.update(change, plan).changes.get("P", Delta()) for one in (engine, twin))
            assert sorted(engine.rows("P")) == sorted(twin.rows("P")), f"seed {seed}"
            assert (set(found.inserted), set(found.deleted)) == (set(wanted.inserted), set(wanted.deleted))
            assert not engine.verify(), f"seed {seed}"
    assert calls >= ({"add"} if strategy == "recompute" else {"add", "delete", "rederive"})


@pytest.mark.parametrize("strategy", ["auto", "modular", "recompute"])
def test_names_at_both_ends_take_one_step_a_tuple(strategy: str) -> None:
    """By rules each of the n squared facts is derived 2 n times."""
    n = 40
    engine = ColumnarEngine(plan_text(SAME), strategy=strategy)
    names = [(first + i, "same", first + i + 1) for first in (0, 1000) for i in range(n - 1)]
    (work,) = engine.update({"W": Delta([*names, (3, "knows", 1005)])}).work
    assert engine.count("P") == 3 * n * n
    assert work.derivations < 5 * engine.count("P")
    engine.update({"W": Delta([], [(20, "same", 21)])})
    assert engine.count("P") == 21 * 21 + 19 * 19 + n * n + 21 * n
    assert not engine.verify()
