"""Recognise closures: relations that rules make transitive, symmetric, or an equivalence.

    T(x, z) :- T(x, y), T(y, z).      transitive, nonlinear
    T(x, z) :- T(x, y), E(y, z).      transitive, left-linear: the recursive atom has the head's source
    T(x, z) :- E(x, y), T(y, z).      transitive, right-linear
    T(x, y) :- T(y, x).               symmetric
    T(x, x) :- N(x).                  reflexive on N

Transitive (nonlinear) and symmetric rules together give an equivalence on the nodes that occur; a reflexive rule adds
nodes that stand alone, or, as `T(x, x) :- T(x, _)`, nothing. Other rules may feed the same relation, recursive ones
too (as in Hu et al., modular materialisation):

* nonlinear: T is the closure of everything the feeding rules derive;
* linear: T is what the feeding rules derive, continued along paths of the *step* relation E, which is from below the
  stratum. It is the closure of E exactly if the only feed is `T(x, y) :- E(x, y).` (`exact`).

A closure may live in two columns of a wider relation, if the others hold the same constants or the same variables in
the head and in all its atoms: `T(g, x, z) :- T(g, x, y), T(g, y, z).` is one closure for each g (`partition`),
`Triple(x, 4, z) :- Triple(x, 4, y), Triple(y, 4, z).` is a closure of those triples (`constants`).
"""

from __future__ import annotations

from enum import Enum

from tidelog.base.expr import Const, Var
from tidelog.base.record import record
from tidelog.plan.closures.classify import recursive_scans
from tidelog.plan.join.spine import spine
from tidelog.plan.nodes import Join, Rule, Scan, Stratum

Terms = tuple[Var | Const | None, ...]


class Kind(Enum):
    """What the rules close a relation under."""

    TRANSITIVE = "transitive"
    SYMMETRIC_TRANSITIVE = "symmetric-transitive"
    EQUIVALENCE = "equivalence"


class Form(Enum):
    """Where the recursive atom stands in the transitive rule."""

    LEFT = "left-linear"
    RIGHT = "right-linear"
    NONLINEAR = "nonlinear"


@record
class Closure:
    """A closure in the columns `source` and `target` of a relation.

    `rules` are the rules that make it, `feeds` the other rules of the relation. `steps` are the scans of the step
    relations of linear rules, with `step_columns` their source and target columns. `alone` says that the stratum is
    nothing but this closure: no other relation, no recursive feed.
    """

    relation: str
    kind: Kind
    form: Form
    source: int
    target: int
    partition: tuple[int, ...]
    constants: tuple[tuple[int, Const], ...]
    rules: tuple[Rule, ...]
    feeds: tuple[Rule, ...]
    steps: tuple[Scan, ...]
    step_columns: tuple[tuple[int, int], ...]
    exact: bool
    alone: bool


@record
class _Transitive:
    """A transitive rule: where its closure lives, and its step if it is linear."""

    rule: Rule
    form: Form
    place: tuple[int, int, tuple[int, ...], tuple[tuple[int, Const], ...]]
    step: Scan | None = None
    step_columns: tuple[int, int] = (0, 1)


def closures(stratum: Stratum) -> tuple[Closure, ...]:
    """Return the closures of a stratum, at most one for each of its relations."""
    if not stratum.recursive:
        return ()
    found = (_closure(name, stratum) for name in stratum.relations)
    return tuple(closure for closure in found if closure is not None)


def closure_of(stratum: Stratum) -> Closure | None:
    """Return the closure that a stratum is, if it is nothing else."""
    found = closures(stratum)
    return found[0] if len(found) == 1 and found[0].alone else None


def _closure(relation: str, stratum: Stratum) -> Closure | None:
    rules = [rule for rule in stratum.rules if rule.head == relation]
    candidates = [shape for rule in rules if (shape := _transitive(rule, stratum)) is not None]
    if not candidates:
        return None
    first = next((shape for shape in candidates if shape.form is Form.NONLINEAR), candidates[0])
    transitive = [shape for shape in candidates if (shape.form, shape.place) == (first.form, first.place)]
    used = {shape.rule.identity for shape in transitive}
    symmetric = [rule for rule in rules if _is_symmetric(rule, first)]
    reflexive = [rule for rule in rules if _is_reflexive(rule, first)]
    kind = Kind.TRANSITIVE
    if symmetric and first.form is Form.NONLINEAR:
        kind = Kind.EQUIVALENCE if reflexive else Kind.SYMMETRIC_TRANSITIVE
        used.update(rule.identity for rule in symmetric)
        used.update(rule.identity for rule in reflexive if rule.reads == (relation,))
    feeds = tuple(rule for rule in rules if rule.identity not in used)
    source, target, partition, constants = first.place
    steps = [(shape.step, shape.step_columns) for shape in transitive if shape.step is not None]
    return Closure(
        relation,
        kind,
        first.form,
        source,
        target,
        partition,
        constants,
        tuple(rule for rule in rules if rule.identity in used),
        feeds,
        tuple(step for step, _ in steps),
        tuple(columns for _, columns in steps),
        _is_exact(transitive, feeds),
        len(stratum.relations) == 1 and not any(recursive_scans(rule, stratum) for rule in feeds),
    )


def _transitive(rule: Rule, stratum: Stratum) -> _Transitive | None:
    """Return the shape of a transitive rule: two atoms, joined end to start, and nothing else."""
    head = head_terms(rule)
    nodes = spine(rule.body)
    if head is None or len(nodes) != 3 or not isinstance(nodes[1], Join):
        return None
    left, right = nodes[0], nodes[1].right
    if not isinstance(left, Scan) or not isinstance(right, Scan):
        return None
    for first, second in ((left, right), (right, left)):
        if first.relation == second.relation == rule.head:
            place = chain(head, first.terms, second.terms)
            if place is not None:
                return _Transitive(rule, Form.NONLINEAR, place)
        elif first.relation == rule.head and second.relation not in stratum.relations:
            shape = _linear(rule, head, first, second, Form.LEFT) or _linear(rule, head, first, second, Form.RIGHT)
            if shape is not None:
                return shape
    return None


