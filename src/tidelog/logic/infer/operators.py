"""Operators: both operands of arithmetic and comparison have one type, nothing is converted unasked."""

from __future__ import annotations

from tidelog.base import expr, types
from tidelog.base.conform import bounds
from tidelog.base.expr import Expr, Operate
from tidelog.base.span import Span
from tidelog.base.types import BOOL, STRING, Bit, Named, Signed, Type, is_integer, is_number
from tidelog.lang import syntax
from tidelog.logic.infer import literals as infer_literals
from tidelog.logic.infer.inference import Inference
from tidelog.logic.names.scope import Scope
from tidelog.logic.names.unify import ERROR, Class

_ARITHMETIC = frozenset(("+", "-", "*", "/", "%"))
_BITWISE = frozenset(("&", "|", "^"))
_SHIFTS = frozenset(("<<", ">>"))
_LOGICAL = frozenset(("and", "or", "=>"))
_OF_BOOL = {"&": "and", "|": "or", "^": "!=", "~": "not"}
_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))


def binary(inference: Inference, e: syntax.Binary, scope: Scope, expected: Type | None) -> Expr:
    """A binary operator; a chain such as `a ++ b ++ c` is walked in a loop, so that its length is no limit."""
    chain = [(e, expected)]
    while isinstance(left := chain[-1][0].left, syntax.Binary):
        chain.append((left, _expected_of_left(inference, *chain[-1])))
    node, wanted = chain.pop()
    done = inference.expression(node.left, scope, _expected_of_left(inference, node, wanted), _why(node.operator))
    done = _combine(inference, node, done, scope)
    for outer, outer_wanted in reversed(chain):
        done = inference.accept(done, wanted, outer.left.span, _why(outer.operator))
        done = _combine(inference, outer, done, scope)
        wanted = outer_wanted
    return done


def _expected_of_left(inference: Inference, e: syntax.Binary, expected: Type | None) -> Type | None:
    """Return the type that the left operand must have, or None: a number expected of the whole is expected of it."""
    if e.operator in _ARITHMETIC or e.operator in _BITWISE or e.operator in _SHIFTS:
        wanted = inference.types.resolve(expected) if expected is not None else None
        return wanted if wanted is not None and is_number(wanted) else None
    return BOOL if e.operator in _LOGICAL else None


def _why(operator: str) -> str:
    return f"the operands of `{operator}` are of type `bool`" if operator in _LOGICAL else ""


def _combine(inference: Inference, e: syntax.Binary, left: Expr, scope: Scope) -> Expr:
    operator = e.operator
    if operator in _COMPARISONS:
        return Operate(operator, (left, _same(inference, e, left, scope)), BOOL, span=e.span)
    if operator in _LOGICAL:
        return Operate(operator, (left, inference.expression(e.right, scope, BOOL, _why(operator))), BOOL, span=e.span)
    if operator == "++":
        return _concatenate(inference, e, left, inference.expression(e.right, scope))
    if not _is_number(inference, left, e.left.span, "number" if operator in _ARITHMETIC else "integer", operator):
        inference.expression(e.right, scope)
        return inference.mistake(e.span)
    if operator in _SHIFTS:
        right = inference.expression(e.right, scope, Bit(32), "the right side of a shift is of type `bit<32>`")
    else:
        right = _same(inference, e, left, scope)
    return Operate(operator, (left, right), left.type, span=e.span)


def _same(inference: Inference, e: syntax.Binary, left: Expr, scope: Scope) -> Expr:
    why = f"both operands of `{e.operator}` have the same type, and nothing is converted unasked"
    return inference.expression(e.right, scope, left.type, why)


def _is_number(inference: Inference, operand: Expr, span: Span, of: Class, operator: str) -> bool:
    if inference.types.restrict(operand.type, of):
        return inference.types.resolve(operand.type) is not ERROR
    found = inference.types.resolve(operand.type)
    inference.report.add(
        "E0310",
        f"`{operator}` needs {'integers' if of == 'integer' else 'numbers'}, found `{inference.types.show(found)}`",
        span,
        hint=_other_operator(operator, found),
    )
    return False


