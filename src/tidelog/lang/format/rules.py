"""Writing rules, in both forms: one clause a line if they do not fit on one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from tidelog.lang import syntax
from tidelog.lang.format.blocks import BlockFormatter
from tidelog.lang.format.expressions import UNARY, path
from tidelog.lang.format.layout import HARD, LINE, SOFT, Doc, bracketed, group, join, nest


class RuleFormatter(BlockFormatter):
    """Writes rules, atoms, clauses and statements."""

    def rule(self, rule: syntax.RuleDef) -> Doc:
        """Write `heads :- body.`, without attributes."""
        # Comments go into or behind the heads: before them, they could move the rule off the margin.
        heads = [self.head(head) for head in rule.heads]
        written = heads[0] if len(heads) == 1 else group(nest(join((",", LINE), heads)))
        if not rule.body:
            return (written, ".")
        body, commented = self.listed(rule.body, self.clause, ",", None)
        line = HARD if commented else LINE
        return group(written, " :-", nest(line, join(line, body)), ".")

    def head(self, head: syntax.Head) -> Doc:
        """Write an atom and where it is placed."""
        atom = self.atom(head.atom)
        return atom if head.location is None else (atom, " @ ", self.expression(head.location))

    def atom(self, atom: syntax.Atom) -> Doc:
        """Write `x in &R(...)` and its variants."""
        binding = "" if atom.binding is None else f"{atom.binding} in "
        version = (f"-{atom.delay}" if atom.delay else "") + ("'" if atom.differential else "")
        name = f"{binding}{'&' if atom.reference else ''}{path(atom.relation)}{version}"
        if atom.whole is not None:
            return (name, "[", self.element(atom.whole), "]")
        if atom.arguments is None:
            return name
        return (name, self.bracketed("(", atom.arguments, self.argument, ")", atom.span.end))

    def clause(self, clause: syntax.Clause) -> Doc:
        """Write a clause of a body."""
        match clause:
            case syntax.Positive(atom):
                return self.atom(atom)
            case syntax.Negative(atom):
                return ("not ", self.atom(atom))
            case syntax.Condition(expression):
                return self.expression(expression)
            case syntax.FlatMap(pattern, expression):
                inner = self.expression(expression)
                return group(self.expression(pattern, 1), " = FlatMap(", nest(SOFT, inner), SOFT, ")")
            case syntax.OldAggregate(pattern, keys, function, value):
                call = (path(function), "(", self.expression(value), ")")
                return (self.expression(pattern, 1), " = Aggregate(", self._keys(keys), ", ", call, ")")
            case syntax.Inspect(expression):
                return ("Inspect ", self.expression(expression))
            case syntax.Either(alternatives):
                place = self.place(clause)
                return self.disjunction(alternatives, place[1] - 1 if place else None)
            case _:
                assert_never(clause)

    def _keys(self, keys: syntax.Expr) -> Doc:
        """Write the keys of the older aggregate, which look better in parentheses even if there is one."""
        written = self.expression(keys)
        return written if isinstance(written, tuple) or str(written).startswith("(") else ("(", written, ")")

    def disjunction(self, alternatives: Sequence[Sequence[syntax.Clause]], end: int | None) -> Doc:
        """Write `(a, b; c)`."""
        written: list[Doc] = []
        broken = False
        for i, clauses in enumerate(alternatives):
            last = i == len(alternatives) - 1
            docs, commented = self.listed(clauses, self.clause, ",", end if last else None, final="" if last else ";")
            broken = broken or commented
            written.append(group(join(HARD if commented else LINE, docs)))
        return bracketed("(", written, ")", hard=broken)

    # --- statements --------------------------------------------------------------------------------------------------

    def statement(self, statement: syntax.Statement) -> Doc:
        """Write a statement of the imperative form."""
        match statement:
            case syntax.ForStatement():
                return (self.for_head(statement), self.inner(statement.body))
            case syntax.IfStatement(condition, then, otherwise):
                head = ("if (", self.expression(condition), ")")
                if otherwise is None:
                    return (*head, self.inner(then))
                # Without braces, the `else` would go to an `if` inside.
                then = syntax.BlockStatement((then,), span=then.span) if _accepts_else(then) else then
                line: Doc = " " if isinstance(then, syntax.BlockStatement) else HARD
                return (*head, self.inner(then), line, "else", self.inner(otherwise))
            case syntax.MatchStatement():
                return self.match_statement(statement)
            case syntax.VarStatement(target, value, body):
                bound = (self.expression(target, 1), " = ", self.right_side(value), " in")
                return (*bound, " " if isinstance(body, syntax.BlockStatement) else HARD, self.statement(body))
            case syntax.InsertStatement(atom):
                return self.atom(atom)
            case syntax.BlockStatement(items):
                return self.block_statement(items, statement)
            case syntax.SkipStatement():
                return "skip"
            case _:
                assert_never(statement)

    def for_head(self, statement: syntax.ForStatement) -> Doc:
        """Write `for (pattern in atom if condition)`."""
        pattern = statement.pattern
        bound: Doc = "" if isinstance(pattern, syntax.Wildcard) else (self.expression(pattern, UNARY), " in ")
        condition = statement.condition
        test: Doc = "" if condition is None else (" if ", self.expression(condition))
        return ("for (", bound, self.atom(statement.atom), test, ")")

    def inner(self, statement: syntax.Statement) -> Doc:
        """Write a statement inside another: a block behind it, anything else indented below."""
        if isinstance(statement, syntax.BlockStatement):
            return (" ", self.statement(statement))
        docs, _ = self.listed((statement,), self.statement, "", None)
        short = isinstance(statement, syntax.SkipStatement | syntax.InsertStatement)
        return group(nest(LINE, *docs)) if short else nest(HARD, *docs)

    def block_statement(self, items: Sequence[syntax.Statement], node: syntax.BlockStatement) -> Doc:
        """Write `{ s; s }`."""
        place = self.place(node)
        docs, _ = self.listed(items, self.statement, ";", place[1] - 1 if place else None, blanks=True)
        return ("{", nest(HARD, join(HARD, docs)), HARD, "}") if docs else "{}"

    def match_statement(self, statement: syntax.MatchStatement) -> Doc:
        """Write `match` with its alternatives."""
        subject = ("match (", self.expression(statement.subject), ") {")
        arms: list[Doc] = []
        for i, (pattern, inner) in enumerate(statement.arms):
            comma = "," if i < len(statement.arms) - 1 else ""
            written, _ = self.listed((pattern,), lambda e: self.expression(e, UNARY), "", None, final=" -> ")
            body, _ = self.listed((inner,), self.statement, "", None, final=comma)
            arms.append((*written, *body))
        return (*subject, nest(HARD, join(HARD, arms)), HARD, "}") if arms else (*subject, "}")


def _accepts_else(statement: syntax.Statement) -> bool:
    match statement:
        case syntax.IfStatement(_, _, None):
            return True
        case syntax.IfStatement(_, _, last) | syntax.ForStatement(_, _, _, last) | syntax.VarStatement(_, _, last):
            return last is not None and _accepts_else(last)
        case _:
            return False
