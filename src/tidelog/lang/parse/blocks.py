"""Expressions that hold others like statements: blocks, `if`, `match`, `for`, lambdas, `return`."""

from __future__ import annotations

from collections.abc import Callable

from tidelog.base.text.show import PRECEDENCE
from tidelog.lang import syntax
from tidelog.lang.parse.cursor import Failure, Item
from tidelog.lang.parse.expressions import ExpressionParser
from tidelog.lang.parse.lex import END, FLOAT, INT, LOWER, SIZED, STRING, UPPER

_STATEMENT_LIKE = frozenset(("if", "for", "match", "{"))
_BEGINS = frozenset((
    LOWER, UPPER, INT, SIZED, FLOAT, STRING, "(", "[", "{", "-", "~", "not", "&", "|", "_", "true", "false", "var",
    "if", "for", "match", "function", "return", "break", "continue",
))  # fmt: skip
_ENDS = frozenset((";", "}"))


class BlockParser(ExpressionParser):
    """Productions of expressions with statements inside."""

    def block_term(self) -> syntax.Expr:
        """Parse the production below.

        `block_term = block | conditional | match_expression | for_expression | lambda_expression |
         return_expression | "break" | "continue"`
        """
        kind = self.kinds[self.at]
        self.descend()
        if kind not in _TERMS:
            hint = "a named argument is written `.field = value`, in all places" if kind == "." else ""
            self.expected("an expression", hint=hint)
        found = _TERMS[kind](self)
        self.depth -= 1
        return found

    def leave_loop(self) -> syntax.Break | syntax.Continue:
        """Parse `"break"` or `"continue"`."""
        first = self.at
        self.at = first + 1
        return (syntax.Break if self.kinds[first] == "break" else syntax.Continue)(span=self.since(first))

    def block(self) -> syntax.Block:
        """Parse `block = "{" [ expression { ";" expression } [ ";" ] ] "}"`."""
        opener = self.at
        self.at = opener + 1
        items: list[syntax.Expr] = []
        unit = True
        while self.kinds[self.at] not in {"}", END}:
            first = self.at
            depth = self.depth
            unit = False
            try:
                items.append(self.expression())
                if self.kinds[self.at] == "}":
                    break
                self._semicolon(first, opener)
            except Failure:
                self.depth = depth
                if self.skip_to(first, _ENDS) not in _ENDS:
                    break
            while self.accept(";"):
                unit = True
        self.close(opener, "`;` or `}`")
        if unit:
            items.append(syntax.TupleExpr((), span=self.span_at(self.at - 1)))
        return syntax.Block(tuple(items), span=self.since(opener))

    def _semicolon(self, first: int, opener: int) -> None:
        """Check the separator of two expressions of a block; a missing one is reported, and taken as read."""
        if self.kinds[self.at] == ";":
            return
        line_broken = "\n" in self.source.text[self.ends[self.at - 1] : self.starts[self.at]]
        ended = self.kinds[first] in _STATEMENT_LIKE or line_broken
        if not ended or self.kinds[self.at] in {END, ")", "]", ","} or self.begins_declaration(self.at):
            if self.kinds[self.at] == END or self.begins_declaration(self.at):
                self.close(opener)
            self.expected("`;` or `}`")
        self.report.add(
            "E0118",
            "expected `;` before the next expression",
            self.after_last(),
            note="`;` separates the expressions of a block, also behind `}`",
        )

    def conditional(self) -> syntax.If:
        """Parse `conditional = "if" condition branch [ "else" branch ]`."""
        first = self.at
        self.at = first + 1
        condition = self.condition()
        then = self.branch()
        otherwise = self.branch() if self.accept("else") else None
        return syntax.If(condition, then, otherwise, span=self.since(first))

    def condition(self) -> syntax.Expr:
        """Parse `condition = "(" expression ")" | postfix`."""
        found = self.tuple_expression() if self.kinds[self.at] == "(" else self.postfix()
        if isinstance(found, syntax.Assign):
            self.report.add(
                "E0119",
                "this assigns a value, where a condition is expected",
                found.span,
                hint="`==` compares",
            )
        return found

    def branch(self) -> syntax.Expr:
        """Parse `branch = block | conditional | match_expression | for_expression | unary [ "=" binary ]`."""
        first = self.at
        if self.kinds[first] in _STATEMENT_LIKE:
            return self.term()
        found = self._nested_unary()
        kind = self.kinds[self.at]
        if kind == "=":
            self.at += 1
            return syntax.Assign(found, self.binary(0), span=self.since(first))
        if kind in PRECEDENCE and not (kind == "&" and self._reference_ahead(self.at)):
            self.fail(
                "E0121",
                "a branch with an operator needs braces",
                self.span_at(self.at),
                note="without braces it is not clear how far the branch goes",
                hint="write `if (c) { a + b } else { d }`",
            )
        return found

    def match_expression(self) -> syntax.Match:
        """Parse the production below.

        `match_expression = "match" "(" expression ")" "{" pattern "->" expression { "," pattern "->" expression }
         [ "," ] "}"`
        """
        first = self.at
        subject = self.subject()
        return syntax.Match(subject, self.arms(self.expression, "value"), span=self.since(first))

    def arms(self, body: Callable[[], Item], noun: str) -> tuple[tuple[syntax.Expr, Item], ...]:
        """Parse the alternatives of a `match`, in braces."""

        def arm() -> tuple[syntax.Expr, Item]:
            pattern = self.pattern()
            self.expect("->", f"an alternative of `match` is written `pattern -> {noun}`")
            return pattern, body()

        return self.bracketed(self.expect("{"), arm)

    def subject(self) -> syntax.Expr:
        """Parse `match (e)` of expressions and statements."""
        self.at += 1
        opener = self.expect("(", "`match` is written `match (e) { pattern -> value, ... }`")
        found = self.expression()
        self.close(opener, "`)`")
        return found

    def pattern(self) -> syntax.Expr:
        """Parse `pattern = unary`."""
        return self._nested_unary()

    def for_expression(self) -> syntax.For:
        """Parse `for_expression = "for" "(" pattern "in" expression ")" branch`."""
        first = self.at
        self.at = first + 1
        opener = self.expect("(", "a loop is written `for (x in xs) { ... }`")
        pattern = self.pattern()
        self.expect("in", "a loop is written `for (x in xs) { ... }`")
        iterable = self.expression()
        self.close(opener, "`)`")
        return syntax.For(pattern, iterable, self.branch(), span=self.since(first))

    def lambda_expression(self) -> syntax.Lambda:
        """Parse the production below.

        `lambda_expression = ( "|" lambda_parameters "|" | "function" "(" lambda_parameters ")" ) [ ":"
         type_expression ] expression`
        """
        first = self.at
        bars = self.kinds[first] == "|"
        self.at = first + 1
        opener = first if bars else self.expect("(", "a function value is written `|x| e` or `function(x) { e }`")
        parameters = self.lambda_parameters("|" if bars else ")")
        if bars:
            self.expect("|")
        else:
            self.close(opener)
        result = self.type_expression() if self.accept(":") else None
        body = self.block() if not bars and self.kinds[self.at] == "{" else self.expression()
        return syntax.Lambda(parameters, result, body, span=self.since(first))

    def lambda_parameters(self, closer: str) -> tuple[syntax.Parameter, ...]:
        """Parse `lambda_parameters = [ lambda_parameter { "," lambda_parameter } [ "," ] ]`."""
        return self.separated(closer, self.lambda_parameter)

    def lambda_parameter(self) -> syntax.Parameter:
        """Parse `lambda_parameter = ( lower | "_" ) [ ":" [ "mut" ] type_expression ]`."""
        first = self.at
        name = "_" if self.accept("_") else self.lower("parameter")
        mutable, annotation = False, None
        if self.accept(":"):
            mutable = self.accept("mut")
            annotation = self.type_expression()
        return syntax.Parameter(name, annotation, mutable, (), span=self.since(first))

    def return_expression(self) -> syntax.Return:
        """Parse `return_expression = "return" [ expression ]`."""
        first = self.at
        self.at = first + 1
        has_value = self.kinds[self.at] in _BEGINS and not self.begins_declaration(self.at)
        value = self.expression() if has_value else None
        return syntax.Return(value, span=self.since(first))


_TERMS: dict[str, Callable[[BlockParser], syntax.Expr]] = {
    "{": BlockParser.block,
    "if": BlockParser.conditional,
    "match": BlockParser.match_expression,
    "for": BlockParser.for_expression,
    "|": BlockParser.lambda_expression,
    "function": BlockParser.lambda_expression,
    "return": BlockParser.return_expression,
    "break": BlockParser.leave_loop,
    "continue": BlockParser.leave_loop,
}
"""The productions of `block_term`, by the token each begins with."""
