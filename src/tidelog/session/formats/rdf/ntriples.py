"""N-Triples and N-Quads, line by line: the definition of what a file means, which tells each mistake with its line.

Labels of blank nodes are kept, so files that are read into one database share them.
"""

from __future__ import annotations

import re
from pathlib import Path

from tidelog.base.arguments import brief
from tidelog.base.errors import DataError
from tidelog.base.text.terms import TERM_TEXT, term_of
from tidelog.session.formats.delimited import DAMAGED, open_text
from tidelog.session.formats.mistakes import Mistakes
from tidelog.session.formats.rdf.graph import QUAD, TRIPLE, Gathering, Graph

_BLANKS = re.compile(r"[ \t]*")
_END = re.compile(r"[ \t]*\.[ \t]*(?:#.*)?")
_NOTHING = re.compile(r"[ \t]*(?:#.*)?")
_LINE_END = re.compile(r"[\r\n]+")
IRI, LABEL, TEXT = 1, 2, 3


def read_lines(path: Path, *, quads: bool) -> Graph:
    """Return what a file holds, or raise `DataError` with its mistakes."""
    try:
        with open_text(path) as file:
            text = file.read()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except DAMAGED as error:
        raise DataError(f"{path}: {error}") from None
    return read_text(text, path, quads=quads)


def read_text(text: str, path: Path, *, quads: bool) -> Graph:
    """Return what a text holds; `path` is what mistakes name."""
    mistakes, made = Mistakes(path), Gathering()
    number = 1
    start = 0
    for end in (*_LINE_END.finditer(text), None):
        line = text[start : end.start() if end else len(text)]
        if not _NOTHING.fullmatch(line):
            try:
                made.add(_read_line(line, made, quads=quads))
            except ValueError as error:
                mistakes.add(number, str(error))
        if end:
            number += end[0].count("\n") or end[0].count("\r")
            start = end.end()
    mistakes.raise_if_any()
    return made.graph()


def _read_line(line: str, made: Gathering, *, quads: bool) -> list[int]:
    row: list[int] = []
    at = 0
    while True:
        begin = _BLANKS.match(line, at)
        assert begin is not None, "it matches nothing, too"
        found = TERM_TEXT.match(line, begin.end())
        if found is None:
            break
        kind = found.lastindex if found.lastindex in {IRI, LABEL} else TEXT
        allowed = {0: (IRI, LABEL), 1: (IRI,), 2: (IRI, LABEL, TEXT), TRIPLE: (IRI, LABEL)}
        if len(row) == (QUAD if quads else TRIPLE) or kind not in allowed[len(row)]:
            break
        known = made.numbers.get(found[0])
        row.append(made.number(found[0], term_of(found)) if known is None else known)
        at = found.end()
    if len(row) < TRIPLE or not _END.fullmatch(line, at):
        wanted = ("a subject", "a predicate (an IRI)", "an object", "a graph or `.`" if quads else "`.`", "`.`")
        raise ValueError(f"expected {wanted[len(row)]}, found {brief(line[at:].strip() or 'the end of the line')}")
    return [*row, *[-1] * (QUAD - len(row))]
