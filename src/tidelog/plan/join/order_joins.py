"""Choose the order of a body's parts: greedy, the delta first, never a product where a connected order exists.

    H(x, z) :- A(x), B(y, z), C(x, y), z > 3.          body order: a product of A and B
    H <- select z > 3 (B join (C join A))              order found: A, C on x, B on y, then at once the condition

Next comes the relation that is expected to multiply the rows least (see `estimate`) among those that share a variable
with what is there; on a tie, the one that stands first in the body. Conditions, equations and negated atoms come as
early as their variables are bound; parts that may fail also wait for the parts before them in the body that they are
connected with, which may keep them from failing (see `may_fail`).

An equation leads one way only, from its expression to its variable, so the choice of the first relation can matter: if
an order needs more products than the body has unconnected pieces, some other first relations are tried.

Engines call `order_joins` again with live sizes. It is a pure function of plan nodes; work grows with the number of
parts times the number of candidates at each step, so bodies with hundreds of atoms are no problem.
"""

from __future__ import annotations

from heapq import heappop, heappush

from tidelog.base.tuning.plans import Planning
from tidelog.base.tuning.table import DEFAULT
from tidelog.plan.join.assemble import assemble
from tidelog.plan.join.estimate import Distinct, Estimate, Fixed, Sizes
from tidelog.plan.join.parts import Absent, Body, Element, Equation, Filter, Present, bits_of, conjuncts, parts
from tidelog.plan.join.propagate_equalities import propagate_equalities
from tidelog.plan.nodes import Project


def order_joins(
    tree: Project,
    first: int | None = None,
    sizes: Sizes | None = None,
    distinct: Distinct | None = None,
    planning: Planning = DEFAULT.planning,
    fixed: Fixed | None = None,
) -> Project:
    """Return the best order found for a rule's body, given as its tree in body order (`Rule.body`).

    `first` is the occurrence that reads its delta and comes first; the versions of the others follow from it. A negated
    occurrence as delta is joined, not anti-joined.
    """
    return order_body(body_of(tree), first, Estimate(sizes, distinct, planning, fixed))


def body_of(tree: Project) -> Body:
    """Take a tree apart, as `order_body` wants it and can order it again and again."""
    return simplify(Body(parts(tree), tree.relation, tree.expressions))


def simplify(body: Body) -> Body:
    """Split conjunctions and propagate equalities."""
    split = body.parts
    if any(isinstance(part, Filter) for part in split):
        split = [p for part in split for p in (conjuncts(part.condition) if isinstance(part, Filter) else (part,))]
    kept, expressions = propagate_equalities(split, body.expressions)
    return body if kept is body.parts else Body(kept, body.relation, expressions)


def order_body(body: Body, first: int | None, estimate: Estimate) -> Project:
    """Return the best order found for a body, as a tree."""
    if first is None:
        return assemble(body, best_order(body, estimate))
    return assemble(body, order_from(body, [body.part_of(first)], estimate), first)


def order_from(body: Body, first: list[int], estimate: Estimate) -> list[int]:
    """Return the best order found for the parts of a body that begins with some of them."""
    search = _Search(body, estimate)
    search.run(first)
    return search.order


def best_order(body: Body, estimate: Estimate) -> list[int]:
    """Return the best order found for the parts of a body, whatever it begins with."""
    starts = [i for i, part in enumerate(body.parts) if isinstance(part, Present)]
    probes = _probes(body, starts)
    if probes or not starts:
        return order_from(body, probes, estimate)
    if len(starts) > 1:
        rows = {i: _rows(body, i, estimate, 0) for i in starts}
        starts.sort(key=rows.__getitem__)
    best = None
    least = _pieces(body, starts) - 1 if len(starts) > 1 else 0
    for start in starts[: 1 + int(estimate.planning.other_starts)]:
        search = _Search(body, estimate)
        search.run([start])
        if best is None or search.products < best.products:
            best = search
        if best.products <= least:
            break
    assert best is not None
    return best.order


