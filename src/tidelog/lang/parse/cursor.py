"""The place in the tokens where the parser stands, and how it complains.

The parser classes (`types` to `declarations`) are one chain of inheritance that starts here; each adds the
productions of one part of the grammar. A production that cannot go on reports why and raises `Failure`; productions
that are lists (declarations, clauses, blocks) catch it and go on behind the mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NoReturn, TypeVar

from tidelog.base.diagnostic import Label, Report
from tidelog.base.span import Span
from tidelog.lang.parse.lex import END, FLOAT, INT, IRI, KEYWORDS, LOWER, SIZED, STRING, TICK, UPPER, Tokens
from tidelog.lang.syntax import Comment, Path

Item = TypeVar("Item")

MAX_DEPTH: Final = 100
"""How deeply expressions, types and statements may nest; keeps every recursion over the tree within Python's limit."""

CLOSER: Final = {"(": ")", "[": "]", "{": "}", "<": ">"}
_OPENERS: Final = frozenset("([{")
_CLOSERS: Final = frozenset(")]}")
_DECLARATION_WORDS: Final = frozenset(("input", "output", "relation", "typedef", "function", "extern", "import"))
_CONTEXTUAL_WORDS: Final = frozenset(("index", "prefix", "multiset", "stream", "apply", "transformer"))


class Failure(Exception):  # noqa: N818 - control flow, never seen by users
    """The production cannot go on; why has been reported."""


