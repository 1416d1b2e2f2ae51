"""Writing expressions with statements inside: blocks, `if`, `match`, `for`, lambdas."""

from __future__ import annotations

from typing import assert_never

from tidelog.lang import syntax
from tidelog.lang.format.comments import Pair
from tidelog.lang.format.expressions import UNARY, ExpressionFormatter
from tidelog.lang.format.layout import HARD, LINE, Doc, group, join, nest

_UNIT = syntax.TupleExpr(())


def accepts_else(e: syntax.Expr) -> bool:
    """Tell whether an `else` behind the expression would belong to an `if` in it."""
    match e:
        case syntax.If(_, _, None):
            return True
        case syntax.If(_, _, last) | syntax.For(_, _, last) | syntax.Assign(_, last) | syntax.Lambda(_, _, last):
            return last is not None and accepts_else(last)
        case syntax.Return(last):
            return last is not None and accepts_else(last)
        case _:
            return False


class BlockFormatter(ExpressionFormatter):
    """Writes expressions with statements inside."""

    def block_term(self, e: syntax.BlockTerm) -> Doc:
        """Write one of them."""
        match e:
            case syntax.If():
                return self.conditional(e)
            case syntax.Match():
                return self.match_expression(e)
            case syntax.For(pattern, iterable, body):
                head = ("for (", self.expression(pattern, UNARY), " in ", self.expression(iterable), ") ")
                return group(*head, self.branch(body))
            case syntax.Block():
                return group(self.block(e))
            case syntax.Lambda(parameters, result, body):
                bars = f"|{', '.join(map(self.parameter, parameters))}|"
                typed = f": {self.inner_type(result)}" if result is not None else ""
                return (f"{bars}{typed} ", self.expression(body))
            case syntax.Return(value):
                return "return" if value is None else ("return ", self.expression(value))
            case syntax.Break():
                return "break"
            case syntax.Continue():
                return "continue"
            case _:
                assert_never(e)

    def parameter(self, parameter: syntax.Parameter) -> str:
        """Write a parameter of a function or lambda, without attributes."""
        if parameter.type is None:
            return parameter.name
        return f"{parameter.name}: {'mut ' if parameter.mutable else ''}{self.inner_type(parameter.type)}"

    def block(self, e: syntax.Block) -> Doc:
        """Write a block, whose lines break with the group around it."""
        unit = bool(e.items) and e.items[-1] == _UNIT
        items = e.items[:-1] if unit else e.items
        place = self.place(e)
        end = place[1] - 1 if place else None
        docs, _ = self.listed(items, self.expression, ";", end, final=";" if unit else "", blanks=True)
        if not docs:
            return "{}"
        alone = len(items) == 1 and not isinstance(items[0], syntax.Match | syntax.For)
        line = HARD if not alone or (place and self.broken_behind(place[0] + 1)) else LINE
        return ("{", nest(line, join(line, docs)), line, "}")

    def conditional(self, e: syntax.If) -> Doc:
        """Write `if`, with all its blocks broken or none."""
        parts: list[Doc] = []
        node: syntax.Expr = e
        while isinstance(node, syntax.If):
            then, otherwise = node.then, node.otherwise
            parts += ["if (", self.expression(node.condition), ") "]
            parts.append(self.branch(then, apart=otherwise is not None and accepts_else(then)))
            if otherwise is None:
                return group(*parts)
            parts.append(" else " if isinstance(then, syntax.Block) else (LINE, "else "))
            node = otherwise
        return group(*parts, self.branch(node))

    def branch(self, e: syntax.Expr, *, apart: bool = False) -> Doc:
        """Write a branch of `if`, or the body of a loop."""
        if apart:
            return ("(", self.bare(e), ")")
        if isinstance(e, syntax.Block):
            return self.block(e)
        if isinstance(e, syntax.Assign):
            return (self.expression(e.target, UNARY), " = ", self.right_side(e.value))
        if isinstance(e, syntax.If | syntax.Match | syntax.For | syntax.Lambda | syntax.Return):
            return self.bare(e)
        return self.expression(e, UNARY)

    def _broken(self, e: syntax.Match) -> bool:
        """Tell whether the author broke the line behind the brace."""
        place = self.place(e.subject)
        return place is not None and self.broken_behind(self.text.find("{", place[1]) + 1)

    def match_expression(self, e: syntax.Match) -> Doc:
        """Write `match` with its alternatives."""
        place = self.place(e)
        subject = self.expression(e.subject)
        arms, commented = self.listed(
            [Pair(pattern, value) for pattern, value in e.arms],
            lambda arm: (self.expression(arm.first, UNARY), " -> ", self.expression(arm.second)),
            ",",
            place[1] - 1 if place else None,
        )
        if not arms:
            return ("match (", subject, ") {}")
        line = HARD if commented or self._broken(e) else LINE
        return group("match (", subject, ") {", nest(line, join(line, arms)), line, "}")
