"""Datalog whose rules change, naively: the circuit of figure 1 of Lima et al. (2024), as streams by definition.

    E ---> I ---> + ---> distinct ---+---> known
                  ^                  |
    P ---> I ---> T <---- z^-1 <-----+

Facts (E) and rules (P) are streams of changes, and I sums them up. In every step a loop begins with nothing known and
goes on until nothing is new: what is known then is all that follows. D tells what that changed.

`python examples/naive/circuit.py` plays example 4.2 of the paper. `tidelog.dbsp.Dyre` answers the same, and looks only
at what changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tidelog.dbsp import (
    Atom,
    Fact,
    Stream,
    Var,
    ZSet,
    ZSets,
    differentiate,
    eliminate,
    fix,
    integrate,
    lift,
    read,
)

STATEMENTS = ZSets(1)
"""Z-sets of facts, or of rules: rows of one column."""


def changes_of_all(facts: Stream[ZSet], rules: Stream[ZSet]) -> Stream[ZSet]:
    """Return how all that follows from facts and rules changes with them."""
    return differentiate(lift(fixed_point, STATEMENTS)(integrate(facts), integrate(rules)))


def fixed_point(facts: ZSet, rules: ZSet) -> ZSet:
    """Return the facts and all that follows from them: the loop of the circuit."""
    step = lift(lambda known: (facts + consequences(rules, known)).distinct(), STATEMENTS)
    return eliminate(differentiate(fix(step, STATEMENTS)))


def consequences(rules: ZSet, known: ZSet) -> ZSet:
    """Return the immediate consequences of rules: T."""
    facts = [fact for (fact,) in known.to_dict()]
    heads: dict[tuple[Fact], int] = {}
    for (rule,) in rules.to_dict():
        for rewrite in rewrites(rule.body, facts):
            values = tuple([rewrite[term.name] if isinstance(term, Var) else term for term in rule.head.terms])
            heads[Fact(rule.head.relation, values),] = 1
    return ZSet.of(heads, 1)


def rewrites(body: Iterable[Atom], facts: Iterable[Fact]) -> Iterable[Mapping[str, Any]]:
    """Return what the variables of a body may stand for: the rewrite product of its atoms (Definition 3.2)."""
    found: list[Mapping[str, Any]] = [{}]
    for atom in body:
        found = [more for rewrite in found for fact in facts for more in extended(rewrite, atom, fact)]
    return found


def extended(rewrite: Mapping[str, Any], atom: Atom, fact: Fact) -> Iterator[Mapping[str, Any]]:
    """Yield a rewrite with what an atom's variables stand for in a fact, if that fits."""
    if (atom.relation, len(atom.terms)) != (fact.relation, len(fact.values)):
        return
    more = dict(rewrite)
    for term, value in zip(atom.terms, fact.values, strict=True):
        if (more.setdefault(term.name, value) if isinstance(term, Var) else term) != value:
            return
    yield more


def stream(*steps: Mapping[str, int]) -> Stream[ZSet]:
    """Return a stream of statements, each step with the text of what comes (1) and goes (-1)."""
    return Stream.of(STATEMENTS, *(ZSet.of({(read(text),): weight for text, weight in s.items()}, 1) for s in steps))


def main() -> None:
    """Play example 4.2."""
    facts = stream({'P("a", "b")': 1}, {'P("b", "c")': 1}, {'P("c", "d")': 1})
    rules = stream(
        {"R(x, y) <- P(x, y)": 1},
        {"R(x, z) <- R(x, y), P(y, z)": 1},
        {"R(x, y) <- P(x, y)": -1},
    )
    for number, change in enumerate(changes_of_all(facts, rules).take(3)):
        print(f"step {number}")
        for text, weight in sorted((str(fact), weight) for (fact,), weight in change.to_dict().items()):
            print(f"  {weight:+} {text}")


if __name__ == "__main__":
    main()
