"""Check that a plan keeps the promises of `plan.nodes`."""

from __future__ import annotations

from typing import assert_never

from tidelog.base.expr import Expr, Var
from tidelog.base.free import free_variables
from tidelog.base.types import INTERN, REF, Named, Type
from tidelog.plan.join.spine import scans, spine
from tidelog.plan.nodes import (
    Aggregate,
    AntiJoin,
    Extend,
    Join,
    Node,
    Plan,
    Product,
    Project,
    Rule,
    Scan,
    Select,
    Unit,
    Unnest,
    Variant,
    Version,
)


def validate(plan: Plan) -> None:
    """Assert what engines rely on, for the whole plan."""
    derived = [name for stratum in plan.strata for name in stratum.relations]
    assert len(set(derived)) == len(derived)
    done: set[str] = set(plan.relations) - set(derived)
    identities: set[str] = set()
    for number, stratum in enumerate(plan.strata):
        assert stratum.number == number
        inside = set(stratum.relations)
        assert stratum.recursive == any(inside & set(rule.reads) for rule in stratum.rules)
        for rule in stratum.rules:
            assert rule.head in inside
            assert set(rule.reads) <= done | inside
            assert all(name in done for name, negated in zip(rule.reads, rule.negated, strict=True) if negated)
            assert rule.identity not in identities
            identities.add(rule.identity)
            validate_rule(rule, plan)
        done |= inside
    _validate_indexes(plan)


def validate_rule(rule: Rule, plan: Plan) -> None:
    """Assert what engines rely on, for one rule."""
    occurrences = range(len(rule.reads))
    assert sum(rule.aggregated) == 0 or len(spine(rule.body)) == 2, "an aggregate stands alone"
    for variant in (Variant(None, False, rule.body), rule.full, *rule.variants):
        tree, delta = variant.tree, variant.delta
        validate_tree(tree, plan)
        found = {scan.occurrence: scan for scan in scans(tree)}
        assert sorted(found) == list(occurrences)
        for i, scan in found.items():
            assert scan.relation == rule.reads[i]
            if delta is None:
                assert scan.version is Version.ALL
            else:
                assert scan.version is (Version.OLD if i < delta else Version.NEW if i > delta else Version.DELTA)
        if delta is not None:
            assert spine(tree)[0] is found[delta]
            assert variant.negative == (rule.negated[delta] and not rule.aggregated[delta])
    assert [v.delta for v in rule.variants] == [i for i in occurrences if not rule.aggregated[i]]


def validate_tree(tree: Project, plan: Plan) -> None:
    """Assert that a tree is left-deep and that every node finds the columns it needs."""
    below: tuple[Var, ...] = ()
    for node in spine(tree):
        _validate_node(node, below, plan)
        assert len(set(node.columns)) == len(node.columns)
        below = node.columns


def _referred(type: Type) -> Type:
    """See through references: a variable may be one in an atom and what it refers to in another; the value is one."""
    while isinstance(type, Named) and type.name in (REF, INTERN):
        type = type.arguments[0]
    return type


def _validate_node(node: Node, below: tuple[Var, ...], plan: Plan) -> None:
    match node:
        case Unit():
            assert node.columns == ()
        case Scan() | Aggregate():
            _validate_source(node, plan)
        case Select(condition=condition):
            _needs(condition, below)
            assert set(node.columns) <= set(below)
        case Extend(variable=variable, expression=expression) | Unnest(variable=variable, expression=expression):
            _needs(expression, below)
            assert variable not in below
            assert set(node.columns) <= {*below, variable}
            assert variable in node.columns
        case Product(right=right) | Join(right=right):
            assert isinstance(right, Scan | Aggregate)
            _validate_source(right, plan)
            known = {v.name: v for v in below}
            shared = [v for v in right.columns if v.name in known]
            assert all(_referred(v.type) == _referred(known[v.name].type) for v in shared)
            keys = node.keys if isinstance(node, Join) else ()
            assert [(v.name, _referred(v.type)) for v in keys] == [(v.name, _referred(v.type)) for v in shared]
            assert bool(shared) == isinstance(node, Join)
            assert set(node.columns) <= {*below, *right.columns}
        case AntiJoin(right=right):
            _validate_source(right, plan)
            assert None not in right.terms
            assert node.keys == right.columns
            assert set(node.keys) <= set(below)
            assert set(node.columns) <= set(below)
        case Project(relation=relation, expressions=expressions):
            assert len(expressions) == len(plan.relations[relation].columns)
            for expression in expressions:
                _needs(expression, below)
        case _:
            assert_never(node)


def _validate_source(node: Scan | Aggregate, plan: Plan) -> None:
    if isinstance(node, Scan):
        assert len(node.terms) == len(plan.relations[node.relation].columns)
        assert node.columns == tuple(dict.fromkeys(term for term in node.terms if isinstance(term, Var)))
        for term, column in zip(node.terms, plan.relations[node.relation].columns, strict=True):
            assert term is None or term.type == column.type
    else:
        _validate_source(node.input, plan)
        assert set(node.keys) <= set(node.input.columns)
        _needs(node.value, node.input.columns)
        _needs(node.reduce, (*node.keys, node.group))


def _needs(expression: Expr, columns: tuple[Var, ...]) -> None:
    assert set(free_variables(expression)) <= {column.name for column in columns}


def _validate_indexes(plan: Plan) -> None:
    for index in plan.indexes:
        assert sorted(index.columns) == list(range(len(plan.relations[index.relation].columns)))
    for stratum in plan.strata:
        for rule in stratum.rules:
            for probe in rule.probes:
                orders = [index.columns for index in plan.indexes if index.relation == probe.relation]
                assert any(set(order[: len(probe.columns)]) == set(probe.columns) for order in orders)
