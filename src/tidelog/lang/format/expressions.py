"""Writing types and expressions, with no more parentheses than the grammar needs.

`level` is how tightly an expression must bind to stand somewhere without parentheses: 0 anywhere, then the levels of
`PRECEDENCE`, then `UNARY`, `POSTFIX`, `TERM`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Final, assert_never

from tidelog.base.diagnostic import Report
from tidelog.base.span import Source
from tidelog.base.text.integers import show_integer
from tidelog.base.text.show import PRECEDENCE
from tidelog.base.text.terms import LANG_STRING
from tidelog.lang import syntax
from tidelog.lang.escape import escape
from tidelog.lang.format.comments import CommentFormatter, Node, Pair
from tidelog.lang.format.layout import LINE, SOFT, Doc, Fill, Verbatim, bracketed, flat, group, join, nest
from tidelog.lang.parse.expressions import COMPARISON, EQUALITY
from tidelog.lang.parse.lex import IRI_TEXT, STRING, Tokens, lex
from tidelog.lang.parse.parse import parse_expression

UNARY: Final = 12
POSTFIX: Final = 13
TERM: Final = 14
_LETTER: Final = {10: "d", 16: "h", 8: "o", 2: "b"}
_DIGITS: Final = {10: "d", 16: "x", 8: "o", 2: "b"}
_LOOSE: Final = syntax.Assign | syntax.BlockTerm
_SIMPLE: Final = (syntax.Name, syntax.Wildcard, syntax.IntLiteral, syntax.FloatLiteral, syntax.BoolLiteral)


def path(names: syntax.Path) -> str:
    """Write a scoped name."""
    return "::".join(names)


def write_type(of: syntax.TypeExpr) -> str:
    """Write a type; types are not broken into lines."""
    match of:
        case syntax.TypeName(names, arguments):
            return f"{path(names)}<{', '.join(map(write_type, arguments))}>" if arguments else path(names)
        case syntax.SizedType(kind, width):
            return f"{kind}<{width}>"
        case syntax.TupleType(items):
            return f"({', '.join(map(write_type, items))})"
        case syntax.FunctionType(parameters, result):
            modes = ", ".join(("mut " if mutable else "") + write_type(type) for mutable, type in parameters)
            return f"function({modes})" + (f": {write_type(result)}" if result is not None else "")
        case syntax.TickName(name):
            return f"'{name}"
        case _:
            assert_never(of)


def level_of(e: syntax.Expr) -> int:
    """Tell how tightly an expression binds."""
    match e:
        case syntax.Binary(operator):
            return PRECEDENCE[operator]
        case syntax.Unary() | syntax.At():
            return UNARY
        case syntax.Break() | syntax.Continue():
            return TERM
        case _:
            return POSTFIX if isinstance(e, syntax.Postfix) else 0 if isinstance(e, _LOOSE) else TERM


_LANGUAGE = re.compile("[a-z]+(-[a-z0-9]+)*").fullmatch


def _iri(e: syntax.Construct) -> str | None:
    """Return the short form of an IRI, if it is one that can be written so."""
    match e:
        case syntax.Construct(
            ("rdf", "Iri"), (syntax.Argument(None, syntax.StringLiteral((str() as text,), interned=False)),)
        ) if IRI_TEXT(text):
            return f"<{text}>"
    return None


def _ending(e: syntax.Construct) -> str | None:
    """Return what follows the text of a literal, if it is one that can be written so."""
    match e:
        case syntax.Construct(
            ("rdf", "Literal"),
            (
                syntax.Argument(None, syntax.StringLiteral(interned=False)),
                syntax.Argument(None, datatype),
                syntax.Argument(None, syntax.StringLiteral(tag, interned=False)),
            ),
        ):
            if not tag:
                return None if (shown := _datatype(datatype)) is None else f"^^{shown}"
            if isinstance(tag[0], str) and _LANGUAGE(tag[0]) and datatype == syntax.StringLiteral((LANG_STRING,)):
                return f"@{tag[0]}"
    return None


def _datatype(e: syntax.Expr) -> str | None:
    """Return how the datatype of a literal can be written."""
    match e:
        case syntax.StringLiteral((str() as text,), interned=False) if IRI_TEXT(text):
            return f"<{text}>"
        case syntax.Annotated(syntax.Name((prefix,)), syntax.TypeName((name,), ()), tight=True):
            return f"{prefix}:{name}"
    return None


def ends_in_bare_type(e: syntax.Expr) -> bool:
    """Tell whether an expression ends like `x as T`, behind which `<` would begin type arguments."""
    match e:
        case syntax.Cast(_, syntax.TypeName(_, ())) | syntax.Annotated(_, syntax.TypeName(_, ())):
            return True
        case syntax.Binary(_, _, right):
            return level_of(right) > 0 and ends_in_bare_type(right)
        case syntax.Unary(_, operand):
            return level_of(operand) > 0 and ends_in_bare_type(operand)
        case syntax.At(_, pattern):
            return level_of(pattern) > 0 and ends_in_bare_type(pattern)
        case _:
            return False


class ExpressionFormatter(CommentFormatter, ABC):
    """Writes expressions; `faithful` keeps the spelling that literals have in the source."""

    def __init__(
        self, source: Source | None = None, comments: Iterable[syntax.Comment] = (), *, faithful: bool = False
    ) -> None:
        super().__init__(source, comments)
        self.faithful = faithful

    def expression(self, e: syntax.Expr, level: int = 0) -> Doc:
        """Write an expression, in parentheses if it binds more loosely than `level`."""
        doc = self.bare(e)
        return ("(", doc, ")") if level_of(e) < level else doc

    def bare(self, e: syntax.Expr) -> Doc:
        """Write an expression without parentheses around it."""
        if isinstance(e, syntax.Postfix):
            return self.postfix(e)
        if isinstance(e, syntax.BlockTerm):
            return self.block_term(e)
        match e:
            case syntax.Name(names):
                return path(names)
            case syntax.Wildcard():
                return "_"
            case syntax.BoolLiteral(value):
                return "true" if value else "false"
            case syntax.IntLiteral() | syntax.FloatLiteral() | syntax.StringLiteral():
                return self.literal(e)
            case syntax.VecLiteral(items):
                return self.bracketed("[", items, self.element, "]", e.span.end)
            case syntax.MapLiteral():
                return self.map_literal(e)
            case syntax.TupleExpr(items):
                return self.bracketed("(", items, self.expression, ")", e.span.end)
            case syntax.Construct(names, arguments):
                if not arguments:
                    return path(names)
                if (iri := _iri(e)) is not None:
                    return iri
                if (ending := _ending(e)) is not None:
                    return (self.bare(arguments[0].value), ending)
                return (path(names), self.bracketed("{", arguments, self.argument, "}", e.span.end))
            case syntax.Unary(operator, operand):
                return ("not " if operator == "not" else operator, self.expression(operand, UNARY))
            case syntax.At(name, pattern):
                return (name, " @ ", self.expression(pattern, UNARY))
            case syntax.VarDecl(name):
                return f"var {name}"
            case syntax.Assign(target, value):
                return (self.expression(target, 1), " = ", self.right_side(value))
            case syntax.Binary():
                return self.binary(e)
            case _:
                assert_never(e)

    @abstractmethod
    def block_term(self, e: syntax.BlockTerm) -> Doc:
        """Write an expression with statements inside; see `blocks`."""

    def right_side(self, e: syntax.Expr) -> Doc:
        """Write what stands right of `=`, where only another `=` needs parentheses."""
        return self.expression(e, 1) if isinstance(e, syntax.Assign) else self.expression(e)

    def argument(self, argument: syntax.Argument) -> Doc:
        """Write a positional or named argument."""
        value = self.expression(argument.value)
        return value if argument.name is None else (f".{argument.name} = ", value)

    def element(self, e: syntax.Expr) -> Doc:
        """Write an element of a vector; a lambda in parentheses, since `[|` begins a string."""
        return self.expression(e, 1 if isinstance(e, syntax.Lambda) else 0)

    def map_literal(self, e: syntax.MapLiteral) -> Doc:
        """Write `[key -> value, ...]`."""
        pairs = [Pair(key, value) for key, value in e.pairs]
        return self.bracketed(
            "[", pairs, lambda pair: (self.element(pair.first), " -> ", self.expression(pair.second)), "]", e.span.end
        )

    # --- operators ---------------------------------------------------------------------------------------------------

    def binary(self, e: syntax.Binary) -> Doc:
        """Write a chain of operators of one level, which may be thousands long."""
        level = PRECEDENCE[e.operator]
        parts: list[Doc] = []
        left: syntax.Expr = e
        above = ""
        while isinstance(left, syntax.Binary) and self._continues(left, level, above):
            parts.append((LINE, left.operator, " ", self.expression(left.right, level + 1)))
            above = left.operator
            left = left.left
        # Without parentheses, a comparison or a bare type would take in the operator behind it.
        apart = above == "<" and ends_in_bare_type(left)
        first = self.expression(left, TERM + 1 if apart else level + (level == COMPARISON))
        return group(first, nest(*reversed(parts)))

    @staticmethod
    def _continues(left: syntax.Binary, level: int, above: str) -> bool:
        if PRECEDENCE[left.operator] != level:
            return False
        if not above:
            return True
        if above == "<" and ends_in_bare_type(left):
            return False
        return level != COMPARISON or (above in EQUALITY and left.operator in EQUALITY)

    def postfix(self, e: syntax.Postfix) -> Doc:
        """Write a chain of fields, calls, slices, casts, which may be thousands long."""
        parts: list[tuple[str, Doc]] = []
        while True:
            part, inner = self._suffix(e)
            parts.append(part)
            if not isinstance(inner, syntax.Postfix) or _apart(e, inner):
                break
            e = inner
        base = self.expression(inner, TERM + 1 if _apart(e, inner) else POSTFIX)
        parts.reverse()
        if sum(bool(method) for method, _ in parts) < 2:
            return (base, *parts)
        return group(base, nest(*((SOFT if method else "", method, rest) for method, rest in parts)))

    def _suffix(self, e: syntax.Postfix) -> tuple[tuple[str, Doc], syntax.Expr]:
        """Return what stands behind an operand, a method's name apart from the rest, and the operand."""
        match e:
            case syntax.Call(function, arguments):
                return ("", self.bracketed("(", arguments, self.expression, ")", e.span.end)), function
            case syntax.MethodCall(receiver, function, arguments):
                written = self.bracketed("(", arguments, self.expression, ")", e.span.end)
                return (f".{path(function)}", written), receiver
            case syntax.FieldAccess(of, name):
                return ("", f".{name}"), of
            case syntax.TupleAccess(of, index):
                return ("", f".{index}"), of
            case syntax.Slice(of, high, low):
                return ("", f"[{high}:{low}]"), of
            case syntax.Try(operand):
                return ("", "?"), operand
            case syntax.Cast(operand, type):
                return ("", f" as {self.inner_type(type)}"), operand
            case syntax.Annotated(operand, type, tight):
                return ("", (":" if tight else ": ") + self.inner_type(type)), operand
            case _:
                assert_never(e)

    @staticmethod
    def inner_type(type: syntax.TypeExpr) -> str:
        """Write a type inside an expression; function types in parentheses, since `:` may follow."""
        return f"({write_type(type)})" if isinstance(type, syntax.FunctionType) else write_type(type)

    # --- literals ----------------------------------------------------------------------------------------------------

    def literal(self, e: syntax.Spelled) -> Doc:
        """Write a number or a string, as in the source or in canonical form."""
        canonical = self._canonical(e)
        if not self.faithful or self.place(e) is None or e.span.text == canonical:
            return canonical
        return self._spelling(e) or canonical

    def _canonical(self, e: syntax.Spelled) -> str:
        match e:
            case syntax.IntLiteral(value, None, False, 10):
                return show_integer(value)
            case syntax.IntLiteral(value, width, signed, radix):
                size = "" if width is None else width
                return f"{size}'{'s' if signed else ''}{_LETTER[radix]}{value:{_DIGITS[radix]}}"
            case syntax.FloatLiteral(text, width):
                return text if width is None else f"{width}'f{text}"
            case syntax.StringLiteral(parts, interned):
                written = (escape(part) if isinstance(part, str) else self._embedded(part) for part in parts)
                return ("i" if interned else "") + f'"{"".join(written)}"'
            case _:
                assert_never(e)

    def _embedded(self, e: syntax.Expr) -> str:
        """Write an expression in `${}`, on one line and without what cannot stand there."""
        return f"${{{flat(type(self)().expression(e))}}}"

    def _spelling(self, e: syntax.Spelled) -> Doc | None:
        """Return the literal as the source has it, if that still is what the tree says."""
        source = Source("literal", e.span.text)
        report = Report()
        tokens = lex(source, report)
        if _commented(tokens) or parse_expression(source, report) != e:
            return None
        words: list[Doc] = [Verbatim(word) if "\n" in word else word for word in tokens.words[:-1]]
        if len(words) > 1 and tokens.kinds[0] != STRING:
            return None
        return words[0] if len(words) == 1 else group(nest(join(LINE, words)))

    # --- lists -------------------------------------------------------------------------------------------------------

    def bracketed(self, opener: str, nodes: Sequence[Node], write: Callable[[Node], Doc], closer: str, end: int) -> Doc:
        """Write a list in brackets: on one line; else simple items filled, others one a line."""
        docs, commented = self.listed(nodes, write, ",", end - 1 if nodes and self.place(nodes[0]) else None)
        if not docs:
            return opener + closer
        if commented:
            return bracketed(opener, docs, closer, hard=True)
        values = [node.value if isinstance(node, syntax.Argument) else node for node in nodes]
        if all(isinstance(value, _SIMPLE) for value in values):
            return group(opener, nest(SOFT, Fill(tuple(docs))), SOFT, closer)
        if _embraces(values[-1]) and all(isinstance(value, _SIMPLE) for value in values[:-1]):
            return (opener, join(" ", docs), closer)
        return bracketed(opener, docs, closer)


