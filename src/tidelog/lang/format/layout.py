"""Laying out text within a width: a small pretty printer, after Wadler and Oppen.

A document is a string, a tuple of documents one after the other, or one of the classes below. `render` puts each
`Group` on one line if it fits and otherwise breaks its own lines (not those of the groups in it); a `Fill` breaks only
those of its lines that must. A document that holds a hard line, or a suffix that ends its line, never fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from tidelog.base.record import record

INDENT: Final = 4
ENDLESS: Final = 1_000_000


@record
class Line:
    """A line break, or `flat` where the group around it is on one line. A hard one always breaks."""

    flat: str = " "
    hard: bool = False


@record
class Suffix:
    """A comment that goes to the end of the line it stands on; then the line ends."""

    text: str


@record
class Verbatim:
    """Text with line breaks of its own, which are not indented."""

    text: str


@record
class Nest:
    """Lines in it are indented one level deeper."""

    inner: Doc


@record
class Group:
    """All on one line, which takes `width` characters, or all its lines broken."""

    inner: Doc
    width: int


@record
class Fill:
    """Items with a line between each two, broken only where the next item does not fit."""

    items: tuple[Doc, ...]


@record
class Separator:
    """A line between the items of a `Fill`, which breaks if the following one does not fit."""

    following: Doc


Doc = str | tuple["Doc", ...] | Line | Suffix | Verbatim | Nest | Group | Fill | Separator

LINE: Final = Line()
SOFT: Final = Line("")
HARD: Final = Line(hard=True)
BLANK: Final[Doc] = (Line("", hard=True), HARD)
"""An empty line."""


def group(*docs: Doc) -> Group:
    """Make a group."""
    return Group(docs, measure(docs))


def nest(*docs: Doc) -> Nest:
    """Indent what follows on new lines."""
    return Nest(docs)


def measure(doc: Doc) -> int:
    """Return the width of a document on one line; at least `ENDLESS` if it cannot be on one line."""
    match doc:
        case str():
            return len(doc)
        case tuple():
            return sum(map(measure, doc))
        case Line(text, hard):
            return ENDLESS if hard else len(text)
        case Suffix() | Verbatim():
            return ENDLESS
        case Nest(inner):
            return measure(inner)
        case Group(_, width):
            return width
        case Fill(items):
            return sum(map(measure, items)) + len(items) - 1
        case Separator():
            return 1


def join(separator: Doc, docs: Iterable[Doc]) -> Doc:
    """Put a separator between documents."""
    result: list[Doc] = []
    for doc in docs:
        if result:
            result.append(separator)
        result.append(doc)
    return tuple(result)


def bracketed(opener: str, docs: Iterable[Doc], closer: str, *, hard: bool = False) -> Group:
    """Put brackets around documents, and each on a line of its own if they do not fit on one, or if `hard`."""
    line, soft = (HARD, HARD) if hard else (LINE, SOFT)
    return group(opener, nest(soft, join(line, docs)), soft, closer)


def flat(doc: Doc) -> str:
    """Write a document on one line, whatever its length."""
    out: list[str] = []
    stack: list[Doc] = [doc]
    while stack:
        match stack.pop():
            case str() as text:
                out.append(text)
            case tuple() as docs:
                stack += reversed(docs)
            case Line(text, _) | Suffix(text) | Verbatim(text):
                out.append(text)
            case Nest(inner) | Group(inner, _):
                stack.append(inner)
            case Fill(items):
                stack.append(join(" ", items))
            case Separator():
                out.append(" ")
    return "".join(out)


_Item = tuple[int, bool, Doc]


def render(doc: Doc, width: int) -> str:
    """Write a document, with lines no longer than `width` where its breaks allow it.

    >>> print(render(group("R(", nest(SOFT, "first,", LINE, "second"), SOFT, ")"), 12))
    R(
        first,
        second
    )
    """
    out: list[str] = []
    suffixes: list[str] = []
    column = 0
    stack: list[_Item] = [(0, True, doc)]
    while stack:
        indent, broken, item = stack.pop()
        match item:
            case str():
                if item:
                    out.append(item)
                    column += len(item)
            case tuple():
                stack.extend((indent, broken, part) for part in reversed(item))
            case Line(text, hard):
                if broken or hard:
                    _end_line(out, suffixes)
                    out.append("\n" + " " * indent)
                    column = indent
                else:
                    out.append(text)
                    column += len(text)
            case Suffix(text):
                suffixes.append(text)
            case Verbatim(text):
                out.append(text)
                column = len(text) - text.rfind("\n") - 1
            case Nest(inner):
                stack.append((indent + INDENT, broken, inner))
            case Group(inner, length):
                fits = not broken or (length <= width - column and _fits(width - column - length, stack))
                stack.append((indent, not fits, inner))
            case Fill(items):
                for i in range(len(items) - 1, -1, -1):
                    stack.append((indent, False, items[i]))
                    if i:
                        stack.append((indent, True, Separator(items[i])))
            case Separator(following):
                stack.append((indent, measure(following) > width - column - 1, LINE))
    _end_line(out, suffixes)
    return "".join(out)


def _end_line(out: list[str], suffixes: list[str]) -> None:
    """Write the comments that wait for the end of the line; one behind a `//` comment on a line of its own."""
    line = out[-1] if out else "\n"
    if not suffixes:
        if line.isspace():
            out[-1:] = [line.rstrip(" ")]
        return
    gap = "" if line.isspace() or line.endswith(" ") else " "
    indent = line if line.isspace() and line.startswith("\n") else "\n"
    for text in suffixes:
        out.append(gap + text)
        gap = indent if text.startswith("//") else " "
    suffixes.clear()


def _fits(room: int, rest: Sequence[_Item]) -> bool:
    """Tell whether what follows, up to the next possible line break, fits in the room left."""
    behind = len(rest)
    docs: list[tuple[bool, Doc]] = []
    while room >= 0:
        if not docs:
            if not behind:
                return True
            behind -= 1
            docs.append(rest[behind][1:])
        broken, item = docs.pop()
        match item:
            case str():
                room -= len(item)
            case tuple():
                docs.extend((broken, part) for part in reversed(item))
            case Line(text, hard):
                if broken or hard:
                    return True
                room -= len(text)
            case Verbatim(text):
                return room >= text.find("\n")
            case Nest(inner) | Group(inner, _):
                docs.append((broken, inner))
            case Fill(items):
                docs.append((broken, items[0]))
            case Separator():
                return True
            case Suffix():
                pass
    return False
