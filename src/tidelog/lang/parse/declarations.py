"""Declarations: imports, types, functions, relations, indexes, rules; and modules, which are lists of them.

A mistake ends its declaration; the parser goes on with the next one, so that all mistakes of a text are found at once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, NoReturn

from tidelog.base.diagnostic import did_you_mean
from tidelog.lang import syntax
from tidelog.lang.parse.cursor import Failure
from tidelog.lang.parse.functions import FunctionParser
from tidelog.lang.parse.lex import END, IRI, LOWER, UPPER

_KINDS_OF_RELATION = frozenset(("relation", "multiset", "stream"))
_WORDS = ("input", "output", "relation", "typedef", "function", "extern", "import", "index", "for", "prefix")


class DeclarationParser(FunctionParser):
    """Productions of declarations."""

    def module(self) -> tuple[syntax.Declaration, ...]:
        """Parse `module = { declaration }`."""
        declarations: list[syntax.Declaration] = []
        while self.kinds[self.at] != END:
            first = self.at
            self.depth = 0
            try:
                declarations.append(self.declaration())
            except Failure:
                self.skip_to_declaration(first)
            except RecursionError:
                # Within MAX_DEPTH, but the caller's stack was deep already.
                self.report.add("E0107", "this is nested too deeply", self.span_at(first))
                self.skip_to_declaration(first)
        return tuple(declarations)

    def declaration(self) -> syntax.Declaration:
        """Parse the production below.

        `declaration = attributes ( import_declaration | prefix | typedef | extern | function | relation | index |
         application | rule | for_statement )`
        """
        attributes = self.attributes()
        first = self.at
        kind, word = self.kinds[first], self.words[first]
        if kind in {UPPER, "&"}:
            return replace(self.rule(), attributes=attributes) if attributes else self.rule()
        match kind:
            case "input" | "output" | "relation":
                return self.relation(attributes)
            case "typedef":
                return self.typedef(attributes)
            case "function":
                return self.function(attributes)
            case "extern":
                return self.extern(attributes)
            case "import":
                return self.import_declaration(attributes)
            case "for":
                return syntax.ImperativeRule(self.for_statement(), attributes, span=self.since(first))
            case _ if kind == END and attributes:
                return self._dangling(attributes)
            case _ if kind == LOWER and word in {"multiset", "stream"} and self.kinds[first + 1] in {UPPER, LOWER, "&"}:
                return self.relation(attributes)
            case _ if kind == LOWER and word == "prefix" and self.kinds[first + 1] == LOWER:
                return self.prefix(attributes)
            case _ if kind == LOWER and word == "index" and self.kinds[first + 1] in {LOWER, UPPER}:
                return self.index(attributes)
            case _ if kind == LOWER and word == "apply" and self.kinds[first + 1] in {LOWER, UPPER}:
                return self.application(attributes)
            case _ if kind == LOWER and word == "transformer" and self.kinds[first + 1] in {LOWER, UPPER}:
                return self._transformer()
            case _ if kind == LOWER and (self.kinds[first + 1] in {"(", "["} or self.scoped_relation(first)):
                return replace(self.rule(), attributes=attributes)
            case _:
                return self._unknown()

    def _dangling(self, attributes: syntax.Attributes) -> NoReturn:
        note = "attributes stand before the declaration they describe"
        self.fail("E0126", "this attribute belongs to nothing", attributes[-1].span, note=note)

    def _unknown(self) -> NoReturn:
        word = self.words[self.at]
        hint = did_you_mean(word, _WORDS) if self.kinds[self.at] == LOWER else ""
        if self.kinds[self.at] == "." and self.at and self.words[self.at - 1] != ".":
            hint = "only rules end with `.`"
        self.fail(
            "E0125",
            f"expected a declaration, found {self.found()}",
            self.span_at(self.at),
            note="declarations begin with `input`, `output`, `relation`, `typedef`, `function`, `extern`, `import`, "
            "`index` or `for`; rules with the name of a relation",
            hint=hint,
        )

    def _transformer(self) -> NoReturn:
        self.fail(
            "E0131",
            "a transformer is `extern`",
            self.span_at(self.at),
            note="a transformer is a function in Python, from the rows of a relation to those of others",
            hint="write `extern transformer ...`; what rules can say needs none",
        )

    def import_declaration(self, attributes: syntax.Attributes) -> syntax.Import:
        """Parse `import_declaration = "import" name { ( "::" | "." ) name } [ "as" name ]`."""
        first = self.at
        self.at += 1
        path = [self.name("module")]
        while self.kinds[self.at] in {"::", "."}:
            self.at += 1
            path.append(self.name("module"))
        alias = self.name("module") if self.accept("as") else None
        return syntax.Import(tuple(path), alias, attributes, span=self.since(first))

    # --- types -------------------------------------------------------------------------------------------------------

    def typedef(self, attributes: syntax.Attributes) -> syntax.TypeDef:
        """Parse `typedef = "typedef" name type_parameters "=" ( constructors | type_expression )`."""
        first = self.at
        self.at += 1
        name = self.name("type")
        parameters = self.type_parameters()
        self.expect("=", "a type is defined by `typedef T = ...`")
        body: syntax.TypeExpr | tuple[syntax.ConstructorDecl, ...]
        if self.kinds[self.at] == "{":
            self.expected("a type or constructor", hint=f"a struct has a constructor: `typedef {name} = {name}{{...}}`")
        body = self.constructors() if self._constructor_ahead() else self.type_expression()
        return syntax.TypeDef(name, parameters, body, attributes, span=self.since(first))

    def _constructor_ahead(self) -> bool:
        kinds, at = self.kinds, self.at
        return kinds[at] == "#" or (kinds[at] in {UPPER, LOWER} and kinds[at + 1] in {"{", "|"})

    def type_parameters(self) -> tuple[str, ...]:
        """Parse `type_parameters = [ "<" type_variable { "," type_variable } [ "," ] ">" ]`."""
        if self.kinds[self.at] != "<":
            return ()
        return self.bracketed(self.at, lambda: self.words[self.expect("type variable")][1:])

    def constructors(self) -> tuple[syntax.ConstructorDecl, ...]:
        """Parse `constructors = constructor { "|" constructor }`."""
        found = [self.constructor()]
        while self.accept("|"):
            found.append(self.constructor())
        return tuple(found)

    def constructor(self) -> syntax.ConstructorDecl:
        """Parse `constructor = attributes upper [ "{" fields "}" ]`."""
        first = self.at
        attributes = self.attributes()
        name = self.upper("constructor")
        fields = self.fields(self.at) if self.kinds[self.at] == "{" else ()
        return syntax.ConstructorDecl(name, fields, attributes, span=self.since(first))

    def fields(self, opener: int) -> tuple[syntax.FieldDecl, ...]:
        """Parse `fields = [ field_declaration { "," field_declaration } [ "," ] ]`."""
        return self.bracketed(opener, self.field_declaration)

    def field_declaration(self) -> syntax.FieldDecl:
        """Parse `field_declaration = attributes lower ":" type_expression`."""
        first = self.at
        attributes = self.attributes()
        name = self.lower("field")
        self.expect(":", "a field is declared by `name: type`")
        return syntax.FieldDecl(name, self.type_expression(), attributes, span=self.since(first))

    def columns(self, opener: int) -> tuple[syntax.FieldDecl, ...]:
        """Parse `columns = [ column { "," column } [ "," ] ]`."""
        return self.bracketed(opener, self.column)

    def column(self) -> syntax.FieldDecl:
        """Parse `column = attributes [ "min" | "max" ] lower ":" type_expression`."""
        first = self.at
        attributes = self.attributes()
        bound: Literal["min", "max"] | None = None
        if self.kinds[self.at] == LOWER and self.kinds[self.at + 1] == LOWER and self.words[self.at] in {"min", "max"}:
            bound = "min" if self.words[self.at] == "min" else "max"
            self.at += 1
        name = self.lower("field")
        self.expect(":", "a column is declared by `name: type`")
        return syntax.FieldDecl(name, self.type_expression(), attributes, bound, span=self.since(first))

    def extern(self, attributes: syntax.Attributes) -> syntax.Declaration:
        """Parse `extern = "extern" ( "type" name type_parameters | "function" signature | transformer )`."""
        first = self.at
        self.at += 1
        if self.accept("function"):
            return syntax.FunctionDef(*self.signature(), None, attributes, span=self.since(first))
        word = self.words[self.at]
        if word == "transformer":
            return self.transformer(attributes)
        if word != "type":
            self.expected("`function`, `type` or `transformer`")
        self.at += 1
        name = self.name("type")
        return syntax.TypeDef(name, self.type_parameters(), None, attributes, span=self.since(first))

    # --- relations ---------------------------------------------------------------------------------------------------

    def relation(self, attributes: syntax.Attributes) -> syntax.RelationDef:
        """Parse the production below.

        `relation = [ "input" | "output" ] ( "relation" | "multiset" | "stream" ) [ "&" ] upper ( "(" columns ")" |
         "[" type_expression "]" ) [ primary_key ]`
        """
        first = self.at
        role: syntax.Role = "internal"
        if self.kinds[first] in {"input", "output"}:
            role = "input" if self.kinds[first] == "input" else "output"
            self.at += 1
        word = self.words[self.at]
        if word not in _KINDS_OF_RELATION:
            self.expected("`relation`", hint=did_you_mean(word, _KINDS_OF_RELATION))
        self.at += 1
        reference = self.accept("&")
        name = self.upper("relation")
        opener = self.at
        fields: tuple[syntax.FieldDecl, ...] = ()
        element: syntax.TypeExpr | None = None
        if self.kinds[opener] == "[":
            self.at = opener + 1
            element = self.type_expression()
            self.close(opener, "`]`")
        else:
            self.expect("(", "a relation is declared by `relation R(field: type, ...)` or `relation R[type]`")
            fields = self.columns(opener)
        key = self.primary_key() if self.words[self.at] == "primary" and self.kinds[self.at + 1] == LOWER else None
        kind: Literal["relation", "multiset", "stream"]
        kind = "multiset" if word == "multiset" else "stream" if word == "stream" else "relation"
        return syntax.RelationDef(name, role, fields, element, key, reference, kind, attributes, span=self.since(first))

    def primary_key(self) -> syntax.PrimaryKey:
        """Parse `primary_key = "primary" "key" "(" lower ")" expression`."""
        first = self.at
        usage = "a primary key is declared by `primary key (x) x.field`"
        self.at += 1
        if self.words[self.at] != "key":
            self.expected("`key`", usage)
        self.at += 1
        opener = self.expect("(", usage)
        variable = self.lower("variable")
        self.close(opener, "`)`")
        return syntax.PrimaryKey(variable, self.expression(), span=self.since(first))

    def prefix(self, attributes: syntax.Attributes) -> syntax.Prefix:
        """Parse `prefix = "prefix" lower ":" iri_token`."""
        first = self.at
        usage = "a prefix is declared by `prefix name: <http://...>`"
        self.at += 1
        name = self.lower("prefix")
        self.expect(":", usage)
        iri = self.words[self.expect(IRI, usage)][1:-1]
        return syntax.Prefix(name, iri, attributes, span=self.since(first))

    def index(self, attributes: syntax.Attributes) -> syntax.IndexDef:
        """Parse `index = "index" name "(" fields ")" "on" atom`."""
        first = self.at
        usage = "an index is declared by `index I(x: T) on R(x, _)`"
        self.at += 1
        name = self.name("index")
        opener = self.expect("(", usage)
        parameters = self.fields(opener)
        if self.words[self.at] != "on":
            self.expected("`on`", usage)
        self.at += 1
        return syntax.IndexDef(name, parameters, self.atom(), attributes, span=self.since(first))
