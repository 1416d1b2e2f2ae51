"""Rules: heads, atoms, and the clauses of bodies.

An atom begins with a relation's name and `(` or `[`, which no expression does, so one look ahead tells them apart.
A `(` begins a disjunction if clauses stand in it: a `;`, an atom, `FlatMap`; otherwise an expression.
"""

from __future__ import annotations

from typing import Final

from tidelog.base.diagnostic import Label
from tidelog.base.text.integers import read_integer
from tidelog.lang import syntax
from tidelog.lang.parse.blocks import BlockParser
from tidelog.lang.parse.cursor import Failure
from tidelog.lang.parse.lex import END, INT, LOWER, UPPER

_NOT_AN_ARROW: Final = frozenset(("<", "<=", "->", "=>", "=", ":", "if"))
_CLAUSE_ENDS: Final = frozenset((",", ";", "."))
_GROUP_ENDS: Final = frozenset((",", ";", ")", "."))
_COLLECTIVE: Final = frozenset(("FlatMap", "Aggregate", "Inspect"))


class RuleParser(BlockParser):
    """Productions of rules."""

    def rule(self) -> syntax.RuleDef:
        """Parse `rule = head { "," head } [ "," ] [ ":-" body ] "."`."""
        first = self.at
        heads = [self.head()]
        while self.accept(","):
            if self.kinds[self.at] in {":-", "."}:
                break
            heads.append(self.head())
        body: list[syntax.Clause] = []
        if self.kinds[self.at] == ":-" or self._wrong_arrow():
            self.at += 1
            body = self.body(first)
        else:
            self._final_dot(first, "`:-`, `,` or `.`")
        return syntax.RuleDef(tuple(heads), tuple(body), (), span=self.since(first))

    def _wrong_arrow(self) -> bool:
        """Report `<-` and its like, and stop at its last token."""
        at = self.at
        if self.kinds[at] not in _NOT_AN_ARROW or self.begins_declaration(at):
            return False
        if self.kinds[at + 1] in {"-", "="} and self.starts[at + 1] == self.ends[at]:
            self.at += 1
        self.report.add(
            "E0113",
            "the body of a rule begins with `:-`",
            self.span_at(at).to(self.span_at(self.at)),
            note="a rule is written `Head(x) :- Body(x).`, a fact `Head(1).`",
        )
        return True

    def head(self) -> syntax.Head:
        """Parse `head = atom [ "@" expression ]`."""
        first = self.at
        if self.kinds[first] == LOWER and self.path_end(first) == first + 1 and self.kinds[first + 1] in {"(", "["}:
            self.small("relation", first)
            self.kinds[first] = UPPER
        elif self.kinds[first] not in {UPPER, LOWER, "&"}:
            self.expected("a relation", "the head of a rule is an atom like `R(x, y)`")
        atom = self.atom()
        location = self.expression() if self.accept("@") else None
        return syntax.Head(atom, location, span=self.since(first))

    def body(self, rule: int) -> list[syntax.Clause]:
        """Parse `body = clause { "," clause } [ "," ]`."""
        clauses: list[syntax.Clause] = []
        failed = False
        while True:
            first = self.at
            depth = self.depth
            try:
                self.clause(clauses)
                if self.kinds[self.at] not in _CLAUSE_ENDS:
                    self._final_dot(rule, "`,` or `.`")
                    break
            except Failure:
                failed = True
                self.depth = depth
                if self.skip_to(first, _CLAUSE_ENDS) not in _CLAUSE_ENDS:
                    break
            if self.kinds[self.at] == ";":
                self._semicolon_clause()
            self.at += 1
            if self.kinds[self.at - 1] == "." or self.accept("."):
                break
        if failed:
            raise Failure
        return clauses

    def goal(self) -> tuple[syntax.Clause, ...]:
        """Parse `goal = clause { "," clause } [ "," ] [ "." ]`."""
        clauses: list[syntax.Clause] = []
        while not clauses or (self.accept(",") and self.kinds[self.at] not in {".", END}):
            self.clause(clauses)
        if not self.accept(".") and self.kinds[self.at] != END:
            hints = {";": "alternatives stand in parentheses: `(a, b; c)`", "?": "only in the shell a goal ends in `?`"}
            hint = hints.get(self.kinds[self.at], "")
            self.expected("`,` or the end of the goal", "a goal is written like the body of a rule", hint=hint)
        return tuple(clauses)

    def _semicolon_clause(self) -> None:
        self.report.add(
            "E0114",
            "`;` cannot separate clauses here",
            self.span_at(self.at),
            note="`,` means and; alternatives stand in parentheses: `(a, b; c)`",
        )

    def _final_dot(self, rule: int, what: str) -> None:
        """Step over the `.` that ends a rule; if only that is missing, report and go on."""
        if self.accept("."):
            return
        if self.kinds[self.at] != END and not self.begins_declaration(self.at):
            self.expected(what)
        if self.at - 1 in self.tokens.unclosed:
            raise Failure
        self.report.add(
            "E0112",
            "expected `.` at the end of the rule",
            self.after_last(),
            labels=(Label(self.span_at(rule), "the rule begins here"),),
        )

    # --- clauses -----------------------------------------------------------------------------------------------------

    def clause(self, clauses: list[syntax.Clause]) -> None:
        """Parse `clause = [ "not" ] atom | disjunction | inspection | expression_clause`."""
        first = self.at
        kind = self.kinds[first]
        if self.atom_ahead(first):
            negative = self.accept("not")
            atom = self.atom()
            clauses.append((syntax.Negative if negative else syntax.Positive)(atom, span=self.since(first)))
        elif kind == "(" and self.clauses_ahead(first):
            self.disjunction(clauses)
        elif kind == "Inspect":
            clauses.append(self.inspection())
        else:
            clauses.append(self.expression_clause())

    def expression_clause(self) -> syntax.Clause:
        """Parse `expression_clause = binary [ "=" ( "FlatMap" "(" expression ")" | aggregate | binary ) ]`."""
        first = self.at
        found = self.binary(0)
        if not self.accept("="):
            return syntax.Condition(found, span=self.since(first))
        if self.kinds[self.at] == "FlatMap":
            self.at += 1
            opener = self.expect("(", "a flat map is written `var x = FlatMap(collection)`")
            collection = self.expression()
            self.close(opener, "`)`")
            return syntax.FlatMap(found, collection, span=self.since(first))
        if self.kinds[self.at] == "Aggregate":
            return self.aggregate(found, first)
        assigned = syntax.Assign(found, self.binary(0), span=self.since(first))
        return syntax.Condition(assigned, span=assigned.span)

    def aggregate(self, pattern: syntax.Expr, first: int) -> syntax.OldAggregate:
        """Parse `aggregate = "Aggregate" "(" expression "," path "(" expression ")" ")"`."""
        usage = "the older form of grouping is written `var n = Aggregate((key), function(value))`"
        self.at += 1
        opener = self.expect("(", usage)
        keys = self.expression()
        self.expect(",", usage)
        if self.kinds[self.at] not in {LOWER, UPPER}:
            self.expected("the name of a function", usage)
        function = self.path()
        inner = self.expect("(", usage)
        value = self.expression()
        self.close(inner, "`)`")
        self.close(opener, "`)`")
        return syntax.OldAggregate(pattern, keys, function, value, span=self.since(first))

    def disjunction(self, clauses: list[syntax.Clause]) -> None:
        """Parse `disjunction = "(" clause { ( "," | ";" ) clause } ")"`."""
        opener = self.at
        self.descend()
        alternatives: list[list[syntax.Clause]] = [[]]
        failed = False
        self.at = opener + 1
        while True:
            first = self.at
            depth = self.depth
            try:
                self.clause(alternatives[-1])
            except Failure:
                failed = True
                self.depth = depth
                self.skip_to(first, _GROUP_ENDS)
            if self.kinds[self.at] == ";":
                alternatives.append([])
            elif self.kinds[self.at] != ",":
                break
            self.at += 1
        self.depth -= 1
        self.close(opener, "`,`, `;` or `)`")
        if failed:
            raise Failure
        if len(alternatives) == 1:
            clauses += alternatives[0]
        else:
            clauses.append(syntax.Either(tuple(map(tuple, alternatives)), span=self.since(opener)))

    def inspection(self) -> syntax.Inspect:
        """Parse `inspection = "Inspect" expression`."""
        first = self.at
        self.at += 1
        return syntax.Inspect(self.expression(), span=self.since(first))

    def atom_ahead(self, index: int) -> bool:
        """Tell whether an atom begins at this token, `not` included."""
        kinds = self.kinds
        if kinds[index] == "not":
            index += 1
        if kinds[index] == LOWER and kinds[index + 1] == "in":
            return True
        if kinds[index] == "&":
            index += 1
        if kinds[index] not in {UPPER, LOWER}:
            return False
        end = self.path_end(index)
        if kinds[end - 1] != UPPER:
            return False
        if kinds[end] == "-" and kinds[end + 1] == INT:
            end += 2
        if kinds[end] == "'":
            end += 1
        return kinds[end] in {"(", "["}

    def clauses_ahead(self, opener: int) -> bool:
        """Tell whether the parenthesis at this index holds clauses rather than an expression."""
        kinds = self.kinds
        level, index = 1, opener + 1
        begins = True
        while level and kinds[index] != END:
            kind = kinds[index]
            if level == 1:
                if kind == ";" or kind in _COLLECTIVE or (begins and self.atom_ahead(index)):
                    return True
                if begins and kind == "(" and self.clauses_ahead(index):
                    return True
                begins = kind == ","
            if kind in {"(", "[", "{"}:
                level += 1
            elif kind in {")", "]", "}"}:
                level -= 1
            index += 1
        return False

    # --- atoms -------------------------------------------------------------------------------------------------------

    def atom(self) -> syntax.Atom:
        """Parse the production below.

        `atom = [ lower "in" ] [ "&" ] path [ "-" decimal ] [ "'" ] [ "(" named_arguments ")" | "[" expression "]" ]`
        """
        first = self.at
        kinds = self.kinds
        binding = None
        if kinds[first] == LOWER and kinds[first + 1] == "in":
            binding = self.words[first]
            self.at = first + 2
        reference = self.accept("&")
        if binding is not None and kinds[self.at] not in {UPPER, LOWER}:
            self.expected("a relation", "`x in R(...)` binds x to a row", hint="test a collection with `v.contains(x)`")
        if kinds[self.at] == UPPER or (kinds[self.at] == LOWER and kinds[self.at + 1] == "::"):
            path = self.path()
        else:
            path = (self.upper("relation"),)
        delay = 0
        if kinds[self.at] == "-" and kinds[self.at + 1] == INT:
            delay = read_integer(self.words[self.at + 1].replace("_", ""))
            self.at += 2
        differential = self.accept("'")
        opener = self.at
        arguments: tuple[syntax.Argument, ...] | None = None
        whole: syntax.Expr | None = None
        if kinds[opener] == "(":
            arguments = self.named_arguments(opener)
        elif kinds[opener] == "[":
            self.at = opener + 1
            whole = self.expression()
            self.close(opener, "`]`")
        return syntax.Atom(path, arguments, whole, binding, reference, delay, differential, span=self.since(first))
