"""Translate a rule to select-project-join algebra in the steps of the Shapiro paper (section 3.3, procedures 1 to 5).

    H(x, z) :- R(x, y), S(y, z, 1).

    1. to_products                R(x, y) times S(y', z, '2)
    2. constants_to_selections    R(x, y) times select '2 == 1 (S(y', z, '2))
    3. equalities_to_selections   select y == y' (R(x, y) times select '2 == 1 (S(y', z, '2)))
    4. project_head               project H(x, z) (...)
    5. products_to_joins          project H(x, z) (R(x, y) join on y select '2 == 1 (S(y, z, '2)))
    6. selections_to_scans        project H(x, z) (R(x, y) join on y S(y, z, 1))

In step 1 every column of a scan is a variable of its own: a rule variable where it occurs first, otherwise a fresh one
with a prime. What the paper does not have (conditions, bindings, collections, negated and aggregated atoms) stands at
its place in the body from the first step on; an aggregate is joined at once if it shares a variable. Step 6 is ours: a
scan selects by constants and repeated variables itself. The result is what `translate` gives in one step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from tidelog.base.expr import Const, Expr, Operate, Var
from tidelog.logic import program as logic
from tidelog.plan.join.assemble import equal
from tidelog.plan.join.parts import Absent, Element, Equation, Filter, Part, Present
from tidelog.plan.join.spine import rebuild, spine, with_left
from tidelog.plan.join.translate import columns_of, parts_of
from tidelog.plan.nodes import Aggregate, AntiJoin, Extend, Join, Node, Product, Project, Scan, Select, Unit, Unnest


def translation_steps(rule: logic.Rule) -> list[tuple[str, Node]]:
    """Return the tree after each step, with the step's title."""
    terms = _terms(rule)
    products = to_products(rule)
    constants = constants_to_selections(products, terms)
    equalities = equalities_to_selections(constants, terms)
    projected = project_head(equalities, rule)
    joined = products_to_joins(projected, terms)
    return [
        ("scans and products", products),
        ("constants to selections", constants),
        ("equalities to selections", equalities),
        ("projection to the head", projected),
        ("products to joins", joined),
        ("selections into scans", selections_to_scans(joined, terms)),
    ]


Terms = dict[int, tuple[Var | Const | None, ...]]
"""The terms of each positive atom as the rule has them, by occurrence."""


def _terms(rule: logic.Rule) -> Terms:
    return {
        part.node.occurrence: part.node.terms
        for part in parts_of(rule.body)
        if isinstance(part, Present) and isinstance(part.node, Scan)
    }


def to_products(rule: logic.Rule) -> Node:
    """Step 1: the scans of the body, multiplied; no variable names two columns."""
    growing = _Growing(Unit(), {})
    for part in parts_of(rule.body):
        growing.add(part)
    return growing.tree


@dataclass(slots=True)
class _Growing:
    """A tree, and how often each of its variables has occurred."""

    tree: Node
    seen: dict[str, int]

    def add(self, part: Part) -> None:
        columns = self.tree.columns
        match part:
            case Present(Scan() as scan):
                self._multiply(self._fresh(scan))
            case Present(aggregate):
                assert isinstance(aggregate, Aggregate)
                self._multiply(aggregate)
                for variable in aggregate.columns:
                    self.seen.setdefault(variable.name, 1)
            case Absent(scan):
                self.tree = AntiJoin(self.tree, scan, scan.columns, columns)
            case Filter(condition):
                self.tree = Select(self.tree, condition, columns)
            case Equation(variable, expression) if variable.name in self.seen:
                self.tree = Select(self.tree, equal(variable, expression), columns)
            case Equation(variable, expression):
                self.seen[variable.name] = 1
                self.tree = Extend(self.tree, variable, expression, (*columns, variable))
            case Element(variable, expression) if variable.name in self.seen:
                again = Var(variable.name + "'", variable.type)
                self.tree = Unnest(self.tree, again, expression, (*columns, again))
                self.tree = Select(self.tree, equal(variable, again), columns)
            case Element(variable, expression):
                self.seen[variable.name] = 1
                self.tree = Unnest(self.tree, variable, expression, (*columns, variable))
            case _:
                assert_never(part)

    def _fresh(self, scan: Scan) -> Scan:
        """Return the scan with a variable of its own for every column that the atom names."""
        terms: list[Var | Const | None] = []
        for column, term in enumerate(scan.terms):
            match term:
                case None:
                    terms.append(None)
                case Const(type=type):
                    terms.append(Var(f"'{scan.occurrence}.{column}", type))
                case Var(name, type):
                    self.seen[name] = count = self.seen.get(name, 0) + 1
                    terms.append(term if count == 1 else Var(f"{name}'{count}", type))
        return replace(scan, terms=tuple(terms), columns=columns_of(terms))

    def _multiply(self, right: Scan | Aggregate) -> None:
        if isinstance(self.tree, Unit):
            self.tree = right
            return
        keys, new = _split(self.tree, right)
        mixed = self.tree.columns + new
        self.tree = Join(self.tree, right, keys, mixed) if keys else Product(self.tree, right, mixed)


def _split(left: Node, right: Node) -> tuple[tuple[Var, ...], tuple[Var, ...]]:
    """Return the columns of the right that the left has, too, and those that are new.

    By name: a variable may be a reference in one atom and what it refers to in another, which are the same value.
    """
    known = {variable.name for variable in left.columns}
    shared = tuple(variable for variable in right.columns if variable.name in known)
    return shared, tuple(variable for variable in right.columns if variable.name not in known)