def _other_operator(operator: str, found: Type) -> str:
    if operator == "+" and found == STRING:
        return "strings are joined by `++`"
    if found == BOOL and operator in _OF_BOOL:
        return f"for `bool`, write `{_OF_BOOL[operator]}`"
    return ""


def _operand(
    inference: Inference, e: syntax.Expr, scope: Scope, expected: Type | None, of: Class, operator: str
) -> Expr:
    """Infer the operand of a unary operator on numbers."""
    wanted = inference.types.resolve(expected) if expected is not None else None
    operand = inference.expression(e, scope, wanted if wanted is not None and is_number(wanted) else None)
    return operand if _is_number(inference, operand, e.span, of, operator) else inference.mistake(e.span)


def _concatenate(inference: Inference, e: syntax.Binary, left: Expr, right: Expr) -> Expr:
    result = inference.fresh()

    def attempt(final: bool) -> Expr | None:
        made = _try_concatenate(inference, e, left, right, final)
        if made is not None:
            inference.types.unify(result, made.type)
        return made

    return inference.defer(result, e.span, attempt, (left.type, right.type))


def _try_concatenate(inference: Inference, e: syntax.Binary, left: Expr, right: Expr, final: bool) -> Expr | None:
    match inference.types.resolve(left.type), inference.types.resolve(right.type):
        case (types.String(), _):
            return Operate("++", (left, infer_literals.text_of(inference, right, e.right.span)), STRING, span=e.span)
        case Bit(high), Bit(low):
            return Operate("++", (left, right), Bit(high + low), span=e.span)
        case (left_type, right_type) if left_type is ERROR or right_type is ERROR:
            return inference.mistake(e.span)
        case (left_type, _) if inference.is_open(left_type):
            return inference.unknown_type("this operand of `++`", e.left.span, left_type) if final else None
        case Bit(), right_type if inference.is_open(right_type):
            return inference.unknown_type("this operand of `++`", e.right.span, right_type) if final else None
        case (left_type, right_type):
            return _cannot_join(inference, e, left_type, right_type)


def _cannot_join(inference: Inference, e: syntax.Binary, left: Type, right: Type) -> Expr:
    shown_left, shown_right = inference.types.show(left), inference.types.show(right)
    hint = ""
    if right == STRING:
        hint = 'make the left side text: `"${...}" ++ ...`'
    elif isinstance(left, Named) and left.name == types.VEC:
        hint = "join vectors with `append`"
    inference.report.add(
        "E0310",
        f"`++` cannot join `{shown_left}` and `{shown_right}`",
        e.span,
        note="`++` joins strings, the right side being turned into text, and bit vectors of known width",
        hint=hint,
    )
    return inference.mistake(e.span)


def unary(inference: Inference, e: syntax.Unary, scope: Scope, expected: Type | None) -> Expr:
    """A unary operator; a negated literal is a literal, so that `-128` is of type `signed<8>`."""
    match e:
        case syntax.Unary("-", syntax.IntLiteral() as literal) if literal.width is None or literal.signed:
            return infer_literals.negated(inference, literal, expected, e.span)
        case syntax.Unary("-", syntax.FloatLiteral() as number):
            return infer_literals.real(inference, number, scope, expected, "-")
        case syntax.Unary("-", operand):
            of = _operand(inference, operand, scope, expected, "number", "-")
            return Operate("neg", (of,), of.type, span=e.span)
        case syntax.Unary("~", operand):
            of = _operand(inference, operand, scope, expected, "integer", "~")
            return Operate("~", (of,), of.type, span=e.span)
        case syntax.Unary("not", operand):
            of = inference.expression(operand, scope, BOOL, "the operand of `not` is of type `bool`")
            return Operate("not", (of,), BOOL, span=e.span)
        case _:
            return _reference(inference, e, scope, expected)


