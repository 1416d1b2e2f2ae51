"""A plan as text for people: strata in order, each rule in the user's words, and how it is evaluated.

    stratum 1: Reach (recursive)
      Reach(a, c) :- Reach(a, b), Open(b, c).
        from scratch
          scan Reach(a, b)
          join Open(b, c) on b
          give Reach(a, c)
        when Open changes
          scan delta Open(b, c)
          join old Reach(a, b) on b
          give Reach(a, c)

A tree is left-deep, so it reads as the steps of a pipeline, first step first. Of a stratum that is a closure the
heading says so: `(recursive; transitive, left-linear)`. Below it stands which relations are modules beside other rules,
and which are one (`tell_modules`): an engine that has modules evaluates these otherwise than by the steps shown. What
is computed by demand stands before the strata.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import indent
from typing import assert_never

from tidelog.base.expr import Const, Var
from tidelog.base.free import substitute
from tidelog.base.text.show import show_expression, show_value
from tidelog.plan import nodes
from tidelog.plan.closures.recognise import closure_of
from tidelog.plan.closures.same_generation import same_generation
from tidelog.plan.closures.tell_modules import tell_modules
from tidelog.plan.join.spine import spine


def show_text(plan: nodes.Plan, *, variants: bool = True) -> str:
    """Write a plan; `variants` says whether to show how each rule follows changes."""
    blocks = [_inputs(plan)] if any(relation.role == "input" for relation in plan.relations.values()) else []
    if plan.demanded:
        blocks.append(_by_demand(plan))
    said = tell_modules(plan)
    blocks += [show_stratum(one, said.get(place, ()), variants=variants) for place, one in enumerate(plan.strata)]
    if plan.indexes:
        lines = [f"  {show_order(plan.relations[index.relation], index.columns)}" for index in plan.indexes]
        blocks.append("\n".join(["indexes", *lines]))
    return "\n\n".join(blocks) + "\n"


def _inputs(plan: nodes.Plan) -> str:
    names = [_columns(relation) for relation in plan.relations.values() if relation.role == "input"]
    return "\n".join(["inputs", *(f"  {name}" for name in names)])


def _by_demand(plan: nodes.Plan) -> str:
    """Write which relations are computed only as far as they are asked for, and which are not, and why."""
    shown = [_columns(r) for r in plan.relations.values() if r.name in plan.demanded and r.name not in plan.notes]
    shown += [f"{_columns(plan.relations[name])} in full: {why}" for name, why in plan.notes.items()]
    return "\n".join(["by demand", *(f"  {line}" for line in shown)])


def _columns(relation: nodes.Relation) -> str:
    return f"{relation.name}({', '.join(column.name for column in relation.columns)})"


def show_order(relation: nodes.Relation, columns: tuple[int, ...]) -> str:
    """Write an order of a relation's columns by their names."""
    return f"{relation.name} by {', '.join(relation.columns[column].name for column in columns)}"


def show_stratum(stratum: nodes.Stratum, said: Sequence[str] = (), *, variants: bool = True) -> str:
    """Write a stratum with its rules, and what is `said` of its modules."""
    kind = "; best bounds of each key" if nodes.of_bounds(stratum) else _kind(stratum)
    recursive = f" (recursive{kind})" if stratum.recursive else ""
    lines = [f"stratum {stratum.number}: {', '.join(stratum.relations)}{recursive}"]
    lines += [f"  {line}" for line in said]
    lines += [indent(show_rule(rule, variants=variants), "  ") for rule in stratum.rules]
    return "\n".join(lines)


def _kind(stratum: nodes.Stratum) -> str:
    closure = closure_of(stratum)
    if closure is not None:
        return f"; {closure.kind.value}, {closure.form.value}"
    return "; same generation" if same_generation(stratum) is not None else ""


def show_rule(rule: nodes.Rule, *, variants: bool = True) -> str:
    """Write a rule: its text as the user wrote it, and its trees as pipelines."""
    name = f'#[name = "{rule.origin.name}"]\n' if rule.origin.name is not None else ""
    lines = [name + rule.origin.text, "  from scratch", indent(show_pipeline(rule.full.tree), "    ")]
    for variant in rule.variants if variants else ():
        lines += [f"  {_occasion(rule, variant)}", indent(show_pipeline(variant.tree), "    ")]
    if variants:
        groups = [rule.reads[i] for i, aggregated in enumerate(rule.aggregated) if aggregated]
        lines += [f"  when {relation} changes\n    evaluate the groups touched" for relation in groups]
    return "\n".join(lines)


def _occasion(rule: nodes.Rule, variant: nodes.Variant) -> str:
    assert variant.delta is not None
    relation = rule.reads[variant.delta]
    places = [i for i, name in enumerate(rule.reads) if name == relation]
    which = f" (occurrence {places.index(variant.delta) + 1})" if len(places) > 1 else ""
    opposite = ", the other way round" if variant.negative else ""
    return f"when {relation} changes{which}{opposite}"


def show_pipeline(tree: nodes.Project) -> str:
    """Write a left-deep tree as steps, the first one first."""
    return "\n".join(step for node in spine(tree) for step in _steps(node))


def _steps(node: nodes.Node) -> Iterator[str]:
    match node:
        case nodes.Unit():
            pass
        case nodes.Scan():
            yield f"scan {show_scan(node)}"
        case nodes.Aggregate():
            yield f"group {show_aggregate(node)}"
        case nodes.Join(right=right, keys=keys):
            yield f"join {_side(right)}{_on(keys)}"
        case nodes.Product(right=right):
            yield f"product with {_side(right)}"
        case nodes.AntiJoin(right=right, keys=keys):
            yield f"without {show_scan(right)}{_on(keys)}"
        case nodes.Select(condition=condition):
            yield f"select {show_expression(condition)}"
        case nodes.Extend(variable=variable, expression=expression):
            yield f"let {variable.name} = {show_expression(expression)}"
        case nodes.Unnest(variable=variable, expression=expression):
            yield f"each {variable.name} in {show_expression(expression)}"
        case nodes.Project(relation=relation, expressions=expressions):
            yield f"give {relation}({', '.join(map(show_expression, expressions))})"
        case _:
            assert_never(node)


def _side(node: nodes.Node) -> str:
    assert isinstance(node, nodes.Scan | nodes.Aggregate), "trees are left-deep"
    return show_scan(node) if isinstance(node, nodes.Scan) else f"group {show_aggregate(node)}"


def _on(keys: tuple[Var, ...]) -> str:
    return f" on {_names(keys)}" if keys else ""


def show_scan(scan: nodes.Scan) -> str:
    """Write a scan: version, relation, terms."""
    version = "" if scan.version is nodes.Version.ALL else f"{scan.version.value} "
    return f"{version}{scan.relation}({', '.join(map(_term, scan.terms))})"


def show_aggregate(node: nodes.Aggregate) -> str:
    """Write an aggregate: over what, by which keys, and what it computes of each group."""
    keys = f" by {_names(node.keys)}" if node.keys else ""
    members = Var(show_expression(node.value), node.group.type)
    reduce = show_expression(substitute(node.reduce, {node.group.name: members}))
    return f"{show_scan(node.input)}{keys} with {node.result.name} = {reduce}"


def _term(term: Var | Const | None) -> str:
    match term:
        case None:
            return "_"
        case Var(name):
            return name
        case Const(value):
            return show_value(value)


def _names(variables: tuple[Var, ...]) -> str:
    return ", ".join(variable.name for variable in variables)
