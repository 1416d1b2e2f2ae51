"""Control: conditionals, matches, loops, blocks, declarations and assignments, `return`, `break`, `continue`.

{ var x = 1; x = x + 1; x }    becomes    Sequence((Declare(x, 1), Assign(x, x + 1), x))
"""

from __future__ import annotations

from tidelog.base import expr, types
from tidelog.base.expr import Declare, Expr, For, If, MakeTuple, Match, Pattern, Sequence, Var, VarPattern
from tidelog.base.types import UNIT, Named, Signed, Tuple, Type, TypeVariable
from tidelog.lang import syntax
from tidelog.lang.syntax.walk import rewrite
from tidelog.logic.infer import access as infer_access
from tidelog.logic.infer import places as infer_places
from tidelog.logic.infer.exhaustive import check_exhaustive
from tidelog.logic.infer.inference import Inference
from tidelog.logic.names.patterns import is_pattern
from tidelog.logic.names.scope import Scope
from tidelog.logic.names.unify import ERROR


def block(inference: Inference, e: syntax.Block, scope: Scope, expected: Type | None) -> Expr:
    """`{ a; b }` in a scope of its own; a block that always leaves early has any type."""
    inner = scope.child()
    items: list[Expr] = []
    leaves = False
    for item in e.items[:-1]:
        items.append(inference.expression(item, inner))
        leaves = leaves or _leaves(items[-1])
        if inference.waiting:
            inference.retry()
    if not e.items:
        return MakeTuple((), UNIT, span=e.span)
    last = inference.expression(e.items[-1], inner, None if leaves else expected, _last_why(e))
    items.append(last)
    type = _never(inference) if leaves else last.type
    return Sequence(tuple(items), type, span=e.span) if len(items) > 1 or leaves else last


def _last_why(e: syntax.Block) -> str:
    if len(e.items) > 1 and e.items[-1] == syntax.TupleExpr(()):
        return "a `;` after the last expression drops its value"
    return ""


def _never(inference: Inference) -> TypeVariable:
    type = inference.types.fresh()
    inference.never.add(type.name)
    return type


def _leaves(e: Expr) -> bool:
    """Tell whether an expression never gives a value, because it returns or leaves a loop first."""
    match e:
        case expr.Return() | expr.Break() | expr.Continue():
            return True
        case Sequence(items):
            return any(_leaves(item) for item in items)
        case If(_, then, otherwise):
            return _leaves(then) and _leaves(otherwise)
        case Match(_, arms):
            return bool(arms) and all(_leaves(value) for _, value in arms)
        case _:
            return False


def if_(inference: Inference, e: syntax.If, scope: Scope, expected: Type | None) -> Expr:
    """`if (c) a else b`; without `else` the value is unit and what `a` gives is dropped."""
    condition = inference.condition(e.condition, scope)
    if e.otherwise is None:
        then = inference.expression(e.then, scope.child())
        if inference.types.resolve(then.type) != UNIT and not _leaves(then):
            then = Sequence((then, MakeTuple((), UNIT, span=e.span)), UNIT, span=e.span)
        return If(condition, then, MakeTuple((), UNIT, span=e.span), UNIT, span=e.span)
    result = expected if expected is not None else inference.fresh()
    why = "" if expected is not None else "both branches of an `if` have the same type"
    then = inference.expression(e.then, scope.child(), result)
    otherwise = inference.expression(e.otherwise, scope.child(), result, why)
    return If(condition, then, otherwise, result, span=e.span)