def _reference(inference: Inference, e: syntax.Unary, scope: Scope, expected: Type | None) -> Expr:
    """`&x`: a reference is its content (`base.values`), so only the type changes."""
    match inference.types.resolve(expected) if expected is not None else None:
        case Named(types.REF, (content,)):
            of = inference.expression(e.operand, scope, content)
        case _:
            of = inference.expression(e.operand, scope)
    return expr.Sequence((of,), Named(types.REF, (of.type,)), span=e.span)


def cast(inference: Inference, e: syntax.Cast, scope: Scope, *_: object) -> Expr:
    """`x as T`, between numbers only: integers wrap, floating point truncates toward zero."""
    target = inference.resolve_type(e.type)
    match e.operand, target:
        case syntax.IntLiteral(value, None), Bit() | Signed() if bounds(target)[0] <= value <= bounds(target)[1]:
            return expr.Const(value, target, span=e.span)
        case _:
            operand = inference.expression(e.operand, scope)
    result = Operate("as", (operand,), target, span=e.span)

    def check(final: bool) -> bool:
        found = inference.types.resolve(operand.type)
        if inference.is_open(found) and inference.types.class_of(found) == "any":
            if final:
                inference.unknown_type("what is cast", e.operand.span, found)
            return final
        if not _castable(inference, found, target):
            inference.report.add(
                "E0311",
                f"cannot cast `{inference.types.show(found)}` to `{types.show(target)}`",
                e.span,
                note="`as` converts between numbers",
                hint=_instead_of_cast(found, target),
            )
        return True

    inference.later(check, operand.type)
    return result


def _castable(inference: Inference, found: Type, target: Type) -> bool:
    if found is ERROR or target is ERROR or found == target:
        return True
    return is_number(target) and (is_number(found) or inference.types.class_of(found) != "any")


def _instead_of_cast(found: Type, target: Type) -> str:
    if target == STRING:
        return 'make it text: `"${...}"`'
    if found == BOOL and is_number(target):
        return "write `if (...) 1 else 0`"
    if target == BOOL and is_number(found):
        return "write `... != 0`"
    if found == STRING and is_integer(target):
        return "parse it: `parse_dec_u64(...)` or `parse_dec_i64(...)`"
    return ""


def slice_(inference: Inference, e: syntax.Slice, scope: Scope, *_: object) -> Expr:
    """`x[high:low]` of a bit vector."""
    operand = inference.expression(e.of, scope)
    if e.high < e.low:
        inference.report.add(
            "E0312", f"`[{e.high}:{e.low}]` has its ends in the wrong order", e.span, note="the high bit comes first"
        )
        return inference.mistake(e.span)
    inference.later(lambda final: _check_slice(inference, e, operand.type, e.span, final))
    bounds = (expr.Const(e.high, types.BIGINT, span=e.span), expr.Const(e.low, types.BIGINT, span=e.span))
    return Operate("slice", (operand, *bounds), Bit(e.high - e.low + 1), span=e.span)


def _check_slice(inference: Inference, e: syntax.Slice, type: Type, span: Span, final: bool) -> bool:
    match inference.types.resolve(type):
        case Bit(width) if e.high >= width:
            inference.report.add(
                "E0312",
                f"`bit<{width}>` has no bit {e.high}",
                span,
                note=f"its bits are {width - 1} to 0",
            )
        case Bit():
            pass
        case known if known is ERROR:
            pass
        case unknown if inference.is_open(unknown):
            if final:
                inference.unknown_type("what is sliced", e.of.span, unknown)
            return final
        case other:
            inference.report.add(
                "E0310",
                f"only bit vectors have slices, found `{inference.types.show(other)}`",
                e.of.span,
                hint=f"convert it: `(... as bit<{e.high + 1}>)[{e.high}:{e.low}]`" if is_integer(other) else "",
            )
    return True