def constants_to_selections(tree: Node, terms: Terms) -> Node:
    """Step 2: each constant of an atom becomes a selection by value, right above its scan."""

    def select(node: Node) -> Node:
        if not isinstance(node, Scan):
            return node
        found: Node = node
        for variable, term in zip(node.terms, terms[node.occurrence], strict=True):
            if isinstance(term, Const) and isinstance(variable, Var):
                found = Select(found, equal(variable, term), node.columns)
        return found

    return rebuild(tree, select, lambda node, left: _with_sides(node, left, select))


def equalities_to_selections(tree: Node, terms: Terms) -> Node:
    """Step 3: each further occurrence of a variable becomes a selection by column.

    It stands right above the scan if the variable occurs twice in one atom, otherwise above the product.
    """

    def inside(node: Node) -> Node:
        scan = _scan_below(node)
        for first, again in _repeated(scan, terms):
            if scan is not None and first in scan.columns:
                node = Select(node, equal(first, again), node.columns)
        return node

    def step(node: Node, left: Node) -> Node:
        found = _with_sides(node, left, inside)
        if isinstance(node, Product | Join):
            scan = _scan_below(node.right)
            for first, again in _repeated(scan, terms):
                if scan is not None and first not in scan.columns:
                    found = Select(found, equal(first, again), found.columns)
        return found

    return rebuild(tree, inside, step)


def _repeated(scan: Scan | None, terms: Terms) -> list[tuple[Var, Var]]:
    """Return the rule's variable and the fresh one for each column of a scan that repeats a variable."""
    if scan is None:
        return []
    pairs = zip(terms[scan.occurrence], scan.terms, strict=True)
    return [(old, new) for old, new in pairs if isinstance(old, Var) and isinstance(new, Var) and old.name != new.name]


def _scan_below(node: Node) -> Scan | None:
    while isinstance(node, Select):
        node = node.input
    return node if isinstance(node, Scan) else None


def _with_sides(node: Node, left: Node, side: Callable[[Node], Node]) -> Node:
    """Return a node over a new left input, with a function applied to its right side."""
    if isinstance(node, Product | Join):
        return replace(node, left=left, right=side(node.right))
    return with_left(node, left)


def project_head(tree: Node, rule: logic.Rule) -> Project:
    """Step 4: the head is a projection."""
    return Project(tree, rule.head, rule.arguments)


def products_to_joins(tree: Project, terms: Terms) -> Project:
    """Step 5: a product under selections by column is a join; the columns that are equal get one name."""
    found: Node | None = None
    renamed: dict[str, Var] = {}
    for node in spine(tree):
        if found is None:
            found = node
        elif isinstance(node, Product) and (pairs := _joined(node.right, terms)):
            renamed = {again.name: first for first, again in pairs}
            right = _rename(node.right, renamed)
            keys, new = _split(found, right)
            found = Join(found, right, keys, found.columns + new)
        elif not (isinstance(node, Select) and _is_equality(node.condition, renamed)):
            found = _over(node, found)
    assert isinstance(found, Project)
    return found


def _joined(right: Node, terms: Terms) -> list[tuple[Var, Var]]:
    """Return the equalities between the right side of a product and what stands left of it."""
    scan = _scan_below(right)
    return [(first, again) for first, again in _repeated(scan, terms) if first not in right.columns]


def _is_equality(condition: Expr, fresh: Mapping[str, object]) -> bool:
    match condition:
        case Operate("==", (_, Var(name))) | Operate("==", (Var(name), Const())):
            return name in fresh
        case _:
            return False


def _rename(side: Node, names: dict[str, Var]) -> Node:
    def leaf(node: Node) -> Node:
        assert isinstance(node, Scan)
        terms = tuple(names.get(term.name, term) if isinstance(term, Var) else term for term in node.terms)
        return replace(node, terms=terms, columns=columns_of(terms))

    return rebuild(side, leaf, _over)


def selections_to_scans(tree: Node, terms: Terms) -> Node:
    """Step 6: a scan selects by its constants and repeated variables itself."""
    fresh: dict[str, None] = {}

    def push(node: Node) -> Node:
        scan = _scan_below(node)
        if scan is None:
            return node
        own = terms[scan.occurrence]
        for old, new in zip(own, scan.terms, strict=True):
            if isinstance(new, Var) and old != new:
                fresh[new.name] = None
        return replace(scan, terms=own, columns=columns_of(own))

    found: Node | None = None
    for node in spine(tree):
        if found is None:
            found = push(node)
        elif not (isinstance(node, Select) and _is_equality(node.condition, fresh)):
            right = node.right if isinstance(node, Product | Join) else None
            found = _over(node, found, push(right) if right is not None else None)
    assert found is not None
    return found


def _over(node: Node, left: Node, right: Node | None = None) -> Node:
    """Return a node over a new left input, and maybe a new right one, with its columns to match."""
    match node:
        case Unit() | Scan() | Aggregate():
            return node
        case Project():
            return replace(node, input=left)
        case Select():
            dropped = [variable for variable in node.input.columns if variable not in node.columns]
            return replace(node, input=left, columns=tuple(v for v in left.columns if v not in dropped))
        case Extend() | Unnest():
            return replace(node, input=left, columns=(*left.columns, node.variable))
        case AntiJoin():
            return replace(node, left=left, columns=left.columns)
        case Product() | Join():
            side = right or node.right
            return replace(node, left=left, right=side, columns=left.columns + _split(left, side)[1])
        case _:
            assert_never(node)
