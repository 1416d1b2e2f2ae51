"""Find the strata: which relations are computed together, and in which order.

    Reach(x, y) :- Edge(x, y).                       stratum 1: Reach (recursive)
    Reach(x, z) :- Reach(x, y), Edge(y, z).          stratum 2: Apart
    Apart(x, y) :- Node(x), Node(y), not Reach(x, y).

A relation depends on the relations its rules read. The strata are the strongly connected components of the relations
that have rules, each after those it depends on. Negation and aggregation ask for a complete relation, so such an edge
may not lead back into its own component: a cycle with one is reported, edge by edge. Auxiliary relations are left
out of what is shown: an edge into one and the edge out of it are one step of the user's rule.
"""

from __future__ import annotations

from enum import IntEnum
from itertools import pairwise
from operator import attrgetter

from tidelog.base.diagnostic import Label, Report
from tidelog.base.graph import components, path
from tidelog.base.record import record
from tidelog.base.span import NOWHERE, Span
from tidelog.logic.program import Aggregate, Negative, Positive, Program


class Kind(IntEnum):
    """How a rule reads a relation; the greater kinds need it complete."""

    POSITIVE = 0
    NEGATIVE = 1
    AGGREGATE = 2


@record
class Edge:
    """The rules of `head` read `body`: one place where they do."""

    head: str
    body: str
    kind: Kind
    span: Span


_KIND = {Positive: Kind.POSITIVE, Negative: Kind.NEGATIVE, Aggregate: Kind.AGGREGATE}
_SAYS = {
    Kind.POSITIVE: "`{0}` needs `{1}`",
    Kind.NEGATIVE: "`{0}` needs that `{1}` does not hold",
    Kind.AGGREGATE: "`{0}` aggregates over `{1}`",
}
_CODE = {Kind.NEGATIVE: "E0601", Kind.AGGREGATE: "E0602"}
_MESSAGE = {
    Kind.NEGATIVE: "`{0}` depends on its own negation",
    Kind.AGGREGATE: "`{0}` depends on an aggregate over itself",
}
_NOTE = (
    "negation and aggregation look at a complete relation, so nothing that the relation is computed from may depend on"
    " their result"
)
_HINT = "break the cycle, for example by reading there a relation that does not depend on `{0}`"
_BEST = (
    "; if it is the least or greatest value that counts, declare the column so: `relation R(key: u32, min value: u64)`"
)


def stratify(program: Program, report: Report) -> list[list[str]] | None:
    """Return the components of the relations that have rules, in evaluation order; None if some cycle is negative."""
    found, wrong = components_of(program)
    if program.groups_in_recursion:
        bodies = ((rule.head, literal) for rule in program.rules for literal in rule.body)
        negated = {(head, literal.atom.relation) for head, literal in bodies if isinstance(literal, Negative)}
        wrong = [pair for pair in wrong if pair in negated]
    place = {name: i for i, component in enumerate(found) for name in component}
    shown: set[tuple[str, str]] = set()
    for head, body in wrong:
        if (head, body) not in shown:
            shown.update(_report_cycle(program, set(found[place[head]]), head, body, report))
    return None if wrong else found


def components_of(program: Program) -> tuple[list[list[str]], list[tuple[str, str]]]:
    """Return the components in evaluation order, and which relations need which of their own one complete."""
    derived = {rule.head for rule in program.rules}
    reads: dict[str, dict[str, None]] = {name: {} for name in program.relations if name in derived}
    complete: list[tuple[str, str]] = []
    for rule in program.rules:
        of_head = reads[rule.head]
        for literal in rule.body:
            if isinstance(literal, Positive | Negative | Aggregate) and literal.atom.relation in derived:
                of_head[literal.atom.relation] = None
                if not isinstance(literal, Positive):
                    complete.append((rule.head, literal.atom.relation))
    found = components(reads)
    place = {name: i for i, component in enumerate(found) for name in component}
    return found, list(dict.fromkeys(pair for pair in complete if place[pair[0]] == place[pair[1]]))


def _report_cycle(program: Program, component: set[str], head: str, body: str, report: Report) -> list[tuple[str, str]]:
    """Report a shortest cycle through an edge that needs its relation complete; return the ends of all its edges."""
    edges = _edges(program, component)
    inside: dict[str, list[str]] = {}
    for source, target in edges:
        inside.setdefault(source, []).append(target)
    way = [body] if body == head else path(inside, body, head) or []
    names = [head, *way]
    pairs = list(pairwise(names))
    kind = attrgetter("kind")
    cycle = [max(edges[pair], key=kind) if i == 0 else min(edges[pair], key=kind) for i, pair in enumerate(pairs)]
    shown = _without_auxiliary(cycle, program)
    worst = max(shown, key=kind)
    start = shown.index(worst)
    shown = shown[start:] + shown[:start]
    labels = [Label(edge.span, _SAYS[edge.kind].format(edge.head, edge.body)) for edge in shown]
    report.add(
        _CODE[worst.kind],
        _MESSAGE[worst.kind].format(worst.head),
        worst.span,
        note=_NOTE,
        hint=_HINT.format(worst.head) + (_BEST if worst.kind is Kind.AGGREGATE else ""),
        labels=labels if len(labels) > 1 else (),
    )
    return pairs


def _edges(program: Program, component: set[str]) -> dict[tuple[str, str], list[Edge]]:
    """Return the edges inside a component by their ends."""
    edges: dict[tuple[str, str], list[Edge]] = {}
    for rule in program.rules:
        for literal in rule.body if rule.head in component else ():
            if isinstance(literal, Positive | Negative | Aggregate) and literal.atom.relation in component:
                span = literal.span if isinstance(literal, Aggregate) else literal.atom.span
                place = rule.origin.span if span is NOWHERE else span
                edge = Edge(rule.head, literal.atom.relation, _KIND[type(literal)], place)
                edges.setdefault((edge.head, edge.body), []).append(edge)
    return edges


def _without_auxiliary(cycle: list[Edge], program: Program) -> list[Edge]:
    """Join each edge into an auxiliary relation with the edge out of it."""
    starts = [i for i, edge in enumerate(cycle) if not program.relations[edge.head].auxiliary]
    if not starts:
        return cycle
    shown: list[Edge] = []
    for edge in cycle[starts[0] :] + cycle[: starts[0]]:
        if shown and program.relations[edge.head].auxiliary:
            last = shown.pop()
            shown.append(Edge(last.head, edge.body, max(last.kind, edge.kind), last.span))
        else:
            shown.append(edge)
    return shown
