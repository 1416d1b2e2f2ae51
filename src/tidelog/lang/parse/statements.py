"""The imperative form of rules: `for (x in R(...)) statement`."""

from __future__ import annotations

from collections.abc import Callable

from tidelog.lang import syntax
from tidelog.lang.parse.lex import END, LOWER, UPPER
from tidelog.lang.parse.rules import RuleParser


class StatementParser(RuleParser):
    """Productions of statements."""

    def statement(self) -> syntax.Statement:
        """Parse the production below.

        `statement = for_statement | if_statement | match_statement | block_statement | "skip" | atom |
         var_statement`
        """
        self.descend()
        first = self.at
        found: syntax.Statement
        if self.kinds[first] in _STATEMENTS:
            found = _STATEMENTS[self.kinds[first]](self)
        elif self.accept("skip"):
            found = syntax.SkipStatement(span=self.since(first))
        elif self._insert_ahead():
            found = syntax.InsertStatement(self.atom(), span=self.since(first))
        else:
            found = self.var_statement()
        self.depth -= 1
        return found

    def _insert_ahead(self) -> bool:
        at = self.at
        reference = self.kinds[at] == "&"
        if reference:
            at += 1
        if self.kinds[at] not in {UPPER, LOWER}:
            return False
        end = self.path_end(at)
        following = self.kinds[end]
        return (
            self.kinds[end - 1] == UPPER
            and following not in {"{", "=", ":"}
            and (not reference or following in {"(", "["})
        )

    def for_statement(self) -> syntax.ForStatement:
        """Parse `for_statement = "for" "(" [ pattern "in" ] atom [ "if" expression ] ")" statement`."""
        first = self.at
        self.at = first + 1
        opener = self.expect("(", "a rule in imperative form is written `for (x in R(...)) statement`")
        pattern: syntax.Expr
        if self._atom_alone():
            pattern = syntax.Wildcard(span=self.span_at(opener))
        else:
            pattern = self.pattern()
            self.expect("in", "a rule in imperative form is written `for (x in R(...)) statement`")
        atom = self.atom()
        condition = self.expression() if self.accept("if") else None
        self.close(opener, "`if` or `)`")
        return syntax.ForStatement(pattern, atom, condition, self.statement(), span=self.since(first))

    def _atom_alone(self) -> bool:
        """Tell `for (R(x))` from `for (pattern in R(x))`."""
        at = self.at + (self.kinds[self.at] == "&")
        if self.kinds[at] not in {UPPER, LOWER} or self.kinds[at + 1] == "in":
            return False
        if self.atom_ahead(self.at):
            return True
        end = self.path_end(at)
        return self.kinds[end - 1] == UPPER and at == self.at and self.kinds[end] not in {"{", "in", ":"}

    def if_statement(self) -> syntax.IfStatement:
        """Parse `if_statement = "if" condition statement [ "else" statement ]`."""
        first = self.at
        self.at = first + 1
        condition = self.condition()
        then = self.statement()
        otherwise = self.statement() if self.accept("else") else None
        return syntax.IfStatement(condition, then, otherwise, span=self.since(first))

    def match_statement(self) -> syntax.MatchStatement:
        """Parse the production below.

        `match_statement = "match" "(" expression ")" "{" pattern "->" statement { "," pattern "->" statement } [
         "," ] "}"`
        """
        first = self.at
        subject = self.subject()
        return syntax.MatchStatement(subject, self.arms(self.statement, "statement"), span=self.since(first))

    def block_statement(self) -> syntax.BlockStatement:
        """Parse `block_statement = "{" [ statement { ";" statement } [ ";" ] ] "}"`."""
        opener = self.at
        self.at = opener + 1
        items: list[syntax.Statement] = []
        while self.kinds[self.at] not in {"}", END}:
            items.append(self.statement())
            if not self.accept(";"):
                break
        self.close(opener, "`;` or `}`")
        return syntax.BlockStatement(tuple(items), span=self.since(opener))

    def var_statement(self) -> syntax.VarStatement | syntax.IfStatement:
        """Parse the production below; without an equals sign, it is an `if`.

        `var_statement = binary [ "=" binary ] "in" statement`
        """
        first = self.at
        if self.kinds[first] in {")", "]", "}", ",", ";", "."}:
            self.expected(
                "a statement", "statements are `for`, `if`, `match`, `var x = e in s`, `R(x)`, `{ s; s }`, `skip`"
            )
        usage = "a variable is introduced by `var x = e in statement`"
        target = self.binary(0)
        if self.accept("in"):
            return syntax.IfStatement(target, self.statement(), None, span=self.since(first))
        self.expect("=", usage)
        value = self.binary(0)
        self.expect("in", usage)
        return syntax.VarStatement(target, value, self.statement(), span=self.since(first))


_STATEMENTS: dict[str, Callable[[StatementParser], syntax.Statement]] = {
    "for": StatementParser.for_statement,
    "if": StatementParser.if_statement,
    "match": StatementParser.match_statement,
    "{": StatementParser.block_statement,
}
