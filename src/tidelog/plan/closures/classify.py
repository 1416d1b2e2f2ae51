"""Columns by which a recursive stratum falls into independent pieces.

If every recursive rule copies such a column from its one recursive atom to its head, tuples that differ in it never
meet: an engine can partition by it, give every partition all lower relations, and run each to its own fixpoint.

Closures have a file of their own, `closures`. All functions here look at `Rule.body`, the rule's definition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tidelog.base.expr import Var
from tidelog.plan.join.spine import scans
from tidelog.plan.nodes import Rule, Scan, Stratum


def recursive_scans(rule: Rule, stratum: Stratum) -> list[Scan]:
    """Return the scans of a rule's body that read a relation of its own stratum."""
    if not any(name in stratum.relations for name in rule.reads):
        return []
    return [scan for scan in scans(rule.body) if scan.relation in stratum.relations]


def decompositions(stratum: Stratum) -> tuple[Mapping[str, int], ...]:
    """Return the ways to partition a recursive stratum: a column for each of its relations.

    Every recursive rule has one recursive atom, and its head has in its column the variable which that atom has in
    its own. `T(x, z) :- T(x, y), E(y, z).` decomposes by column 0; so does every stratum made of such rules.
    """
    if not stratum.recursive:
        return ()
    pairs: list[tuple[str, str, set[tuple[int, int]]]] = []
    for rule in stratum.rules:
        recursive = recursive_scans(rule, stratum)
        if len(recursive) > 1:
            return ()
        pairs += [(rule.head, scan.relation, set(_copied(rule, scan))) for scan in recursive]
    first = stratum.relations[0]
    starts = sorted(
        {i if head == first else j for head, body, found in pairs if first in (head, body) for i, j in found}
    )
    found = (_spread({first: start}, pairs) for start in starts)
    return tuple(columns for columns in found if columns is not None)


def _copied(rule: Rule, scan: Scan) -> Iterator[tuple[int, int]]:
    """The pairs of a head column and an atom's column that hold the same variable."""
    for i, expression in enumerate(rule.body.expressions):
        if isinstance(expression, Var):
            yield from ((i, j) for j, term in enumerate(scan.terms) if term == expression)


def _spread(columns: dict[str, int], pairs: list[tuple[str, str, set[tuple[int, int]]]]) -> Mapping[str, int] | None:
    """Follow the rules from the relations whose column is known to the others; None if two rules disagree.

    Where an atom repeats the variable, several columns would do, and the first one is taken.
    """
    changed = True
    while changed:
        changed = False
        for head, body, allowed in pairs:
            match columns.get(head), columns.get(body):
                case int(i), int(j):
                    if (i, j) not in allowed:
                        return None
                case int(i), None:
                    choices = sorted(b for a, b in allowed if a == i)
                    if not choices:
                        return None
                    columns[body], changed = choices[0], True
                case None, int(j):
                    choices = sorted(a for a, b in allowed if b == j)
                    if not choices:
                        return None
                    columns[head], changed = choices[0], True
                case _:
                    pass
    return columns
