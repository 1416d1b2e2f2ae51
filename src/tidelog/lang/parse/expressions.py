"""Expressions and patterns: operators by precedence climbing, and what binds tighter than any operator.

From tight to loose: postfix (`x.f`, `x.0`, `x.f(y)`, `f(x)`, `x[7:0]`, `x?`, `x: T`, `x as T`); prefix `& - ~ not`;
then the levels of `PRECEDENCE`; then `=`. All operators associate to the left; `< <= > >=` do not associate. Chains of
operators are parsed in a loop, so their length is not limited.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from typing import Final, NoReturn

from tidelog.base.span import Span
from tidelog.base.text.integers import read_integer
from tidelog.base.text.show import PRECEDENCE
from tidelog.base.text.terms import LANG_STRING
from tidelog.lang import syntax
from tidelog.lang.parse.cursor import MAX_DEPTH
from tidelog.lang.parse.lex import FLOAT, INT, IRI, LOWER, SIZED, STRING, UPPER
from tidelog.lang.parse.literals import LiteralParser

COMPARISON: Final = 7
EQUALITY: Final = frozenset(("==", "!="))
PREFIX: Final = frozenset(("-", "~", "not", "&"))
IRI_CONSTRUCTOR: Final = ("rdf", "Iri")
LITERAL_CONSTRUCTOR: Final = ("rdf", "Literal")
_TYPE: Final = re.compile("bool|istring|bigint|usize|isize|bit|signed|[usi][0-9]+").fullmatch
"""Tells whether a name behind a colon is that of a type; `xsd:string` may be an IRI, so some are missing."""
_POSTFIX: Final = frozenset((".", "(", "[", "?", ":", "as"))
_BLOCKS: Final = frozenset(("{", "if", "for", "match"))


class ExpressionParser(LiteralParser):
    """Productions of expressions, except those with statements inside, which `blocks` adds."""

    def expression(self) -> syntax.Expr:
        """Parse `expression = binary [ "=" binary ]`."""
        self.descend()
        first = self.at
        found = self.binary(0)
        if self.kinds[self.at] == "=":
            self.at += 1
            found = syntax.Assign(found, self.binary(0), span=self.since(first))
        self.depth -= 1
        return found

    def binary(self, above: int) -> syntax.Expr:
        """Parse `binary = unary { operator unary }`."""
        first = self.at
        left = self.unary()
        while True:
            at = self.at
            operator = self.kinds[at]
            if operator == ">":
                operator = self._joined(at)
            elif operator == "&" and self._reference_ahead(at):
                return left
            level = PRECEDENCE.get(operator, 0)
            if level <= above:
                return left
            self.at = at + len(operator) if operator[0] == ">" else at + 1
            if operator == "&" and self.kinds[at + 1] == "&" and self.starts[at + 1] == self.ends[at]:
                self.expected("an expression")
            right = self.binary(level)
            if level == COMPARISON:
                self._check_chain(operator)
            left = syntax.Binary(operator, left, right, span=self.since(first))

    def _reference_ahead(self, at: int) -> bool:
        """Tell whether this `&` begins a rule, as behind a function without braces, and is no operator."""
        if self.kinds[at + 1] not in {LOWER, UPPER}:
            return False
        end = self.path_end(at + 1)
        return self.begins_declaration(at) or (self.kinds[end - 1] == UPPER and self.kinds[end] in {"(", "["})

    def _joined(self, at: int) -> str:
        """Return `>>` or `>=` if the tokens at this place are meant so, else `>`."""
        following = self.kinds[at + 1]
        return ">" + following if following in {">", "="} and self.starts[at + 1] == self.ends[at] else ">"

    def _check_chain(self, operator: str) -> None:
        following = self.kinds[self.at]
        if PRECEDENCE.get(following) == COMPARISON and not (operator in EQUALITY and following in EQUALITY):
            self.fail(
                "E0122",
                "comparisons cannot be chained",
                self.span_at(self.at),
                note="`a < b < c` would compare a truth value with c",
                hint="write `a < b and b < c`, or put parentheses",
            )

    def unary(self) -> syntax.Expr:
        """Parse `unary = { "-" | "~" | "not" | "&" } postfix`."""
        if self.kinds[self.at] not in PREFIX:
            return self.postfix()
        first = self.at
        while self.kinds[self.at] in PREFIX:
            self.at += 1
        last = self.at
        if last - first > MAX_DEPTH:
            self.too_deep()
        found = self.postfix()
        for index in range(last - 1, first - 1, -1):
            found = syntax.Unary(self.kinds[index], found, span=self.since(index))  # type: ignore[arg-type]
        return found

    def postfix(self) -> syntax.Expr:
        """Parse the production below.

        `postfix = term { field | arguments | bit_slice | "?" | ":" type_expression | "as" type_expression }`
        """
        first = self.at
        opened = self.kinds[first] in _BLOCKS
        found = self.term()
        while True:
            at = self.at
            kind = self.kinds[at]
            if kind not in _POSTFIX:
                return found
            if kind == ".":
                if not self.field_ahead(at):
                    return found
                found = self.field(found, first)
            elif kind == "?":
                self.at = at + 1
                found = syntax.Try(found, span=self.since(first))
            elif kind == ":":
                self.at = at + 1
                tight = at == first + 1 and self._is_prefixed(at)
                found = syntax.Annotated(found, self.type_expression(), tight, span=self.since(first))
            elif kind == "as":
                self.at = at + 1
                found = syntax.Cast(found, self.type_expression(), span=self.since(first))
            elif opened:
                return found  # a block and the next expression, with `;` missing between them
            elif kind == "(":
                found = syntax.Call(found, self.arguments(), span=self.since(first))
            else:
                found = self.bit_slice(found, first)

    def _is_prefixed(self, colon: int) -> bool:
        """Tell whether a name, a colon and a name stand side by side: `ub:worksFor`, but in `x:u8` is a type."""
        before, after = self.kinds[colon - 1], self.kinds[colon + 1]
        apart = self.ends[colon - 1] < self.starts[colon] or self.ends[colon] < self.starts[colon + 1]
        if before != LOWER or after not in {LOWER, UPPER} or apart:
            return False
        return self.kinds[colon + 2] not in {"::", "<"} and not _TYPE(self.words[colon + 1])

    def field_ahead(self, at: int) -> bool:
        """Tell the `.` of `x.f` from the one that ends a rule: the name follows at once, and begins small."""
        following = self.kinds[at + 1]
        if self.starts[at + 1] != self.ends[at]:
            return False
        if following == UPPER and self.kinds[at + 2] == "::":
            end = self.path_end(at + 1)
            return self.kinds[end - 1] == LOWER and self.kinds[end] == "("
        return following in {LOWER, INT}

    def field(self, of: syntax.Expr, first: int) -> syntax.Expr:
        """Parse `field = "." ( decimal | lower | path arguments )`."""
        at = self.at + 1
        self.at = at + 1
        if self.kinds[at] == INT:
            return syntax.TupleAccess(of, read_integer(self.words[at].replace("_", "")), span=self.since(first))
        end = self.path_end(at)
        if self.kinds[end] != "(":
            return syntax.FieldAccess(of, self.words[at], span=self.since(first))
        path = tuple(self.words[at:end:2])
        self.at = end
        return syntax.MethodCall(of, path, self.arguments(), span=self.since(first))

    def arguments(self) -> tuple[syntax.Expr, ...]:
        """Parse `arguments = "(" [ expression { "," expression } [ "," ] ] ")"`."""
        return self.bracketed(self.at, self.expression)

    def bit_slice(self, of: syntax.Expr, first: int) -> syntax.Slice:
        """Parse `bit_slice = "[" decimal ":" decimal "]"`."""
        opener = self.at
        kinds, words = self.kinds, self.words
        if kinds[opener + 1 : opener + 5] != [INT, ":", INT, "]"]:
            self.fail(
                "E0123",
                "square brackets behind a value are a bit slice, `x[15:8]`, with two numbers",
                self.span_at(opener),
                hint="use `v.nth(i)` for an element of a vector, `m.get(k)` for a value in a map",
            )
        self.at = opener + 5
        high, low = (read_integer(words[index].replace("_", "")) for index in (opener + 1, opener + 3))
        return syntax.Slice(of, high, low, span=self.since(first))

    # --- terms -------------------------------------------------------------------------------------------------------

    def term(self) -> syntax.Expr:
        """Parse the production below.

        `term = "_" | "true" | "false" | decimal | number | string | "var" lower | named | tuple_expression |
         collection | iri | rdf_literal | block_term`
        """
        first = self.at
        kind = self.kinds[first]
        if kind in {LOWER, UPPER}:
            return self.named()
        if kind == INT:
            self.at = first + 1
            return syntax.IntLiteral(read_integer(self.words[first].replace("_", "")), span=self.since(first))
        if kind == "(":
            return self.tuple_expression()
        if kind == STRING:
            text = self.string()
            return self.rdf_literal(text, first) if self.kinds[self.at] in {"@", "^"} else text
        if kind == IRI:
            return self.iri()
        if kind == "_":
            self.at = first + 1
            return syntax.Wildcard(span=self.since(first))
        if kind in {"true", "false"}:
            self.at = first + 1
            return syntax.BoolLiteral(kind == "true", span=self.since(first))
        if kind == "var":
            self.at = first + 1
            return syntax.VarDecl(self.lower("variable"), span=self.since(first))
        if kind == "[":
            return self.collection()
        if kind in {SIZED, FLOAT}:
            return self.number()
        return self.block_term()

    @abstractmethod
    def block_term(self) -> syntax.Expr:
        """Parse a term with statements inside; see `blocks`."""

    def iri(self) -> syntax.Construct:
        """Parse `iri = iri_token`."""
        first = self.at
        self.at = first + 1
        span = self.since(first)
        text = syntax.StringLiteral((self.words[first][1:-1],), span=span)
        return syntax.Construct(IRI_CONSTRUCTOR, (syntax.Argument(None, text, span=span),), span=span)

    def rdf_literal(self, text: syntax.StringLiteral, first: int) -> syntax.Expr:
        """Parse what follows the text in the production below.

        `rdf_literal = string ( "@" language | "^" "^" ( iri | lower ":" ( lower | upper ) ) )`
        """
        at = self.at
        if self._attached(at) == "@" and self._attached(at + 1).isalpha():
            self.at = at + 2
            while self._attached(self.at) == "-" and self._attached(self.at + 1).isalnum():
                self.at += 2
            tag = "".join(self.words[at + 1 : self.at]).lower()
            return self._rdf_literal(text, syntax.StringLiteral((LANG_STRING,), span=self.since(at)), tag, first)
        if self._attached(at) != "^" or self._attached(at + 1) != "^":
            return text
        self.at = at + 2
        if self.kinds[self.at] == IRI:
            datatype: syntax.Expr = self.iri().arguments[0].value
        elif self.kinds[self.at] == LOWER and self._attached(self.at + 1) == ":" and self._attached(self.at + 2):
            name, type = self.words[self.at], self.words[self.at + 2]
            self.at += 3
            span = self.since(at + 2)
            datatype = syntax.Annotated(syntax.Name((name,), span=span), syntax.TypeName((type,), ()), True, span=span)
        else:
            self.expected(
                "a datatype", 'a literal with a datatype is written `"1"^^xsd:integer` or `"1"^^<http://...>`'
            )
        return self._rdf_literal(text, datatype, "", first)

    def _rdf_literal(self, text: syntax.Expr, datatype: syntax.Expr, language: str, first: int) -> syntax.Construct:
        span = self.since(first)
        parts = (text, datatype, syntax.StringLiteral((language,) if language else (), span=span))
        return syntax.Construct(
            LITERAL_CONSTRUCTOR, tuple([syntax.Argument(None, part, span=part.span) for part in parts]), span=span
        )

    def _attached(self, at: int) -> str:
        """Return the word of a token that follows the one before without a blank; none if it does not."""
        return self.words[at] if self.starts[at] == self.ends[at - 1] else ""

    def named(self) -> syntax.Expr:
        """Parse `named = lower "@" unary | path [ "{" named_arguments "}" ]`."""
        first = self.at
        path = self.path()
        last = self.at - 1
        kind = self.kinds[self.at]
        if self.kinds[last] == LOWER:
            if kind == "@" and last == first:
                self.at += 1
                return syntax.At(path[0], self._nested_unary(), span=self.since(first))
            return syntax.Name(path, span=self.since(first))
        if kind == "{":
            opener = self.at
            return syntax.Construct(path, self.named_arguments(opener), span=self.since(first))
        if kind == "(":
            self._relation_inside(first, path)
        return syntax.Construct(path, (), span=self.since(first))

    def _nested_unary(self) -> syntax.Expr:
        self.descend()
        found = self.unary()
        self.depth -= 1
        return found

    def _relation_inside(self, first: int, path: tuple[str, ...]) -> NoReturn:
        name = "::".join(path)
        hint = f"write `{name}{{...}}` for a constructor"
        if self.kinds[max(first - 2, 0) : first] == ["not", "("]:
            hint = "`not` stands before one atom: define a relation by the clauses in the parentheses, and negate that"
        self.fail(
            "E0120",
            f"`{name}(...)` is not an expression",
            self.since(first),
            note="a relation stands alone as a clause of a body; functions begin with a small letter",
            hint=hint,
        )

    def named_arguments(self, opener: int) -> tuple[syntax.Argument, ...]:
        """Parse `named_arguments = [ argument { "," argument } [ "," ] ]`."""
        closer = ")" if self.kinds[opener] == "(" else "}"
        self.at = opener + 1
        kinds, words, starts, ends, source = self.kinds, self.words, self.starts, self.ends, self.source
        items: list[syntax.Argument] = []
        names = 0
        while (kind := kinds[self.at]) != closer:
            at = self.at
            if kind == LOWER and (kinds[at + 1] == "," or kinds[at + 1] == closer):
                # The usual argument: a variable.
                span: Span = tuple.__new__(Span, (source, starts[at], ends[at]))
                items.append(syntax.Argument(None, syntax.Name((words[at],), span=span), span=span))
                self.at = at + 1
            else:
                names += kind == "."
                items.append(self.argument())
            if kinds[self.at] != ",":
                break
            self.at += 1
        self.close(opener)
        if names and names < len(items):
            self.report.add(
                "E0124",
                "positional and named arguments are mixed",
                next(item.span for item in items if item.name is None),
                note="either all arguments are named, `.field = value`, or none is",
            )
        return tuple(items)

    def argument(self) -> syntax.Argument:
        """Parse `argument = [ "." lower "=" ] expression`."""
        first = self.at
        name = None
        if self.accept("."):
            name = self.lower("field")
            self.expect("=", "a named argument is written `.field = value`")
        value = self.expression()
        return syntax.Argument(name, value, span=self.since(first))

    def tuple_expression(self) -> syntax.Expr:
        """Parse `tuple_expression = arguments`."""
        first = self.at
        items = self.arguments()
        return items[0] if len(items) == 1 else syntax.TupleExpr(items, span=self.since(first))

    def collection(self) -> syntax.Expr:
        """Parse the production below.

        `collection = "[" [ expression [ "->" expression ] { "," expression [ "->" expression ] } [ "," ] ] "]"`
        """
        opener = self.at
        self.at = opener + 1
        items: list[syntax.Expr] = []
        values: list[syntax.Expr] = []
        while self.kinds[self.at] != "]":
            items.append(self.expression())
            if len(values) == len(items) - 1 and (values or len(items) == 1) and self.accept("->"):
                values.append(self.expression())
            elif values:
                self.expected("`->`", "a map is written `[key -> value, ...]`")
            if not self.accept(","):
                break
        self.close(opener)
        if values:
            return syntax.MapLiteral(tuple(zip(items, values, strict=True)), span=self.since(opener))
        return syntax.VecLiteral(tuple(items), span=self.since(opener))
