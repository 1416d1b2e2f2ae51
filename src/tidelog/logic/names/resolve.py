"""From written types to `base.types`: names looked up, aliases expanded, arities checked.

    typedef Ids<'A> = Map<string, 'A>
    Ids<u8>      becomes      Named("std::Map", (STRING, Bit(8)))

The functions take the `Environment` of the module in which the type is written. After a mistake the type is `ERROR`,
which fits everything.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from tidelog.base import types
from tidelog.base.diagnostic import Report
from tidelog.base.span import Span
from tidelog.base.text.integers import show_integer
from tidelog.base.types import Bit, Constructor, Field, Named, Signed, Type, TypeSizeError, TypeVariable
from tidelog.lang import syntax
from tidelog.lang.syntax.walk import TYPES
from tidelog.logic.names.attributes import form_in_json, name_in_json, tag_in_json, text_of
from tidelog.logic.names.names import declared_twice
from tidelog.logic.names.unify import ERROR
from tidelog.logic.program import Bound, Relation

if TYPE_CHECKING:
    from tidelog.logic.names.environment import Environment

BUILT_IN: dict[str, Type] = {
    "bool": types.BOOL,
    "string": types.STRING,
    "bigint": types.BIGINT,
    "float": types.FLOAT,
    "double": types.DOUBLE,
    "usize": types.USIZE,
    "isize": Signed(64),
    **{f"u{width}": Bit(width) for width in (8, 16, 32, 64, 128)},
    **{f"s{width}": Signed(width) for width in (8, 16, 32, 64, 128)},
    **{f"i{width}": Signed(width) for width in (8, 16, 32, 64, 128)},
}

MAX_WIDTH = 8192
"""The widest integer type: its values have less digits than Python converts at once, and no step on them is large."""


def resolve_width(signed: bool, width: int, span: Span, report: Report) -> Type:
    """Return the type of integers of a width in bits."""
    if 1 <= width <= MAX_WIDTH:
        return Signed(width) if signed else Bit(width)
    mistake = "is too wide" if width else "has no bits"
    message = f"`{'signed' if signed else 'bit'}<{show_integer(width)}>` {mistake}"
    hint = "`bigint` has no bound" if width else ""
    report.add("E0302", message, span, note=f"a width is between 1 and {MAX_WIDTH}", hint=hint)
    return ERROR


def resolve_type(
    environment: Environment, t: syntax.TypeExpr, report: Report, variables: frozenset[str] = frozenset()
) -> Type:
    """Resolve a written type; type variables must be among `variables`."""
    try:
        return _resolve(environment, t, report, variables)
    except TypeSizeError:
        return too_large(t.span, report)


def too_large(span: Span, report: Report) -> Type:
    """Report a type that would have too many parts."""
    report.add(
        "E0321",
        f"a type has more than {types.LARGEST} parts here",
        span,
        note="its parts are counted as if all of it were written out: pairs of pairs double with each level",
        hint="declare a struct: its name is one part",
    )
    return ERROR


def _resolve(environment: Environment, t: syntax.TypeExpr, report: Report, variables: frozenset[str]) -> Type:
    match t:
        case syntax.TypeName():
            return _resolve_name(environment, t, report, variables)
        case syntax.SizedType(kind, width, span=span):
            return resolve_width(kind == "signed", width, span, report)
        case syntax.TupleType(items, span=_):
            resolved = [resolve_type(environment, item, report, variables) for item in items]
            # `(T)` is T: parentheses alone make no tuple, in types as in values.
            return resolved[0] if len(resolved) == 1 else types.Tuple(tuple(resolved))
        case syntax.FunctionType(parameters, result, span=_):
            return types.Function(
                tuple(resolve_type(environment, p, report, variables) for _, p in parameters),
                resolve_type(environment, result, report, variables) if result else types.UNIT,
                tuple(mutable for mutable, _ in parameters),
            )
        case syntax.TickName(name, span=span):
            if name not in variables:
                report.add(
                    "E0303",
                    f"type variable `'{name}` is not declared here",
                    span,
                    note="a typedef declares type variables after its name, a function by its arguments; "
                    "relations and rules have none",
                )
                return ERROR
            return TypeVariable(name)
        case _:
            assert_never(t)


def _resolve_name(environment: Environment, t: syntax.TypeName, report: Report, variables: frozenset[str]) -> Type:
    path, span = t.path, t.span
    if len(path) == 1 and not t.arguments:
        built_in = BUILT_IN.get(path[0])
        if built_in is not None:
            return built_in
    found = environment.typedef(path, span, report)
    arguments = tuple([resolve_type(environment, a, report, variables) for a in t.arguments])
    if found is None:
        return ERROR
    table, plain = found
    declared = table.types[plain]
    parameters = declared.parameters if isinstance(declared, syntax.TypeDef) else ()
    if len(parameters) != len(arguments):
        _wrong_arity(plain, parameters, len(arguments), span, report)
        return ERROR
    if isinstance(declared, syntax.RelationDef) or declared.body is None or isinstance(declared.body, tuple):
        return Named(table.qualify(plain), arguments)
    body = environment.declarations.alias(table, plain)
    return types.substitute(body, dict(zip(parameters, arguments, strict=True)))


def _wrong_arity(name: str, parameters: tuple[str, ...], given: int, span: Span, report: Report) -> None:
    variables = ", ".join("'" + p for p in parameters)
    shown = f"{name}<{variables}>" if parameters else name
    report.add(
        "E0304",
        f"type `{name}` takes {_count(len(parameters), 'argument')}, not {given}",
        span,
        hint=f"it is declared as `{shown}`",
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number or 'no'} {noun}s"


def resolve_alias(environment: Environment, declared: syntax.TypeDef, report: Report) -> Type:
    """Resolve the body of `typedef T<'A> = type`."""
    assert declared.body is not None
    assert not isinstance(declared.body, tuple)
    return resolve_type(environment, declared.body, report, frozenset(declared.parameters))


def resolve_constructors(
    environment: Environment, declared: syntax.TypeDef | syntax.RelationDef, report: Report
) -> tuple[Constructor, ...]:
    """Return the constructors of a struct or union; of a relation's rows, the one with its columns as fields."""
    type_name = environment.table.qualify(declared.name)
    match declared:
        case syntax.RelationDef():
            fields = _fields(environment, declared.fields, report, frozenset())
            return (Constructor(type_name, type_name, 0, fields),)
        case syntax.TypeDef(body=tuple() as body):
            variables = frozenset(declared.parameters)
            return tuple(
                Constructor(
                    environment.table.qualify(c.name),
                    type_name,
                    position,
                    _fields(environment, c.fields, report, variables),
                    name_in_json(c.attributes),
                    tag_in_json(declared.attributes) if len(body) > 1 else "",
                )
                for position, c in enumerate(body)
            )
        case _:
            return ()