def _probes(body: Body, starts: list[int]) -> list[int]:
    """Return the equations that give, from nothing, a value to look up in a relation: `x = f(3), R(x, y)`."""
    columns = 0
    for i in starts:
        columns |= body.gives[i]
    return [
        i
        for i, part in enumerate(body.parts)
        if isinstance(part, Equation) and not body.needs[i] and body.gives[i] & columns
    ]


def _pieces(body: Body, starts: list[int]) -> int:
    """Count the pieces of a body that no part connects: one less products are needed in any order."""
    pieces: list[int] = []
    for needs, gives in zip(body.needs, body.gives, strict=True):
        merged, apart = needs | gives, []
        for piece in pieces:
            if piece & merged:
                merged |= piece
            else:
                apart.append(piece)
        pieces = [*apart, merged] if merged else apart
    alone = sum(1 for i in starts if not body.gives[i])
    return alone + sum(1 for piece in pieces if any(body.gives[i] & piece for i in starts))


def _rows(body: Body, i: int, estimate: Estimate, bound: int) -> float:
    part = body.parts[i]
    return estimate.rows(part.node, body.bits, bound) if isinstance(part, Present) else estimate.planning.elements


class _Search:
    """One greedy search: what is placed and bound, and what could come next."""

    __slots__ = ("body", "bound", "estimate", "frontier", "order", "parked", "placed", "products", "ready")

    def __init__(self, body: Body, estimate: Estimate) -> None:
        self.body = body
        self.estimate = estimate
        self.order: list[int] = []
        self.placed = 0
        self.bound = 0
        self.products = 0
        self.ready: list[int] = []
        self.parked: dict[int, list[int]] = {}
        self.frontier: list[tuple[float, int]] = []

    def run(self, first: list[int]) -> None:
        """Order all parts, `first` before the others."""
        body = self.body
        for i in first:
            self._place(i)
        present = []
        for i, part in enumerate(body.parts):
            if isinstance(part, Present):
                present.append(i)
            elif not body.needs[i] and i not in first:
                self._offer(i)
        if first or not present:
            self._drain()
        while len(self.order) < len(body.parts):
            if self.frontier:
                i = heappop(self.frontier)[1]
                if self.placed >> i & 1:
                    continue
            else:
                i = self._unconnected(present)
            self._place(i)
            self._drain()

    def _unconnected(self, present: list[int]) -> int:
        """Return the smallest relation among those left, none of which shares a variable with what is placed."""
        if not self.products:
            present.sort(key=lambda i: (_rows(self.body, i, self.estimate, 0), i), reverse=True)
        self.products += bool(self.order)
        while self.placed >> present[-1] & 1:
            present.pop()
        return present.pop()

    def _place(self, i: int) -> None:
        body = self.body
        self.order.append(i)
        self.placed |= 1 << i
        for waiting in self.parked.pop(i, ()):
            heappush(self.ready, waiting)
        gives = body.gives[i] or (body.needs[i] if isinstance(body.parts[i], Absent) else 0)
        fresh = gives & ~self.bound
        self.bound |= fresh
        touching = body.touching
        for bit in bits_of(fresh):
            for other in touching[bit]:
                if not self.placed >> other & 1:
                    self._offer(other)

    def _offer(self, i: int) -> None:
        """Note what a part with a newly bound variable can do now."""
        body = self.body
        part = body.parts[i]
        if isinstance(part, Present):
            heappush(self.frontier, (self.estimate.rows(part.node, body.bits, self.bound), i))
        elif not body.needs[i] & ~self.bound:
            if isinstance(part, Element) and body.gives[i] & ~self.bound and i not in body.guards:
                heappush(self.frontier, (self.estimate.planning.elements, i))
            else:
                heappush(self.ready, i)

    def _drain(self) -> None:
        """Place every condition, equation and negated atom whose time has come, in body order."""
        guards = self.body.guards
        while self.ready:
            i = heappop(self.ready)
            if self.placed >> i & 1:
                continue
            missing = guards.get(i, 0) & ~self.placed
            if missing:
                self.parked.setdefault(missing.bit_length() - 1, []).append(i)
            else:
                self._place(i)