def _commented(tokens: Tokens) -> bool:
    """Tell whether there are comments among tokens, or in `${}` of their strings."""
    inner = (part for parts in tokens.strings.values() for part in parts if isinstance(part, Tokens))
    return bool(tokens.comments) or any(map(_commented, inner))


def _apart(outer: syntax.Expr, inner: syntax.Expr) -> bool:
    """Tell whether the operand of a postfix needs parentheses though it binds tightly enough."""
    match outer:
        case syntax.TupleAccess():
            return isinstance(inner, syntax.IntLiteral | syntax.FloatLiteral)  # `1.0` is a number
        case syntax.Call():
            return isinstance(inner, syntax.Construct | syntax.FieldAccess)  # `C(x)` is an atom, `x.f(y)` a method
        case syntax.Slice():
            return isinstance(inner, syntax.Construct | syntax.IntLiteral)  # `C[7:0]` is an atom
        case _:
            return False


def _embraces(e: object) -> bool:
    """Tell whether an argument has braces of its own, so that the parentheses around it need no lines."""
    match e:
        case syntax.Block() | syntax.Match():
            return True
        case syntax.Construct(_, arguments):
            return len(arguments) > 1 and arguments[0].name is not None
        case syntax.Lambda(_, _, body):
            return _embraces(body)
        case _:
            return False
