"""Functions, and transformers, which are functions from relations to relations; attributes of declarations."""

from __future__ import annotations

from tidelog.lang import syntax
from tidelog.lang.parse.lex import LOWER, UPPER
from tidelog.lang.parse.statements import StatementParser


class FunctionParser(StatementParser):
    """Productions of functions and transformers, and of the attributes of declarations."""

    def attributes(self) -> syntax.Attributes:
        """Parse `attributes = { "#" "[" attribute { "," attribute } [ "," ] "]" }`."""
        if self.kinds[self.at] != "#":
            return ()
        found: list[syntax.Attribute] = []
        while self.accept("#"):
            if self.kinds[self.at] != "[":
                self.expected("`[`", "an attribute is written `#[name = value]`", hint="comments begin with `//`")
            found += self.bracketed(self.at, self.attribute)
        return tuple(found)

    def attribute(self) -> syntax.Attribute:
        """Parse `attribute = name [ "=" expression ]`."""
        first = self.at
        name = self.name("attribute")
        value = self.expression() if self.accept("=") else None
        return syntax.Attribute(name, value, span=self.since(first))

    def function(self, attributes: syntax.Attributes) -> syntax.FunctionDef:
        """Parse `function = "function" signature ( block | "=" expression )`."""
        first = self.at
        self.at += 1
        name, parameters, result = self.signature()
        body: syntax.Expr
        if self.kinds[self.at] == "{":
            body = self.block()
        elif self.accept("="):
            body = self.expression()
        else:
            named = result is None and self.kinds[self.at] in {LOWER, UPPER, "->"}
            hint = "the type of the result stands behind `:`" if named else ""
            self.expected("`{` or `=` and the body of the function", hint=hint)
        return syntax.FunctionDef(name, parameters, result, body, attributes, span=self.since(first))

    def signature(self) -> tuple[str, tuple[syntax.Parameter, ...], syntax.TypeExpr | None]:
        """Parse `signature = lower "(" [ parameter { "," parameter } [ "," ] ] ")" [ ":" type_expression ]`."""
        name = self.lower("function")
        opener = self.expect("(", "a function is declared by `function f(x: A): B { ... }`")
        parameters = self.bracketed(opener, self.parameter)
        result = self.type_expression() if self.accept(":") else None
        return name, parameters, result

    def parameter(self) -> syntax.Parameter:
        """Parse `parameter = attributes lower ":" [ "mut" ] type_expression`."""
        first = self.at
        attributes = self.attributes()
        name = self.lower("parameter")
        self.expect(":", "a parameter is declared by `name: type`")
        mutable = self.accept("mut")
        return syntax.Parameter(name, self.type_expression(), mutable, attributes, span=self.since(first))

    def transformer(self, attributes: syntax.Attributes) -> syntax.TransformerDef:
        """Parse the production below.

        `transformer = "transformer" upper "(" [ transformed { "," transformed } [ "," ] ] ")" "->" "(" [ transformed {
         "," transformed } [ "," ] ] ")"`
        """
        first = self.at - 1
        usage = "a transformer is declared by `extern transformer T(R: relation[A], ...) -> (S: relation[B])`"
        self.at += 1
        name = self.upper("transformer")
        inputs = self.bracketed(self.expect("(", usage), self.transformed)
        self.expect("->", usage)
        outputs = self.bracketed(self.expect("(", usage), self.transformed)
        return syntax.TransformerDef(name, inputs, outputs, attributes, span=self.since(first))

    def transformed(self) -> syntax.TransformerArgument:
        """Parse the production below.

        `transformed = name ":" ( "relation" "[" type_expression "]" | "function" "(" [ parameter { "," parameter } [
         "," ] ] ")" ":" type_expression )`
        """
        first = self.at
        name = self.name("argument")
        self.expect(":", "an argument of a transformer is declared by `name: relation[T]` or `name: function(x: A): B`")
        if self.accept("relation"):
            opener = self.expect("[", "the type of a relation is written `relation[T]`, by that of its rows")
            row = self.type_expression()
            self.close(opener, "`]`")
            return syntax.RelationArgument(name, row, span=self.since(first))
        self.expect("function", "an argument of a transformer is a `relation[T]` or a `function(x: A): B`")
        parameters = self.bracketed(self.expect("("), self.parameter)
        self.expect(":", "the type of the result stands behind `:`")
        return syntax.FunctionArgument(name, parameters, self.type_expression(), span=self.since(first))

    def application(self, attributes: syntax.Attributes) -> syntax.Apply:
        """Parse the production below.

        `application = "apply" path "(" [ path { "," path } [ "," ] ] ")" "->" "(" [ path { "," path } [ "," ] ] ")"`
        """
        first = self.at
        usage = "a transformer is applied by `apply T(R, f) -> (S)`, to relations and functions"
        self.at += 1
        transformer = self.path()
        inputs = self.bracketed(self.expect("(", usage), self._applied)
        self.expect("->", usage)
        outputs = self.bracketed(self.expect("(", usage), self._applied)
        return syntax.Apply(transformer, inputs, outputs, attributes, span=self.since(first))

    def _applied(self) -> syntax.Path:
        """Step over the name of a relation or function."""
        if self.kinds[self.at] not in {LOWER, UPPER}:
            self.expected("the name of a relation or function")
        return self.path()
