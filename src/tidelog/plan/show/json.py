"""A plan as JSON, complete and in a stable order, for tools.

    {"relations": [{"name", "role", "auxiliary", "columns": [{"name", "type"}], "primary_key": EXPR | null}],
     "strata": [{"number", "relations": [NAME], "recursive",
                 "rules": [{"identity", "head", "name": NAME | null, "text", "span": "file:line:column" | null,
                            "reads": [{"relation", "negated", "aggregated"}],
                            "body": [STEP], "full": [STEP],
                            "variants": [{"delta": OCCURRENCE, "negative", "steps": [STEP]}]}]}],
     "indexes": [{"relation", "columns": [NUMBER]}],
     "declared": [{"name", "parameters": [NAME], "relation", "terms": [TERM]}],
     "types": [NAME], "functions": [NAME]}

A STEP is `{"op": ..., "columns": [NAME], ...}`; a tree is left-deep, so it is the list of its steps, first step first.
`op` is `unit`, `scan`, `aggregate`, `join`, `product`, `antijoin`, `select`, `extend`, `unnest` or `project`. A TERM is
`{"variable": NAME}`, `{"constant": EXPR}` or null. EXPR is the text of an expression, types are written as the language
writes them. `negated` is true for negated atoms only, `aggregated` for grouped ones.
"""

from __future__ import annotations

import json
from typing import Any, assert_never

from tidelog.base.expr import Const, Var
from tidelog.base.text.show import show_expression
from tidelog.base.types import show
from tidelog.plan import nodes
from tidelog.plan.join.spine import spine

Data = dict[str, Any]


def show_json(plan: nodes.Plan) -> str:
    """Write a plan as JSON."""
    return json.dumps(plan_data(plan), indent=2, ensure_ascii=False) + "\n"


def plan_data(plan: nodes.Plan) -> Data:
    """Return a plan as JSON's objects, lists, strings and numbers."""
    return {
        "relations": [_relation(relation) for relation in plan.relations.values()],
        "strata": [_stratum(stratum) for stratum in plan.strata],
        "indexes": [{"relation": index.relation, "columns": list(index.columns)} for index in plan.indexes],
        "declared": [_declared(index) for index in plan.declared.values()],
        "types": list(plan.types),
        "functions": list(plan.functions),
    }


def _relation(relation: nodes.Relation) -> Data:
    return {
        "name": relation.name,
        "role": relation.role,
        "auxiliary": relation.auxiliary,
        "columns": [{"name": column.name, "type": show(column.type)} for column in relation.columns],
        "primary_key": None if relation.primary_key is None else show_expression(relation.primary_key),
    }


def _stratum(stratum: nodes.Stratum) -> Data:
    return {
        "number": stratum.number,
        "relations": list(stratum.relations),
        "recursive": stratum.recursive,
        "rules": [_rule(rule) for rule in stratum.rules],
    }


def _rule(rule: nodes.Rule) -> Data:
    reads = zip(rule.reads, rule.negated, rule.aggregated, strict=True)
    return {
        "identity": rule.identity,
        "head": rule.head,
        "name": rule.origin.name,
        "text": rule.origin.text,
        "span": str(rule.origin.span) if rule.origin.span.source.text else None,
        "reads": [{"relation": r, "negated": n and not a, "aggregated": a} for r, n, a in reads],
        "body": _steps(rule.body),
        "full": _steps(rule.full.tree),
        "variants": [
            {"delta": variant.delta, "negative": variant.negative, "steps": _steps(variant.tree)}
            for variant in rule.variants
        ],
    }


def _declared(index: nodes.DeclaredIndex) -> Data:
    return {
        "name": index.name,
        "parameters": _names(index.parameters),
        "relation": index.relation,
        "terms": [_term(term) for term in index.terms],
    }


def _steps(tree: nodes.Project) -> list[Data]:
    return [_step(node) for node in spine(tree)]


def _step(node: nodes.Node) -> Data:
    match node:
        case nodes.Unit():
            data: Data = {"op": "unit"}
        case nodes.Scan() | nodes.Aggregate():
            data = _source(node)
        case nodes.Join(right=right, keys=keys):
            data = {"op": "join", "keys": _names(keys), "right": _source(right)}
        case nodes.Product(right=right):
            data = {"op": "product", "right": _source(right)}
        case nodes.AntiJoin(right=right, keys=keys):
            data = {"op": "antijoin", "keys": _names(keys), "right": _source(right)}
        case nodes.Select(condition=condition):
            data = {"op": "select", "condition": show_expression(condition)}
        case nodes.Extend(variable=variable, expression=expression):
            data = {"op": "extend", "variable": variable.name, "expression": show_expression(expression)}
        case nodes.Unnest(variable=variable, expression=expression):
            data = {"op": "unnest", "variable": variable.name, "expression": show_expression(expression)}
        case nodes.Project(relation=relation, expressions=expressions):
            data = {"op": "project", "relation": relation, "expressions": [show_expression(e) for e in expressions]}
        case _:
            assert_never(node)
    return {**data, "columns": _names(node.columns)}


def _source(node: nodes.Node) -> Data:
    assert isinstance(node, nodes.Scan | nodes.Aggregate), "trees are left-deep"
    if isinstance(node, nodes.Scan):
        return {
            "op": "scan",
            "relation": node.relation,
            "terms": [_term(term) for term in node.terms],
            "version": node.version.value,
            "occurrence": node.occurrence,
            "columns": _names(node.columns),
        }
    return {
        "op": "aggregate",
        "input": _source(node.input),
        "keys": _names(node.keys),
        "value": show_expression(node.value),
        "group": node.group.name,
        "reduce": show_expression(node.reduce),
        "result": node.result.name,
        "columns": _names(node.columns),
    }


def _term(term: Var | Const | None) -> Data | None:
    match term:
        case None:
            return None
        case Var(name):
            return {"variable": name}
        case Const():
            return {"constant": show_expression(term)}


def _names(variables: tuple[Var, ...]) -> list[str]:
    return [variable.name for variable in variables]
