"""What declarations of relations and indexes must fulfil beyond names and column types.

input relation Owner(host: string, who: string) primary key (o) o.host      key: the expression `host`
index ByOs(os: string) on Host(_, os)                                       look up by the second column
index ById(id: u8) on Disk(Some{id}, _)                                     look up by a part of the first
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tidelog.base.diagnostic import Report, did_you_mean
from tidelog.base.expr import Const, Pattern, Var
from tidelog.base.free import free_variables, pattern_variables, substitute
from tidelog.base.types import UNIT, Field, Type, show
from tidelog.lang import syntax
from tidelog.lang.syntax.walk import subexpressions
from tidelog.logic.check.check_atoms import place_atom, row_atom
from tidelog.logic.infer.finish import Finisher
from tidelog.logic.infer.infer import BodyInference
from tidelog.logic.names.environment import Declarations, Environment
from tidelog.logic.names.modules import Modules
from tidelog.logic.names.names import declared_twice
from tidelog.logic.names.patterns import is_pattern
from tidelog.logic.names.scope import Scope
from tidelog.logic.program import Atom, Index, Relation, Term, Wildcard, each_of
from tidelog.logic.rewrite.derivations.count_derivations import each_relation
from tidelog.logic.rewrite.fold_constants import fold_expression
from tidelog.logic.rewrite.rows import make_row, row_constructor


def check_relations(declarations: Declarations, report: Report) -> Mapping[str, Relation]:
    """Check the relations of all modules and type their keys; return them by qualified name."""
    relations: dict[str, Relation] = {}
    shared: dict[Type, Type] = {}
    for path, table in declarations.tables.items():
        environment = declarations.environments[path]
        for name, declared in table.relations.items():
            relation = _with_shared_types(declarations.relation(table, name), shared)
            _check_kind(declared, report)
            _check_bound(declared, report)
            if declared.primary_key is not None:
                relation = _with_key(relation, declared, declared.primary_key, environment, report)
            declarations.replace_relation(relation)
            relations[relation.name] = relation
            if relation.kind == "multiset":
                relations[each_of(relation.name)] = each_relation(relation)
    return relations


def _with_shared_types(relation: Relation, shared: dict[Type, Type]) -> Relation:
    """Make equal column types one object: comparing the types of a rule's variables then rarely looks inside them."""
    columns = tuple([Field(c.name, shared.setdefault(c.type, c.type)) for c in relation.columns])
    return replace(relation, columns=columns)


def _check_kind(declared: syntax.RelationDef, report: Report) -> None:
    if declared.kind != "relation" and declared.primary_key is not None:
        report.add(
            "E0415",
            f"`{declared.name}` is a {declared.kind}, so it cannot have a primary key",
            declared.primary_key.span,
            note="a key tells which fact a transaction replaces",
            hint=f"remove the key, or declare the {declared.kind} as `input relation`",
        )


def _check_bound(declared: syntax.RelationDef, report: Report) -> None:
    bounds = [column for column in declared.fields if column.bound is not None]
    if not bounds:
        return
    word, name = bounds[0].bound, bounds[0].name
    if declared.role == "input":
        report.add(
            "E0425",
            f"`{declared.name}` is an input relation, which has the facts it is given",
            bounds[0].span,
            note=f"`{word} {name}` keeps the best value of each key among those that rules derive",
            hint="put the facts into an input relation of its own, and derive this one from it by a rule",
        )
    elif declared.kind != "relation":
        report.add(
            "E0425",
            f"`{declared.name}` is a {declared.kind}, so no column of it can be bounded",
            bounds[0].span,
            note=f"`{word} {name}` keeps the best value of each key among all that rules derive",
            hint=f"declare it with `relation`, and read it in a {declared.kind}",
        )
    elif declared.reference:
        report.add(
            "E0425",
            f"`&{declared.name}` has references as rows, so no column of it can be bounded",
            bounds[0].span,
            note=f"`{word} {name}` keeps the best value of each key, which is all other columns",
            hint=f"declare it without `&`: `relation {declared.name}(...)`",
        )
    elif len(bounds) > 1:
        report.add(
            "E0425",
            f"`{declared.name}` has two bounded columns: `{name}` and `{bounds[1].name}`",
            bounds[1].span,
            note=f"`{word} {name}` keeps the best value of each key, which is all other columns",
            hint=f"use one column with a tuple, as `{word} best: (u64, string)`, which compares the first part first; "
            "or a relation for each",
        )