def match_(inference: Inference, e: syntax.Match, scope: Scope, expected: Type | None) -> Expr:
    """`match (e) { p -> v, ... }`; whether the patterns cover all values is checked when types are known."""
    subject = inference.expression(e.subject, scope)
    result = expected if expected is not None else inference.fresh()
    why = "" if expected is not None else "all arms of a `match` have the same type"
    arms: list[tuple[Pattern, Expr]] = []
    whole = infer_places.changeable(inference, e.subject, scope)
    sound = True
    for written, value in e.arms:
        inner = scope.child()
        mistakes = len(inference.report.diagnostics)
        pattern = inference.pattern(written, inner, subject.type)
        sound = sound and len(inference.report.diagnostics) == mistakes
        if whole is not None and sound:
            infer_places.bind_parts(inference, written, pattern, inner, subject, whole)
        arms.append((pattern, inference.expression(value, inner, result, why)))
    if sound:
        covering = [(pattern, written.span) for (pattern, _), (written, _) in zip(arms, e.arms, strict=True)]
        inference.at_end(lambda: check_exhaustive(inference, "match", subject.type, covering, e.span))
    return Match(subject, tuple(arms), result, span=e.span)


def for_(inference: Inference, e: syntax.For, scope: Scope, *_: object) -> Expr:
    """`for (p in e) body` over the elements of a collection."""
    iterable = inference.expression(e.iterable, scope)
    element = inference.fresh()
    inference.later(lambda final: _check_iterable(inference, e.iterable, iterable.type, element, final))
    inner = scope.child()
    pattern = inference.pattern(e.pattern, inner, element, origin="loop")
    inner.loop = True
    body = inference.expression(e.body, inner)
    place = e.pattern.span
    inference.at_end(lambda: check_exhaustive(inference, "for", element, [(pattern, place)], place))
    return For(pattern, iterable, body, span=e.span)


def element_type(collection: Type) -> Type | None:
    """Return the type of what iterating over a collection gives, or None if it is no collection.

    >>> types.show(element_type(Named("std::Map", (types.STRING, types.BOOL))))
    '(string, bool)'
    """
    match collection:
        case Named(types.VEC | types.SET, (item,)):
            return item
        case Named(types.MAP, (key, value)):
            return Tuple((key, value))
        case Named(types.GROUP, (_, value)):
            return Tuple((value, Signed(64)))
        case _:
            return None


def _check_iterable(inference: Inference, e: syntax.Expr, type: Type, element: Type, final: bool) -> bool:
    collection = infer_access.content(inference, type)
    if inference.is_open(collection) and not final:
        return False
    found = element_type(collection)
    if found is None:
        if inference.is_open(collection):
            inference.unknown_type("what the loop runs over", e.span, collection)
        elif collection is not ERROR:
            inference.report.add(
                "E0314",
                f"cannot iterate over `{inference.types.show(collection)}`",
                e.span,
                note="collections are Vec, Set, Map (pairs of key and value) and Group (pairs of value and weight)",
            )
        found = ERROR
    inference.unify(element, found, e.span)
    return True


def assign(inference: Inference, e: syntax.Assign, scope: Scope, *_: object) -> Expr:
    """`target = value`: declares the variables of a pattern, or assigns a place."""
    match e.target:
        case target if isinstance(target, syntax.Name) or not is_pattern(target):
            found = infer_places.place(inference, e.target, scope)
            value = inference.expression(e.value, scope, found.type if found is not None else None)
            if found is None:
                return inference.mistake(e.span)
            changes = infer_places.then_change_whole(target, scope, e.span)
            assigned = expr.Assign(found, value, span=e.span)
            return Sequence((assigned, *changes), UNIT, span=e.span) if changes else assigned
        case _:
            return _declare(inference, e, scope)


def _declare(inference: Inference, e: syntax.Assign, scope: Scope) -> Expr:
    """Bind a pattern; bare names in it, as in `(a, b) = f()`, are variables to assign."""
    told: Type | None = None
    if isinstance(e.target, syntax.Annotated):
        told = inference.resolve_type(e.target.type)
    value = inference.expression(e.value, scope, told)
    inner = scope.child()
    assigned: list[syntax.Name] = []
    pattern = inference.pattern(_with_temporaries(e.target, assigned), inner, value.type, origin="local")
    moves: list[Expr] = []
    for name in assigned:
        temporary = inner.variables.pop(_temporary(name), None)
        found = infer_places.place(inference, name, scope)
        if temporary is not None and found is not None:
            inference.unify(found.type, temporary.type, name.span)
            moves.append(expr.Assign(found, Var(temporary.unique, temporary.type, span=name.span), span=e.span))
            moves += infer_places.then_change_whole(name, scope, e.span)
    scope.variables.update(inner.variables)
    place = e.target.span
    inference.at_end(lambda: check_exhaustive(inference, "var", value.type, [(pattern, place)], place))
    declared = Declare(pattern, value, span=e.span)
    return Sequence((declared, *moves), UNIT, span=e.span) if moves else declared