class Cursor:
    """Walks over tokens; `at` is the index of the next one."""

    def __init__(self, tokens: Tokens, report: Report, end: str = "the end of the text") -> None:
        self.source = tokens.source
        self.tokens = tokens
        self.kinds = tokens.kinds
        self.words = tokens.words
        self.starts = tokens.starts
        self.ends = tokens.ends
        self.report = report
        self.end = end
        self.at = 0
        self.depth = 0
        self.comments: list[Comment] = tokens.comments

    # --- looking and moving ------------------------------------------------------------------------------------------

    def peek(self, ahead: int = 1) -> str:
        """Return the kind of a later token."""
        index = self.at + ahead
        return self.kinds[index] if index < len(self.kinds) else END

    def accept(self, kind: str) -> bool:
        """Step over a token of that kind, if it is next."""
        if self.kinds[self.at] == kind:
            self.at += 1
            return True
        return False

    def expect(self, kind: str, place: str = "") -> int:
        """Step over a token that must be there, and return its index."""
        at = self.at
        if self.kinds[at] != kind:
            self.expected(_NOUNS.get(kind, f"`{kind}`"), place)
        self.at = at + 1
        return at

    def close(self, opener: int, place: str = "") -> None:
        """Step over the bracket that closes the one at index `opener`."""
        closer = CLOSER[self.words[opener]]
        if self.kinds[self.at] == closer:
            self.at += 1
            return
        label = Label(self.span_at(opener), f"to close this `{self.words[opener]}`")
        if self.kinds[self.at] == END or self.begins_declaration(self.at):
            self.fail(
                "E0111",
                f"this `{self.words[opener]}` is never closed",
                self.span_at(opener),
                note=f"`{closer}` was expected before {self.found()}",
            )
        self.expected(place or f"`,` or `{closer}`", labels=(label,))

    def separated(self, closer: str, item: Callable[[], Item]) -> tuple[Item, ...]:
        """Parse `[ item { "," item } [ "," ] ]` up to the token that closes the list, and not that."""
        items: list[Item] = []
        while self.kinds[self.at] != closer:
            items.append(item())
            if not self.accept(","):
                break
        return tuple(items)

    def bracketed(self, opener: int, item: Callable[[], Item]) -> tuple[Item, ...]:
        """Parse a list in brackets, of which the first stands at index `opener`."""
        self.at = opener + 1
        items = self.separated(CLOSER[self.words[opener]], item)
        self.close(opener)
        return items

    def descend(self) -> None:
        """Go one level deeper; who does so takes it off `depth` again unless it fails."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.too_deep()

    def begins_line(self, index: int) -> bool:
        """Tell whether a token is the first of its line, at the margin."""
        start = self.starts[index]
        return start == 0 or self.source.text[start - 1] == "\n"

    def begins_declaration(self, index: int) -> bool:
        """Guess whether a declaration begins with this token; where mistakes end."""
        kind = self.kinds[index]
        if kind in _DECLARATION_WORDS:
            return self.kinds[index + 1] not in {"(", "["}
        if kind == LOWER and self.words[index] in _CONTEXTUAL_WORDS and self.kinds[index + 1] == LOWER:
            return self.begins_line(index)
        if kind == "&":
            return self.begins_line(index) and (self.kinds[index + 1] == UPPER or self.scoped_relation(index + 1))
        if kind == LOWER:
            return self.begins_line(index) and (self.kinds[index + 1] == UPPER or self.scoped_relation(index))
        return kind in {UPPER, "for", "#"} and self.begins_line(index)

    def scoped_relation(self, index: int) -> bool:
        """Tell whether a path like `a::R` begins at this token."""
        end = self.path_end(index) if self.kinds[index] != END else index
        return end > index + 1 and self.kinds[end - 1] == UPPER

    # --- spans -------------------------------------------------------------------------------------------------------

    def span_at(self, index: int) -> Span:
        """Return the span of one token; that of the end is the last character of the text."""
        if self.kinds[index] == END and index > 0:
            end = self.ends[index - 1]
            return Span(self.source, max(end - 1, 0), end)
        return Span(self.source, self.starts[index], self.ends[index])

    def since(self, first: int) -> Span:
        """Return the span from a token up to the last one that was stepped over."""
        return _span((self.source, self.starts[first], self.ends[self.at - 1]))

    def after_last(self) -> Span:
        """Return the place right behind the last token that was stepped over."""
        end = self.ends[self.at - 1]
        return Span(self.source, end, end + 1)

    # --- names -------------------------------------------------------------------------------------------------------

    def path_end(self, index: int) -> int:
        """Return the index behind the path `a::b::c` that begins at a name."""
        kinds = self.kinds
        index += 1
        while kinds[index] == "::" and kinds[index + 1] in {LOWER, UPPER}:
            index += 2
        return index

    def path(self) -> Path:
        """Parse `path = name { "::" name }`."""
        first = self.at
        self.at = self.path_end(first)
        if self.at == first + 1:
            return (self.words[first],)
        return tuple(self.words[first : self.at : 2])

    def lower(self, what: str) -> str:
        """Step over the name of a variable, field or function."""
        at = self.at
        kind = self.kinds[at]
        if kind == LOWER:
            self.at = at + 1
            return self.words[at]
        if kind == UPPER:
            word = self.words[at]
            self.at = at + 1
            self.report.add(
                "E0116",
                f"the name of a {what} begins with a small letter, unlike `{word}`",
                self.span_at(at),
                note="relations, constructors and type variables begin with a capital letter, everything else small",
                hint=f"call it `{word[0].lower() + word[1:]}`",
            )
            return word
        return self._no_name(what)

    def upper(self, what: str) -> str:
        """Step over the name of a relation, constructor or the like."""
        at = self.at
        kind = self.kinds[at]
        if kind == UPPER:
            self.at = at + 1
            return self.words[at]
        if kind == LOWER:
            self.at = at + 1
            self.small(what, at)
            return self.words[at]
        return self._no_name(what)

    def small(self, what: str, index: int) -> None:
        """Report a name that lacks its capital letter."""
        word = self.words[index].lstrip("_") or "R"
        self.report.add(
            "E0115",
            f"the name of a {what} begins with a capital letter, unlike `{self.words[index]}`",
            self.span_at(index),
            note="relations, constructors and type variables begin with a capital letter, everything else small",
            hint=f"call it `{word[0].upper() + word[1:]}`",
        )

    def name(self, what: str) -> str:
        """Parse `name = lower | upper`."""
        at = self.at
        if self.kinds[at] not in {LOWER, UPPER}:
            self._no_name(what)
        self.at = at + 1
        return self.words[at]

    def _no_name(self, what: str) -> NoReturn:
        word = self.kinds[self.at]
        if word in KEYWORDS and word != "_" and not (self.begins_declaration(self.at) and self.begins_line(self.at)):
            span = self.span_at(self.at)
            # Recovery must not take the word for the begin of a declaration.
            self.at += 1
            message = f"`{word}` is a keyword, and cannot be the name of a {what}"
            self.fail("E0117", message, span, hint=f"call it `{word.lower()}_`")
        self.expected(f"the name of a {what}")

    # --- complaints --------------------------------------------------------------------------------------------------

    def fail(
        self, code: str, message: str, span: Span, *, note: str = "", hint: str = "", labels: tuple[Label, ...] = ()
    ) -> NoReturn:
        """Report a mistake and give up the production."""
        if self.at - 1 not in self.tokens.unclosed:
            self.report.add(code, message, span, note=note, hint=hint, labels=labels)
        raise Failure

    def expected(self, what: str, note: str = "", *, hint: str = "", labels: tuple[Label, ...] = ()) -> NoReturn:
        """Report that something else was expected than what is next."""
        kind = self.kinds[self.at]
        hint = hint or _OPERATOR_HINTS.get(kind, "")
        if kind in {"-", "#"} and self.begins_line(self.at):
            hint = "comments begin with `//`"
        if (
            kind in {"&", "|"}
            and self.at
            and self.words[self.at - 1] == kind
            and self.ends[self.at - 1] == self.starts[self.at]
        ):
            hint = f"logical operators are written `{'and' if kind == '&' else 'or'}`"
        message = f"expected {what}, found {self.found()}"
        self.fail("E0110", message, self.span_at(self.at), note=note, hint=hint, labels=labels)

    def found(self) -> str:
        """Name the next token."""
        kind, word = self.kinds[self.at], self.words[self.at]
        if kind == END:
            return self.end
        if kind == STRING:
            return "a string"
        if kind in {LOWER, UPPER, INT, SIZED, FLOAT, TICK}:
            return f"`{word}`"
        return f"keyword `{word}`" if word in KEYWORDS and word != "_" else f"`{word}`"

    def too_deep(self) -> NoReturn:
        """Report nesting beyond `MAX_DEPTH`."""
        self.fail(
            "E0107",
            "this is nested too deeply",
            self.span_at(self.at),
            note=f"expressions, types and statements may nest {MAX_DEPTH} levels deep",
            hint="name the inner parts with `var`, or move them to a function",
        )

    # --- recovery ----------------------------------------------------------------------------------------------------

    def skip_to(self, first: int, stops: frozenset[str]) -> str:
        """After a mistake in the item that began at index `first`, go to the token that ends it, and return its kind.

        That is a token of `stops` outside of all brackets, the begin of a declaration, or the end. A bracket that is
        never closed does not hide the `;` of a block or the `.` of a rule, which cannot stand in parentheses.
        """
        mistake = self.at
        kinds = self.kinds
        index = first if kinds[mistake] != END else mistake
        open_brackets: list[str] = []
        while kinds[index] != END:
            kind = kinds[index]
            if index >= mistake:
                outside = not open_brackets or (kind == ";" and "}" in stops and "}" not in open_brackets)
                if kind in stops and (self.ends_rule(index) if kind == "." else outside):
                    break
                if index > first and self.begins_declaration(index):
                    break
            if kind in _OPENERS:
                open_brackets.append(CLOSER[kind])
            elif kind in open_brackets:
                while open_brackets.pop() != kind:
                    pass
            elif kind in _CLOSERS and kind in stops and index >= mistake:
                break
            index += 1
        self.at = index
        return kinds[index]

    def skip_to_declaration(self, first: int) -> None:
        """After a mistake in the declaration that began at index `first`, go to the next one."""
        kinds = self.kinds
        index = max(self.at, first + 1)
        if self.at > first and self.at and kinds[self.at - 1] == "." and self.ends_rule(self.at - 1):
            index = self.at
        else:
            while kinds[index] != END and not self.begins_declaration(index):
                index += 1
                if kinds[index - 1] == "." and self.ends_rule(index - 1) and index > self.at:
                    break
        self.at = index

    def ends_rule(self, index: int) -> bool:
        """Tell whether a `.` ends a rule: white space or a capital letter follows."""
        return self.starts[index + 1] > self.ends[index] or self.kinds[index + 1] in {UPPER, END}


_NOUNS: Final = {
    INT: "a number",
    STRING: "a string",
    TICK: "a type variable like `'A`",
    LOWER: "a name",
    IRI: "`<an IRI>`",
}
_OPERATOR_HINTS: Final = {
    "'": "type variables are written `'A`, sized numbers `8'hff`",
    "or": "alternatives of a body are written `(a; b)`",
    "and": "clauses of a body are separated by `,`",
}


def _span(fields: tuple[object, int, int]) -> Span:
    """Make a span in half the time that `Span(...)` takes, which matters: every node has one."""
    return tuple.__new__(Span, fields)
