"""The last step of inference: unknown types replaced by what they became, placeholders by what was decided."""

from __future__ import annotations

from tidelog.base import expr
from tidelog.base.expr import Expr, Pattern
from tidelog.base.span import Span
from tidelog.base.types import UNIT, String, Type, TypeVariable, is_integer, parts
from tidelog.logic.infer.inference import DEEPEST, Inference
from tidelog.logic.infer.literals import of_type
from tidelog.logic.infer.typed_rewrite import Rewriter
from tidelog.logic.names.unify import ERROR, is_unknown

_MANY = 16


class Finisher(Rewriter):
    """Rebuilds the trees of one inference with known types."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference

    def type(self, type: Type) -> Type:
        """Return the type without unknowns; of an expression that gives no value, unit."""
        known = self.inference.types.zonk(type)
        return UNIT if isinstance(known, TypeVariable) and known.name in self.inference.never else known

    def known(self, type: Type, span: Span, what: str = "this expression") -> Type:
        """Return the type without unknowns, reporting if one stays."""
        found = self.type(type)
        if has_unknown(found):
            self.inference.unknown_type(what, span)
            self.inference.types.give_up(found)
            return ERROR
        return found

    def function(self, name: str, span: Span) -> str:
        """Return the name of the instance that a use of a function means."""
        signature, arguments, place = self.inference.uses[int(name[1:])]
        plain = signature.name.removeprefix("std::")
        known = tuple([self.known(a, place, f"what `{plain}` is used for") for a in arguments])
        return self.inference.environment.declarations.instances.name(signature, known)

    def variable(self, e: expr.Var) -> Expr:
        """Return the variable, or what was decided for a placeholder."""
        if e.name[0] == "?":
            answer = self.inference.deferred[e.name].answer
            assert answer is not None
            return self.expr(answer)
        type = self.type(e.type)
        return e if type is e.type else expr.Var(e.name, type, span=e.span)

    def operate(self, e: expr.Operate) -> Expr:
        """Return the operator on finished operands; chains are walked in a loop, so that their length is no limit."""
        chain = [e]
        while isinstance(first := chain[-1].operands[0], expr.Operate) and len(first.operands) == 2:
            chain.append(first)
        done = self.expr(chain[-1].operands[0])
        depth = 0
        while chain:
            depth += 1
            if depth > DEEPEST:
                return self.inference.too_deep(e.span)
            node = chain.pop()
            type = self.type(node.type)
            right = self.exprs(node.operands[1:])
            if not _is_associative(node.operator, type):
                done = expr.Operate(node.operator, (done, *right), type, span=node.span)
                continue
            run = [done, *right]
            while chain and chain[-1].operator == node.operator:
                node = chain.pop()
                run += self.exprs(node.operands[1:])
            done = _pair_up(node.operator, run, type, node.span)
        return done

    def constant(self, e: expr.Const) -> Expr:
        """Return the constant, a real number if it turned out to be one."""
        type = self.type(e.type)
        if type is e.type:
            return e
        return expr.Const(of_type(e.value, type), type, span=e.span)

    def expr(self, e: Expr) -> Expr:
        """Rebuild an expression; an empty collection whose elements nothing tells is reported."""
        if isinstance(e, expr.Var):
            return self.variable(e)
        done = super().expr(e)
        if isinstance(done, expr.MakeVec | expr.Construct | expr.Lambda) and has_unknown(done.type):
            self.known(done.type, e.span)
        return done

    def pattern(self, p: Pattern) -> Pattern:
        """Rebuild a pattern."""
        if isinstance(p, expr.VarPattern) and isinstance(p.inner, expr.AnyPattern):
            type = self.type(p.type)
            return p if type is p.type else expr.VarPattern(p.name, type)
        if isinstance(p, expr.ConstPattern):
            type = self.type(p.type)
            return expr.ConstPattern(of_type(p.value, type), type)
        return super().pattern(p)


def _is_associative(operator: str, type: Type) -> bool:
    if operator in ("and", "or"):
        return True
    if operator == "++":
        return isinstance(type, String)
    return operator in ("+", "*", "&", "|", "^") and is_integer(type)


def _pair_up(operator: str, operands: list[Expr], type: Type, span: Span) -> Expr:
    """Join operands by an associative operator: a few in a row, many as a tree, which later passes can walk."""
    if len(operands) > _MANY:
        middle = len(operands) // 2
        halves = operands[:middle], operands[middle:]
        return expr.Operate(operator, tuple([_pair_up(operator, half, type, span) for half in halves]), type, span=span)
    done = operands[0]
    for operand in operands[1:]:
        done = expr.Operate(operator, (done, operand), type, span=span)
    return done


def has_unknown(type: Type) -> bool:
    """Tell whether a type holds an unknown other than `ERROR`."""
    return any(map(has_unknown, parts(type))) or (is_unknown(type) and type is not ERROR)