def _with_key(
    relation: Relation, declared: syntax.RelationDef, key: syntax.PrimaryKey, environment: Environment, report: Report
) -> Relation:
    if declared.role != "input":
        report.add(
            "E0415",
            f"`{declared.name}` is not an input relation, so it cannot have a primary key",
            key.span,
            note="a key tells which fact a transaction replaces; rules derive any number of rows",
            hint="remove the key, or declare the relation as `input relation`",
        )
        return relation
    mistakes = report.mistakes
    inference = BodyInference(environment, report)
    scope = Scope()
    variable = scope.declare(key.variable, relation.element, "parameter", key.span)
    expression = inference.finish(inference.expression(key.expression, scope))
    if report.mistakes > mistakes:
        return relation
    columns = [Var(column.name, column.type, span=key.span) for column in relation.columns]
    row = make_row(relation, columns, environment.definition, key.span)
    expression = fold_expression(substitute(expression, {variable.unique: row}))
    if not free_variables(expression) and expression.type != UNIT:
        report.add(
            "E0421",
            f"the primary key of `{declared.name}` does not depend on the row",
            key.span,
            note=f"`primary key ({key.variable}) e` computes the key from the row `{key.variable}`",
            hint=f"use a column: `{key.variable}.{relation.columns[0].name}`" if relation.columns else "",
        )
    return replace(relation, primary_key=expression)


def check_indexes(modules: Modules, declarations: Declarations, report: Report) -> Mapping[str, Index]:
    """Return the declared indexes of all modules by qualified name."""
    indexes: dict[str, Index] = {}
    for path, module in modules.by_path.items():
        for declared in module.declarations:
            if isinstance(declared, syntax.IndexDef):
                name = "::".join((*path, declared.name))
                index = _check_index(declared, name, declarations.environments[path], report)
                if index is not None and index.name in indexes:
                    note = "a module has at most one index of a name"
                    declared_twice("index", declared.name, declared.span, report, note=note)
                elif index is not None:
                    indexes[index.name] = index
    return indexes


def _check_index(declared: syntax.IndexDef, name: str, environment: Environment, report: Report) -> Index | None:
    mistakes = report.mistakes
    parameters = {p.name: Var(p.name, environment.type(p.type, report), span=p.span) for p in declared.parameters}
    relation = environment.relation(declared.atom.relation, declared.atom.span, report)
    if relation is None:
        return None
    written = _with_columns(row_atom(declared.atom, relation, environment), relation, environment)
    given = place_atom(written, relation, report).arguments
    inference = BodyInference(environment, report)
    scope = Scope()
    for variable in parameters.values():
        scope.declare(variable.name, variable.type, "parameter", variable.span)
    terms: list[Term] = []
    patterns: list[tuple[int, Pattern]] = []
    for i, column in enumerate(relation.columns):
        match given[i]:
            case None | syntax.Wildcard():
                terms.append(Wildcard(column.type))
            case syntax.Name((word,), span=span) if word in parameters:
                why = f"column `{column.name}` of `{relation.name}` has type `{show(column.type)}`"
                inference.unify(column.type, parameters[word].type, span, why)
                terms.append(parameters[word])
            case syntax.Name((word,), span=span):
                hint = did_you_mean(word, parameters) or f"declare it: `index {declared.name}({word}: ...)`"
                note = "the columns of an index are its parameters, patterns with these, constants or `_`"
                report.add("E0419", f"`{word}` is not a parameter of the index", span, note=note, hint=hint)
            case expression if is_pattern(expression) and not _is_constant(expression):
                patterns.append((i, inference.pattern(expression, scope, column.type, binds=False)))
                terms.append(Wildcard(column.type))
            case expression:
                term = fold_expression(inference.finish(inference.expression(expression, scope, column.type)))
                if isinstance(term, Const):
                    terms.append(term)
                elif report.mistakes == mistakes:
                    note = "the columns of an index are its parameters, patterns with these, constants or `_`"
                    hint = "put the computed value into a relation, and declare the index on that"
                    report.add("E0419", "an index cannot compute a column", expression.span, note=note, hint=hint)
    inference.settle()
    patterns = [(i, Finisher(inference).pattern(pattern)) for i, pattern in patterns] if patterns else []
    used = {term.name for term in terms if isinstance(term, Var)}
    used |= {variable.name for _, pattern in patterns for variable in pattern_variables(pattern)}
    for parameter in declared.parameters:
        if parameter.name not in used and report.mistakes == mistakes:
            report.add(
                "E0419",
                f"parameter `{parameter.name}` of the index stands for no column",
                parameter.span,
                note="an index looks rows up by the columns that its parameters stand for",
                hint=f"use `{parameter.name}` in place of a `_`, or remove it",
            )
    if report.mistakes > mistakes:
        return None
    atom = Atom(relation.name, tuple(terms), span=declared.atom.span)
    return Index(name, tuple(parameters.values()), atom, tuple(patterns), span=declared.span)


def _is_constant(pattern: syntax.Expr) -> bool:
    return not any(isinstance(e, syntax.Name | syntax.Wildcard | syntax.At) for e in subexpressions(pattern))


def _with_columns(atom: syntax.Atom, relation: Relation, environment: Environment) -> syntax.Atom:
    """Return `R[C{a, b}]` as `R(a, b)` if C has the columns as fields, and `R[a]` as `R(a)`."""
    whole = atom.whole
    if whole is None:
        return atom
    opened = whole.operand if isinstance(whole, syntax.Unary) and whole.operator == "&" else whole
    if isinstance(opened, syntax.Construct) and row_constructor(relation, environment.definition) is not None:
        return replace(atom, arguments=opened.arguments, whole=None)
    return replace(atom, arguments=(syntax.Argument(None, whole, span=whole.span),), whole=None)
