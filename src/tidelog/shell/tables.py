"""A relation as a table of text, in full: numbers to the right, everything else to the left."""

from __future__ import annotations

from collections.abc import Sequence

from tidelog.session.relation import RelationView
from tidelog.shell.terminal import escape_line


def table(view: RelationView, cells: Sequence[Sequence[str]]) -> str:
    """Return a heading with the number of rows, the columns' names, and the rows."""
    count = len(cells)
    heading = f"{view.name}: {count} row{'' if count == 1 else 's'}"
    names = list(view.columns)
    if not names or not cells:
        return f"{heading}\n"
    shown = [[escape_line(cell) for cell in row] for row in cells]
    widths = [max(map(len, column)) for column in zip(names, *shown, strict=True)]
    right = [type.startswith(("bit<", "signed<", "bigint", "float", "double")) for type in view.columns.values()]
    lines = [names, ["-" * width for width in widths], *shown]
    return "\n".join([heading, *(_line(line, widths, right) for line in lines), ""])


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(cells, widths, right, strict=True))
    return "  ".join(padded).rstrip()