def _fields(
    environment: Environment, fields: tuple[syntax.FieldDecl, ...], report: Report, variables: frozenset[str]
) -> tuple[Field, ...]:
    seen: set[str] = set()
    for field in fields:
        if field.name in seen:
            declared_twice("field", field.name, field.span, report)
        seen.add(field.name)
    return tuple(
        Field(
            f.name,
            resolve_type(environment, f.type, report, variables),
            name_in_json(f.attributes),
            form_in_json(f.attributes),
        )
        for f in fields
    )


def resolve_columns(environment: Environment, declared: syntax.RelationDef, report: Report) -> Relation:
    """Return a relation with typed columns, without its primary key.

    `&R(...)` has `Ref<R>` as element; the columns are those of the row behind the reference.
    """
    name = environment.table.qualify(declared.name)
    if declared.element is None:
        row: Type = Named(name)
        element: Type = Named(types.REF, (row,)) if declared.reference else row
    else:
        row = resolve_type(environment, declared.element, report)
        element = Named(types.REF, (row,)) if declared.reference else row
    return Relation(
        name,
        declared.role,
        _columns(environment, types.content(row)),
        element,
        strategy=text_of("strategy", declared.attributes),
        demand=any(attribute.name == "demand" for attribute in declared.attributes),
        kind=declared.kind,
        bound=next((Bound(i, f.bound == "max") for i, f in enumerate(declared.fields) if f.bound is not None), None),
        span=declared.span,
    )


def _columns(environment: Environment, row: Type) -> tuple[Field, ...]:
    if isinstance(row, Named):
        definition = environment.definition(row.name)
        if len(definition.constructors) == 1:
            # Not strict: a relation and a generic type of one name are reported, and columns are made all the same.
            by = dict(zip(definition.parameters, row.arguments, strict=False))
            return tuple(replace(f, type=types.substitute(f.type, by)) for f in definition.constructors[0].fields)
    return (Field("value", row),)


def free_variables(*written: syntax.TypeExpr) -> tuple[str, ...]:
    """Return the type variables of written types, in order of appearance.

    >>> free_variables(syntax.TupleType((syntax.TickName("B"), syntax.TickName("A"), syntax.TickName("B"))))
    ('B', 'A')
    """
    names = (part.name for t in written for part in TYPES.everything(t) if isinstance(part, syntax.TickName))
    return tuple(dict.fromkeys(names))
