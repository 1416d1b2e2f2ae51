"""Rows as a table of text, in full: numbers to the right, everything else to the left."""

from __future__ import annotations

from collections.abc import Sequence

from tidelog.session.frames.tabular import Tabular, is_number
from tidelog.session.queries.answers import Answers
from tidelog.session.relation import RelationView
from tidelog.shell.terminal import escape_line


def relation_table(view: RelationView) -> str:
    """Return a relation's name and number of rows, and its table."""
    count = len(view)
    return f"{view.name}: {_number(count)}\n{_table(view)}"


def answers_table(answers: Answers, count: int) -> str:
    """Return how many answers of a goal these are, and their table; of a goal without variables whether it holds."""
    if not answers.columns:
        return f"{'true' if count else 'false'}\n"
    few = f"{len(answers):,} of " if len(answers) < count else ""
    return f"{few}{_number(count)}\n{_table(answers)}"


def _number(count: int) -> str:
    return f"{count} row{'' if count == 1 else 's'}"


def _table(rows: Tabular) -> str:
    names = list(rows.columns)
    cells = [[escape_line(cell) for cell in row] for row in rows.cells()] if names else []
    if not cells:
        return ""
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    right = [is_number(column.type) for column in rows.fields]
    lines = [names, ["-" * width for width in widths], *cells]
    return "".join(f"{_line(line, widths, right)}\n" for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True))
    return "  ".join(padded).rstrip()
