"""Where comments go when a tree is written: before, behind or between the items of lists, as in the source.

The tree does not hold comments; they are a queue in order of position, and every list of the grammar (declarations,
clauses, arguments, expressions of a block, ...) takes from it what stands before, inside and right behind its items. A
comment at any other place moves before the item it stands in. None is lost: the module writes the rest of the queue.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from tidelog.base.record import record
from tidelog.base.span import Source, Span
from tidelog.lang.format.layout import ENDLESS, HARD, Doc, Line, Suffix, Verbatim, measure
from tidelog.lang.syntax import Comment, Expr


class Spanned(Protocol):
    """A node of the tree."""

    @property
    def span(self) -> Span:
        """Where it stands."""


Node = TypeVar("Node", bound=Spanned)
_SEPARATORS = frozenset(" \t\r,;.")


@record
class Pair:
    """Two expressions of a list that go together: a pattern and its value, a key and its value."""

    first: Expr
    second: Expr

    @property
    def span(self) -> Span:
        """Where they stand."""
        return self.first.span.to(self.second.span)


class CommentFormatter:
    """Gives out the comments of a source, each once, in order."""

    def __init__(self, source: Source | None = None, comments: Iterable[Comment] = ()) -> None:
        self.source = source
        self.text = source.text if source else ""
        self.comments = list(comments)
        self.given = 0

    def place(self, node: Spanned) -> tuple[int, int] | None:
        """Return where a node begins and ends, if it comes from the source that is formatted."""
        span = node.span
        return (span.start, span.end) if self.source is not None and span.source is self.source else None

    def take(self, end: int) -> list[Comment]:
        """Take the comments that begin before a place."""
        first = self.given
        while self.given < len(self.comments) and self.comments[self.given].span.start < end:
            self.given += 1
        return self.comments[first : self.given]

    def take_behind(self, end: int) -> list[Comment]:
        """Take the comments that stand behind an item, in its line, and belong to it rather than to the next item."""
        taken: list[Comment] = []
        while self.given < len(self.comments):
            comment = self.comments[self.given]
            between = self.text[end : comment.span.start]
            if not set(between) <= _SEPARATORS:
                break
            if "," in between and not self.ends_line(comment):
                break
            taken.append(comment)
            self.given += 1
            end = comment.span.end
        return taken

    def ends_line(self, comment: Comment) -> bool:
        """Tell whether nothing but comments stands behind a comment in its line."""
        rest = self.text[comment.span.end : self._line_end(comment.span.end)]
        return comment.text.startswith("//") or not rest.strip() or rest.lstrip().startswith(("//", "/*"))

    def _line_end(self, start: int) -> int:
        end = self.text.find("\n", start)
        return end if end >= 0 else len(self.text)

    # --- comments as documents ---------------------------------------------------------------------------------------

    def leading(self, comments: Sequence[Comment]) -> Doc:
        """Write comments before an item: on lines of their own, or in its line if they were."""
        docs: list[Doc] = []
        for comment in comments:
            docs += [written(comment), HARD if self.ends_line(comment) else " "]
        return tuple(docs)

    def trailing(self, comments: Sequence[Comment]) -> tuple[Doc, Doc]:
        """Write comments behind an item: those that go before its separator, and those that end the line."""
        inner: list[Doc] = []
        outer: list[Doc] = []
        for comment in comments:
            if self.ends_line(comment) and "\n" not in comment.text:
                outer.append(Suffix(comment.text))
            else:
                inner += [" ", written(comment)]
        return tuple(inner), tuple(outer)

    def listed(
        self,
        nodes: Sequence[Node],
        write: Callable[[Node], Doc],
        separator: str,
        end: int | None,
        *,
        final: str = "",
        blanks: bool = False,
    ) -> tuple[list[Doc], bool]:
        """Write the items of a list with separators and comments; tell whether comments keep it from one line.

        `end` is where the list ends, so that comments before its closing bracket stay there. `final` goes behind the
        last item. With `blanks`, an empty line of the source between two items is kept.
        """
        if self.given == len(self.comments) and not blanks:
            plain: list[Doc] = [(write(node), separator) for node in nodes[:-1]]
            return [*plain, *((write(node), final) for node in nodes[-1:])], False
        docs: list[Doc] = []
        given = self.given
        for i, node in enumerate(nodes):
            place = self.place(node)
            before = self.take(place[0]) if place else []
            first = before[0].span.start if before else place[0] if place else 0
            doc = write(node)
            behind: list[Comment] = []
            rest: list[Comment] = []
            last = i == len(nodes) - 1
            if place:
                before = before + self.take(place[1])
                behind = self.take_behind(place[1])
                rest = self.take(end) if last and end is not None else []
            inner, outer = self.trailing(behind)
            blank: Doc = Line("", hard=True) if blanks and i and place and self.empty_line_before(first) else ""
            after = tuple((HARD, written(comment)) for comment in rest)
            docs.append((blank, self.leading(before), doc, inner, final if last else separator, outer, after))
        if not nodes and end is not None:
            docs += [written(comment) for comment in self.take(end)]
        return docs, self.given > given and measure(tuple(docs)) >= ENDLESS

    def empty_line_before(self, start: int) -> bool:
        """Tell whether an empty line stands right before the line of a place."""
        line = self.text.rfind("\n", 0, start)
        before = self.text.rfind("\n", 0, max(line, 0))
        return line >= 0 and not self.text[line:start].strip() and not self.text[before + 1 : line].strip()

    def broken_behind(self, start: int) -> bool:
        """Tell whether the line ends at a place, as behind the brace of a block that the author broke."""
        return not self.text[start : self._line_end(start)].strip()


def written(comment: Comment) -> Doc:
    """Write a comment."""
    if "\n" in comment.text:
        return Verbatim(comment.text)
    return Suffix(comment.text) if comment.text.startswith("//") else comment.text
