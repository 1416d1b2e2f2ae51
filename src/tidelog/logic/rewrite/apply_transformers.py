"""Applications of transformers as rules: the function is called with all rows of the relation.

    apply SCC(Edge, from, to) -> (Label)     Label[#made] :- #row in Edge, var #all = #row.group_by(()),
                                                             var #made = FlatMap(SCC(#all.to_vec(), from, to)).

So a transformer is evaluated anew, on all rows, when one of them has changed; without rows there are no results.
"""

from __future__ import annotations

from collections.abc import Iterator

from tidelog.base.diagnostic import Report
from tidelog.lang import syntax
from tidelog.lang.syntax import Path
from tidelog.logic.names.environment import Environment

_USAGE = "a transformer is applied as it is declared: `apply T(R, f) -> (S)`"


def apply_transformers(apply: syntax.Apply, environment: Environment, report: Report) -> tuple[syntax.RuleDef, ...]:
    """Return a rule for each relation that an application makes; mistakes are reported."""
    found = environment.transformer(apply.transformer, apply.span, report)
    if found is None or not _fits(apply, found, report):
        return ()
    return tuple(_rules(apply, found))


def _fits(apply: syntax.Apply, transformer: syntax.TransformerDef, report: Report) -> bool:
    for what, given, wanted in (
        ("argument", apply.inputs, transformer.inputs),
        ("result", apply.outputs, transformer.outputs),
    ):
        if len(given) != len(wanted):
            plural = "" if len(wanted) == 1 else "s"
            message = f"`{transformer.name}` has {len(wanted)} {what}{plural}, but {len(given)} are given"
            report.add("E0130", message, apply.span, note=_USAGE)
            return False
    relations = [i for i, argument in enumerate(transformer.inputs) if isinstance(argument, syntax.RelationArgument)]
    if len(relations) != 1:
        note = "a transformer is called with all rows of the relation that it is applied to"
        hint = "put what it needs into one relation first"
        report.add("E0130", f"`{transformer.name}` takes {len(relations)} relations", apply.span, note=note, hint=hint)
        return False
    return True


def _rules(apply: syntax.Apply, transformer: syntax.TransformerDef) -> Iterator[syntax.RuleDef]:
    span = apply.span
    rows = syntax.Name(("#all",), span=span)
    arguments: list[syntax.Expr] = []
    body: list[syntax.Clause] = []
    for path, argument in zip(apply.inputs, transformer.inputs, strict=True):
        if isinstance(argument, syntax.RelationArgument):
            atom = syntax.Atom(path, None, None, "#row", span=span)
            row = syntax.Name(("#row",), span=span)
            group = syntax.MethodCall(row, ("group_by",), (syntax.TupleExpr((), span=span),), span=span)
            body = [syntax.Positive(atom, span=span), _assign("#all", group)]
            arguments.append(syntax.MethodCall(rows, ("std", "to_vec"), (), span=span))
        else:
            arguments.append(syntax.Name(path, span=span))
    made: syntax.Expr = syntax.Call(syntax.Name(apply.transformer, span=span), tuple(arguments), span=span)
    for i, path in enumerate(apply.outputs):
        each = made if len(apply.outputs) == 1 else syntax.TupleAccess(made, i, span=span)
        found = syntax.FlatMap(syntax.VarDecl("#made", span=span), each, span=span)
        yield syntax.RuleDef((_head(path, apply),), (*body, found), apply.attributes, span=span)


def _assign(name: str, value: syntax.Expr) -> syntax.Condition:
    assign = syntax.Assign(syntax.VarDecl(name, span=value.span), value, span=value.span)
    return syntax.Condition(assign, span=value.span)


def _head(path: Path, apply: syntax.Apply) -> syntax.Head:
    whole = syntax.Name(("#made",), span=apply.span)
    return syntax.Head(syntax.Atom(path, None, whole, span=apply.span), span=apply.span)
