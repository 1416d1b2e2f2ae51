"""Algorithms 2 to 9 of "Modular Materialisation of Datalog Programs" on Python sets, for one relation R: the slow twin.

A fact R(u, v) is the pair (u, v). A stratum is one module, and its explicit facts are all that is not recursive; so
Diff finds nothing, and the nonrecursive counter of a fact is 1 if it is explicit and 0 if not. `Materialisation` is
Algorithms 2 and 3, the modules are 4 to 6 and 7 to 9; numbers in comments are the paper's lines. `considered` counts
rule instances, and in the symmetric-transitive module the facts enumerated.

Three lines are not taken to the letter, as far as our text of the paper is. Lines 42 and 50 have the condition of lines
46 and 55 on the fact derived: otherwise Add returns facts that hold already, which Definition 3 excludes, and Del
misses what two deleted facts derived together, which Definition 6 requires. And line 39 passes to Add also those
inserted facts that Red found: otherwise one that is over-deleted, rederived and inserted in the same update is counted
as nonrecursive but not external, and when its other derivation goes it holds while nothing follows from it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

Fact = tuple[int, int]
Facts = frozenset[Fact]
Counter = Callable[[Fact], int]
Consequences = Callable[[Facts, Facts], Facts]
"""The operator of section 4: heads of the rule instances that hold in the first facts and use one of the second."""
NOTHING: Facts = frozenset()


def transitive(facts: Facts, delta: Facts) -> Facts:
    """Apply rule (1)."""
    return frozenset((u, w) for u, v in facts for x, w in facts if x == v and ((u, v) in delta or (v, w) in delta))


def symmetric_transitive(facts: Facts, delta: Facts) -> Facts:
    """Apply rules (1) and (5)."""
    return transitive(facts, delta) | {(v, u) for u, v in delta & facts}


class Module(Protocol):
    """What section 4 asks of a module."""

    @property
    def considered(self) -> int:
        """How many rule instances were considered so far."""

    def add(self, facts: Facts, delta: Facts) -> Facts:
        """Return what follows with the delta (Definition 3)."""

    def delete(self, facts: Facts, delta: Facts, counter: Counter) -> Facts:
        """Return what is over-deleted with the delta (Definition 6)."""

    def rederive(self, facts: Facts, delta: Facts) -> Facts:
        """Return what of the delta follows from the other facts (Definition 7)."""


class Transitive:
    """Section 5: a module of rule (1)."""

    def __init__(self) -> None:
        self.external: Facts = NOTHING
        self.considered = 0

    def add(self, facts: Facts, delta: Facts) -> Facts:
        """Algorithm 4."""
        found: set[Fact] = set()
        queue = set(delta)
        self.external |= delta  # 41
        for u, v in delta:  # 42
            for x, w in facts - delta:
                if x == v:
                    self.considered += 1
                    if (u, w) not in facts | found:
                        queue.add((u, w))  # 43
                        found.add((u, w))
        while queue:  # 44
            v, w = queue.pop()
            for u, x in self.external:  # 46
                if x == v:
                    self.considered += 1
                    if (u, w) not in facts | found:
                        queue.add((u, w))  # 47
                        found.add((u, w))
        return frozenset(found)

    def delete(self, facts: Facts, delta: Facts, counter: Counter) -> Facts:
        """Algorithm 5."""
        found: set[Fact] = set()
        queue, seen = set(delta), set(delta)
        self.external -= delta  # 49

        def consider(fact: Fact) -> None:
            self.considered += 1
            if fact in facts - seen:
                queue.add(fact)  # 51, 56
                seen.add(fact)
                if counter(fact) == 0:  # 52, 57
                    found.add(fact)

        for u, v in delta:  # 50
            for x, w in facts:
                if x == v:
                    consider((u, w))
        while queue:  # 53
            v, w = queue.pop()
            for u, x in self.external:  # 55
                if x == v:
                    consider((u, w))
        return frozenset(found - delta)  # 58

    def rederive(self, facts: Facts, delta: Facts) -> Facts:
        """Algorithm 6."""
        found: set[Fact] = set()
        for u in {u for u, _ in delta}:  # 60
            reached: set[int] = set()
            front = {u}
            while front:
                at = front.pop()
                self.considered += sum(x == at for x, _ in self.external)
                new = {y for x, y in self.external if x == at} - reached
                reached |= new
                front |= new
            found |= {(u, v) for v in reached}  # 61, 62
        return frozenset(found & delta)  # 63


class SymmetricTransitive:
    """Section 6: a module of rules (1) and (5)."""

    def __init__(self) -> None:
        self.components: set[frozenset[int]] = set()
        self.kept: set[Fact] = set()
        self.considered = 0

    def add(self, facts: Facts, delta: Facts) -> Facts:
        """Algorithm 7."""
        return self._close_edges(delta) - facts  # 64

    def _close_edges(self, delta: Facts) -> Facts:
        found: list[Fact] = []
        for u, v in delta:  # 67
            for node in (u, v):
                if not any(node in component for component in self.components):  # 68, 70
                    self.components.add(frozenset({node}))  # 69, 71
                    found.append((node, node))
            one, other = (next(c for c in self.components if node in c) for node in (u, v))
            if one != other:  # 72
                self.components -= {one, other}
                self.components.add(one | other)  # 73
                for a in one:  # 74
                    for b in other:
                        found += [(a, b), (b, a)]  # 75
        self.considered += len(found)
        return frozenset(found)

    def delete(self, facts: Facts, delta: Facts, counter: Counter) -> Facts:
        """Algorithm 8."""
        found: set[Fact] = set()
        for component in {c for c in self.components if any({u, v} <= c for u, v in delta)}:  # 78
            for a in component:  # 79
                for b in component:
                    self.considered += 1
                    (self.kept if counter((a, b)) else found).add((a, b))  # 80, 81
            self.components.remove(component)  # 82
        return frozenset(found - delta)  # 83

    def rederive(self, facts: Facts, delta: Facts) -> Facts:
        """Algorithm 9; facts that were not deleted are left out, as in Definition 7."""
        found = self._close_edges(frozenset(self.kept))
        self.kept = set()  # 85
        return found & delta


class Materialisation:
    """Algorithms 2 (MAT-MOD) and 3 (DRed^c-MOD) for a stratum of one module."""

    def __init__(self, module: Module, explicit: Facts) -> None:
        self.module = module
        self.explicit = explicit
        self.facts: Facts = NOTHING
        own, delta = NOTHING, explicit  # 9, 10
        while delta:  # 11
            self.facts |= delta  # 12
            own = delta = module.add(self.facts, delta - own)  # 14, 15

    def update(self, deleted: Facts, inserted: Facts) -> None:
        """Delete and insert explicit facts."""
        before = self.facts
        deleted, inserted = (deleted & self.explicit) - inserted, inserted - self.explicit  # 16
        self.explicit -= deleted
        gone, own, delta = NOTHING, NOTHING, deleted  # 22, 23
        while delta:  # 26
            own, last = self.module.delete(before - gone, delta - own, self._nonrecursive), delta  # 28
            gone |= last  # 29
            delta = own  # 30
        self.explicit |= inserted
        added = NOTHING
        own = self.module.rederive(before, gone)  # 34
        delta = inserted | own  # 32, 35
        own -= inserted
        while delta:  # 36
            added |= delta  # 37
            own = delta = self.module.add((before - gone) | added, delta - own)  # 39, 40
        self.facts = (before - gone) | added  # 20

    def _nonrecursive(self, fact: Fact) -> int:
        return int(fact in self.explicit)


def closure(rules: Consequences, facts: Facts, delta: Facts) -> Facts:
    """Definition 3: the smallest J that holds what follows from the facts and J with one of the delta or J."""
    found = NOTHING
    while new := rules(facts | found, delta | found) - facts - found:
        found |= new
    return found


def over_deleted(rules: Consequences, facts: Facts, delta: Facts, counter: Counter) -> Facts:
    """Definition 6: the smallest J that holds what follows with one of the delta or J, unless it is counted."""
    found = NOTHING
    while new := frozenset(f for f in rules(facts, delta | found) - delta - found if counter(f) == 0):
        found |= new
    return found


def rederivable(rules: Consequences, facts: Facts, delta: Facts) -> Facts:
    """Definition 7: the smallest J that holds what of the delta follows from the other facts and J."""
    found, left = NOTHING, facts - delta
    while new := (rules(left | found, left | found) & delta) - found:
        found |= new
    return found
