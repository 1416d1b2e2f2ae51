"""Types."""

from __future__ import annotations

from tidelog.base.text.integers import read_integer
from tidelog.lang.parse.cursor import Cursor
from tidelog.lang.parse.lex import INT, LOWER, TICK, UPPER
from tidelog.lang.syntax import FunctionType, SizedType, TickName, TupleType, TypeExpr, TypeName


class TypeParser(Cursor):
    """Productions of types."""

    def type_expression(self) -> TypeExpr:
        """Parse `type_expression = type_name | sized_type | tuple_type | function_type | type_variable`."""
        first = self.at
        kind = self.kinds[first]
        if kind in {LOWER, UPPER}:
            if self.words[first] in {"bit", "signed"} and self.kinds[first + 1] == "<":
                return self.sized_type()
            return self.type_name()
        if kind == TICK:
            self.at = first + 1
            return TickName(self.words[first][1:], span=self.since(first))
        self.descend()
        if kind == "(":
            found = self.tuple_type()
        elif kind in {"function", "|"}:
            found = self.function_type()
        else:
            self.expected("a type", hint="type variables begin with a tick: `'A`" if kind == "'" else "")
        self.depth -= 1
        return found

    def type_name(self) -> TypeName:
        """Parse `type_name = path [ "<" type_expression { "," type_expression } [ "," ] ">" ]`."""
        first = self.at
        path = self.path()
        opener = self.at
        if self.kinds[opener] != "<":
            return TypeName(path, (), span=self.since(first))
        self.descend()
        arguments = self.bracketed(opener, self.type_expression)
        self.depth -= 1
        return TypeName(path, arguments, span=self.since(first))

    def sized_type(self) -> SizedType:
        """Parse `sized_type = ( "bit" | "signed" ) "<" decimal ">"`."""
        first = self.at
        self.at += 2
        if self.kinds[self.at] != INT:
            self.expected("the number of bits", "sized integers are written `bit<32>` and `signed<32>`")
        width = read_integer(self.words[self.at].replace("_", ""))
        self.at += 1
        self.close(first + 1, "`>`")
        return SizedType("bit" if self.words[first] == "bit" else "signed", width, span=self.since(first))

    def tuple_type(self) -> TypeExpr:
        """Parse `tuple_type = "(" [ type_expression { "," type_expression } [ "," ] ] ")"`."""
        first = self.at
        items = self.bracketed(first, self.type_expression)
        return items[0] if len(items) == 1 else TupleType(items, span=self.since(first))

    def function_type(self) -> FunctionType:
        """Parse `function_type = ( "function" "(" modes ")" | "|" modes "|" ) [ ":" type_expression ]`."""
        first = self.at
        bars = self.kinds[first] == "|"
        self.at += 1
        opener = first if bars else self.expect("(", "a function type is written `function(A, B): C` or `|A, B|: C`")
        modes = self.modes("|" if bars else ")")
        if bars:
            self.expect("|")
        else:
            self.close(opener)
        result = self.type_expression() if self.accept(":") else None
        return FunctionType(modes, result, span=self.since(first))

    def modes(self, closer: str) -> tuple[tuple[bool, TypeExpr], ...]:
        """Parse `modes = [ [ "mut" ] type_expression { "," [ "mut" ] type_expression } [ "," ] ]`."""
        return self.separated(closer, lambda: (self.accept("mut"), self.type_expression()))