def chain(
    head: Terms, first: Terms, second: Terms
) -> tuple[int, int, tuple[int, ...], tuple[tuple[int, Const], ...]] | None:
    """Return the columns of `T(x, z) :- T(x, y), T(y, z)`, the others being equal in all three."""
    moving = [c for c in range(len(head)) if not head[c] == first[c] == second[c]]
    if len(moving) != 2:
        return None
    source, target = moving
    x, y, z = head[source], first[target], head[target]
    fits = first[source] == x and second[source] == y and second[target] == z
    if fits and _distinct_variables(x, y, z) and _free(moving, head, x, y, z):
        return source, target, *_rest(moving, head)
    return None


def _linear(rule: Rule, head: Terms, own: Scan, step: Scan, form: Form) -> _Transitive | None:
    """Return the shape of `T(x, z) :- T(x, y), E(y, z)` (left) or `T(x, z) :- E(x, y), T(y, z)` (right)."""
    moving = [c for c in range(len(head)) if head[c] != own.terms[c]]
    if len(moving) != 1 or len([term for term in step.terms if isinstance(term, Var)]) != 2:
        return None
    changed = moving[0]
    y, end = own.terms[changed], head[changed]
    for kept in range(len(head)):
        if kept == changed or not _distinct_variables(head[kept], y, end):
            continue
        if kept > changed if form is Form.LEFT else kept < changed:
            continue
        if not _free([kept, changed], head, head[kept], y, end):
            continue
        near, far = (_position(step, y), _position(step, end))
        if near is None or far is None:
            return None
        columns = (near, far) if form is Form.LEFT else (far, near)
        source, target = (kept, changed) if form is Form.LEFT else (changed, kept)
        return _Transitive(rule, form, (source, target, *_rest([kept, changed], head)), step, columns)
    return None


def _position(scan: Scan, term: Var | Const | None) -> int | None:
    found = [c for c, other in enumerate(scan.terms) if other == term]
    return found[0] if len(found) == 1 else None


def _distinct_variables(*terms: Var | Const | None) -> bool:
    return all(isinstance(term, Var) for term in terms) and len(set(terms)) == len(terms)


def _free(moving: list[int], head: Terms, *terms: Var | Const | None) -> bool:
    """Tell whether the columns that stay the same mention none of the closure's own variables."""
    return not any(head[c] in terms or head[c] is None for c in range(len(head)) if c not in moving)


def _rest(moving: list[int], head: Terms) -> tuple[tuple[int, ...], tuple[tuple[int, Const], ...]]:
    others = [(c, term) for c, term in enumerate(head) if c not in moving]
    partition = tuple(c for c, term in others if isinstance(term, Var))
    return partition, tuple((c, term) for c, term in others if isinstance(term, Const))


def head_terms(rule: Rule) -> Terms | None:
    """Return the head's columns if they are variables and constants only."""
    terms = rule.body.expressions
    return (
        tuple(t for t in terms if isinstance(t, Var | Const))
        if all(isinstance(t, Var | Const) for t in terms)
        else None
    )


def _is_symmetric(rule: Rule, closure: _Transitive) -> bool:
    """Tell whether the rule is `T(x, y) :- T(y, x)` in the closure's columns."""
    head, nodes = head_terms(rule), spine(rule.body)
    if head is None or len(nodes) != 2 or not isinstance(nodes[0], Scan) or nodes[0].relation != rule.head:
        return False
    source, target, *_ = closure.place
    turned = list(nodes[0].terms)
    turned[source], turned[target] = turned[target], turned[source]
    x, y = head[source], head[target]
    same = tuple(turned) == head and _distinct_variables(x, y) and _free([source, target], head, x, y)
    return same and _rest([source, target], head) == closure.place[2:]


def _is_reflexive(rule: Rule, closure: _Transitive) -> bool:
    """Tell whether the rule is `T(x, x) :- ...` in the closure's columns, over other relations or from a T of x."""
    head, nodes = head_terms(rule), spine(rule.body)
    source, target, *_ = closure.place
    if head is None or head[source] != head[target] or not isinstance(head[source], Var):
        return False
    if rule.head not in rule.reads:
        return True
    if len(nodes) != 2 or not isinstance(nodes[0], Scan):
        return False
    terms = nodes[0].terms
    others = all(terms[c] == head[c] for c in range(len(head)) if c not in (source, target))
    return others and head[source] in (terms[source], terms[target])


def _is_exact(transitive: list[_Transitive], feeds: tuple[Rule, ...]) -> bool:
    """Tell whether the relation is the closure of its feeds (nonlinear) or of its step relation (linear)."""
    if transitive[0].form is Form.NONLINEAR:
        return True
    if len(transitive) != 1 or len(feeds) != 1:
        return False
    step, (near, far) = transitive[0].step, transitive[0].step_columns
    head, nodes = head_terms(feeds[0]), spine(feeds[0].body)
    if step is None or head is None or len(nodes) != 2 or not isinstance(nodes[0], Scan):
        return False
    base = nodes[0]
    source, target, *_ = transitive[0].place
    if len(head) != 2 or base.relation != step.relation or not _distinct_variables(head[source], head[target]):
        return False
    wanted = list(step.terms)
    wanted[near], wanted[far] = head[source], head[target]
    return base.terms == tuple(wanted)
