"""A plan as JSON, complete and in a stable order, for tools.

    {"relations": [{"name", "role", "auxiliary", "columns": [{"name", "type"}], "primary_key": EXPR | null}],
     "strata": [{"number", "relations": [NAME], "recursive",
                 "rules": [{"identity", "head", "name": NAME | null, "text", "span": "file:line:column" | null,
                            "reads": [{"relation", "negated", "aggregated"}],
                            "body": [STEP], "full": [STEP],
                            "variants": [{"delta": OCCURRENCE, "negative", "steps": [STEP]}]}]}],
     "indexes": [{"relation", "columns": [NUMBER]}],
     "declared": [{"name", "parameters": [NAME], "relation", "terms": [TERM]}],
     "types": [NAME], "functions": [NAME], "partial": [NAME], "notes": {NAME: TEXT}}

A STEP is `{"op": ..., "columns": [NAME], ...}`; a tree is left-deep, so it is the list of its steps, first step first.
`op` is `unit`, `scan`, `aggregate`, `join`, `product`, `antijoin`, `select`, `extend`, `unnest` or `project`. A TERM is
`{"variable": NAME}`, `{"constant": EXPR}` or null. EXPR is the text of an expression, types are written as the language
writes them. `negated` is true for negated atoms only, `aggregated` for grouped ones. `partial` are the
relations of which only what is asked for is computed, `notes` say why others that should be so are not.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

from tidelog.base.expr import AnyPattern, Const, ConstPattern, ConstructorPattern, TuplePattern, VarPattern
from tidelog.base.text.show import show_expression, show_pattern
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
        "strata": [_data(stratum, "members", "below", "aggregates") for stratum in plan.strata],
        "indexes": [_data(index) for index in plan.indexes],
        "declared": [_data(index) for index in plan.declared.values()],
        "types": list(plan.types),
        "functions": list(plan.functions),
        "partial": sorted(plan.partial),
        "notes": dict(plan.notes),
    }


def _relation(relation: nodes.Relation) -> Data:
    return {
        "name": relation.name,
        "role": relation.role,
        "auxiliary": relation.auxiliary,
        "columns": [{"name": column.name, "type": show(column.type)} for column in relation.columns],
        "primary_key": None if relation.primary_key is None else show_expression(relation.primary_key),
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


def _steps(tree: nodes.Project) -> list[Data]:
    """Return the nodes of a tree, each without the one below it."""
    return [_step(node, "input", "left") for node in spine(tree)]


def _step(node: nodes.Node, *below: str) -> Data:
    alone = () if isinstance(node, nodes.Aggregate) else below
    return {"op": type(node).__name__.lower(), **_data(node, *alone)}


def _data(record: Any, *without: str) -> Data:
    """Return the fields of a record by name."""
    return {f.name: _field(f.name, getattr(record, f.name)) for f in fields(record) if f.name not in without}


def _field(name: str, value: Any) -> Any:
    match value:
        case tuple() if name == "terms":
            return [_term(term) for term in value]
        case tuple():
            return [_field(name, item) for item in value]
        case None | str() | int():
            return value
        case nodes.Version():
            return value.value
        case nodes.Scan() | nodes.Aggregate():
            return _step(value)
        case nodes.Rule():
            return _rule(value)
        case AnyPattern() | VarPattern() | ConstPattern() | TuplePattern() | ConstructorPattern():
            return show_pattern(value)
        case _:
            return show_expression(value)


def _term(term: Any) -> Data | None:
    if term is None:
        return None
    return {"constant" if isinstance(term, Const) else "variable": show_expression(term)}