def _temporary(name: syntax.Name) -> str:
    return f"{name.path[-1]}#new"


def _with_temporaries(pattern: syntax.Expr, assigned: list[syntax.Name]) -> syntax.Expr:
    """Replace bare names of an assignment's pattern by new variables, which are then assigned to them."""

    def replaced(e: syntax.Expr) -> syntax.Expr | None:
        match e:
            case syntax.Name():
                assigned.append(e)
                return syntax.VarDecl(_temporary(e), span=e.span)
            case syntax.At():
                return e
            case _:
                return None

    return rewrite(pattern, replaced)


def annotated(inference: Inference, e: syntax.Annotated, scope: Scope, *_: object) -> Expr:
    """`e: T`; `var x: T` alone declares a variable with the default value of its type."""
    type = inference.resolve_type(e.type)
    if not isinstance(e.operand, syntax.VarDecl):
        return inference.expression(e.operand, scope, type, f"the annotation says `{types.show(type)}`")
    name, span = e.operand.name, e.operand.span
    defaults = inference.environment.functions(("std", "default"))
    if not defaults:
        return misplaced(inference, e.operand)
    call = expr.Call(inference.use(defaults[0], {defaults[0].type_variables[0]: type}, e.span), (), type, span=e.span)
    inner = scope.child()
    declared = VarPattern(inference.declare(name, type, "local", inner, span), type)
    scope.variables.update(inner.variables)
    return Declare(declared, call, span=e.span)


def misplaced(inference: Inference, e: syntax.VarDecl | syntax.Wildcard | syntax.At, *_: object) -> Expr:
    """A pattern where a value is needed."""
    match e:
        case syntax.VarDecl(name):
            message = f"variable `{name}` is declared without a value"
            hint = f"write `var {name} = ...` or `var {name}: T`"
        case syntax.Wildcard():
            message, hint = "`_` has no value", "`_` stands in patterns, for what does not matter"
        case syntax.At(name):
            message, hint = f"`{name} @ ...` has no value", "`@` stands in patterns"
    inference.report.add("E0315", message, e.span, hint=hint)
    return inference.mistake(e.span)


def return_(inference: Inference, e: syntax.Return, scope: Scope, *_: object) -> Expr:
    """`return e` leaves the function or lambda."""
    why = "the function returns this type"
    value = (
        inference.expression(e.value, scope, scope.returns, why)
        if e.value is not None
        else MakeTuple((), UNIT, span=e.span)
    )
    if scope.returns is None:
        note = "a rule has nothing to return from; the value of a block is that of its last expression"
        inference.report.add("E0316", "`return` outside a function", e.span, note=note)
    elif e.value is None:
        inference.unify(scope.returns, UNIT, e.span, why)
    return expr.Return(value, _never(inference), span=e.span)


def leave_loop(inference: Inference, e: syntax.Break | syntax.Continue, scope: Scope, *_: object) -> Expr:
    """`break` and `continue` stand in a loop."""
    is_break = isinstance(e, syntax.Break)
    if not scope.loop:
        note = "they leave the `for` around them; a lambda is a function of its own"
        inference.report.add("E0316", f"`{'break' if is_break else 'continue'}` outside a loop", e.span, note=note)
    type = _never(inference)
    return expr.Break(type, span=e.span) if is_break else expr.Continue(type, span=e.span)
