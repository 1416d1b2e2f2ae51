"""Choose the fewest column orders of each relation that serve all its probes.

Probes of R on columns {0}, {0, 1} and {2} need two orders, not three: (0, 1, 2) serves the first two as prefixes, and
(2, 0, 1) the last. An order serves a chain of signatures, each contained in the next, so the fewest orders are the
fewest chains that cover all signatures: by Dilworth's theorem, a maximum matching of "is contained in" (Subotic et al.,
Automatic Index Selection for Large-Scale Datalog Computation, VLDB 2018).

Orders name all columns of the relation, so each also tells whether a tuple is there. Orders that exist already are kept
while a probe needs them, and new ones are chosen only for what they do not serve: adding a rule rebuilds nothing. The
result is therefore minimal for a program planned at once, and close to it for one that grew.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping

from tidelog.base.expr import Const, Var
from tidelog.plan import nodes
from tidelog.plan.join.spine import spine


def choose_indexes(
    relations: Mapping[str, nodes.Relation], probes: Iterable[nodes.Probe], existing: Iterable[nodes.Index] = ()
) -> tuple[nodes.Index, ...]:
    """Return the orders that serve every probe, by relation."""
    signatures: dict[str, dict[int, None]] = {}
    for probe in dict.fromkeys(probes):
        signatures.setdefault(probe.relation, {})[sum(1 << column for column in probe.columns)] = None
    present: dict[str, list[tuple[int, ...]]] = {}
    for order in existing:
        present.setdefault(order.relation, []).append(order.columns)
    return tuple(
        nodes.Index(name, columns)
        for name, relation in relations.items()
        if name in signatures
        for columns in orders_for(list(signatures[name]), len(relation.columns), present.get(name, []))
    )


def probes_of(trees: Iterable[nodes.Project]) -> tuple[nodes.Probe, ...]:
    """Return the distinct probes of some trees; a delta is read whole, so it is none."""
    found: dict[tuple[str, tuple[int, ...]], None] = {}
    for tree in trees:
        for node in spine(tree):
            match node:
                case nodes.Scan() | nodes.Aggregate():
                    _add(found, node, ())
                case nodes.Join(right=side, keys=keys) | nodes.AntiJoin(right=side, keys=keys):
                    _add(found, side, keys)
                case nodes.Product(right=side):
                    _add(found, side, ())
                case _:
                    pass
    return tuple(nodes.Probe(relation, columns) for relation, columns in found)


def _add(found: dict[tuple[str, tuple[int, ...]], None], side: nodes.Node, keys: tuple[Var, ...]) -> None:
    match side:
        case nodes.Scan(version=version) if version is not nodes.Version.DELTA:
            scan = side
        case nodes.Aggregate(input=scan, keys=keys):
            pass
        case _:
            return
    columns = bound_columns(scan.terms, keys)
    if columns:
        found[scan.relation, columns] = None


def bound_columns(terms: tuple[Var | Const | None, ...], keys: tuple[Var, ...]) -> tuple[int, ...]:
    """Return the columns of a scan whose value is known when the keys are."""
    names = [key.name for key in keys]
    return tuple(
        [
            column
            for column, term in enumerate(terms)
            if isinstance(term, Const) or (isinstance(term, Var) and term.name in names)
        ]
    )


def orders_for(signatures: list[int], arity: int, existing: Iterable[tuple[int, ...]] = ()) -> list[tuple[int, ...]]:
    """Return the column orders of one relation: existing ones still needed, then new ones for the rest.

    >>> orders_for([0b001, 0b011, 0b100], 3)
    [(0, 1, 2), (2, 0, 1)]
    >>> orders_for([0b001, 0b110], 3, existing=[(0, 2, 1)])
    [(0, 2, 1), (1, 2, 0)]
    """
    rest = sorted(set(signatures), key=lambda s: (s.bit_count(), s))
    kept = []
    for order in existing:
        served = {prefix for prefix in _prefixes(order) if prefix in rest}
        if served:
            kept.append(order)
            rest = [signature for signature in rest if signature not in served]
    return kept + [_order(chain, arity) for chain in chains(rest)]


def chains(signatures: list[int]) -> list[list[int]]:
    """Cover sets, given from small to large, by the fewest chains of containment.

    >>> [[bin(s) for s in chain] for chain in chains([0b001, 0b010, 0b011, 0b101])]
    [['0b1', '0b101'], ['0b10', '0b11']]
    """
    above = {s: [t for t in reversed(signatures) if t != s and t & s == s] for s in signatures}
    next_up: dict[int, int] = {}
    next_down: dict[int, int] = {}
    for start in signatures:
        _augment(start, above, next_up, next_down)
    found = []
    for bottom in signatures:
        if bottom not in next_down:
            chain = [bottom]
            while chain[-1] in next_up:
                chain.append(next_up[chain[-1]])
            found.append(chain)
    return found


def _augment(start: int, above: dict[int, list[int]], next_up: dict[int, int], next_down: dict[int, int]) -> None:
    """Match one more set with a set above it, along a shortest augmenting path if there is one."""
    came_from: dict[int, int] = {}
    queue = deque([start])
    while queue:
        below = queue.popleft()
        for target in above[below]:
            if target in came_from:
                continue
            came_from[target] = below
            if target in next_down:
                queue.append(next_down[target])
                continue
            while True:
                below = came_from[target]
                freed = next_up.get(below)
                next_up[below], next_down[target] = target, below
                if freed is None:
                    return
                target = freed  # noqa: PLW2901 - walks the path back; the loops are left after it


def _prefixes(order: tuple[int, ...]) -> list[int]:
    found, prefix = [], 0
    for column in order:
        prefix |= 1 << column
        found.append(prefix)
    return found


def _order(chain: list[int], arity: int) -> tuple[int, ...]:
    order: list[int] = []
    for signature in [*chain, (1 << arity) - 1]:
        order += [column for column in range(arity) if signature >> column & 1 and column not in order]
    return tuple(order)
