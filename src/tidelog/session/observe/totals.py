"""The work of many commits, added up by the relations that are computed together, as text and as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape

from tidelog.base.process.meter import memory_in_use
from tidelog.session.changes import Commit

COLUMNS = ("relations", "commits", "ms", "derivations", "rounds", "+ rows", "- rows", "rows now")
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Profile</title>
<style>
body {{ font: 14px sans-serif }}
table {{ border-collapse: collapse }}
td, th {{ border-bottom: 1px solid #ccc; padding: 2px 8px; text-align: right }}
td:first-child, th:first-child {{ text-align: left }}
</style></head>
<body><p>{heading}</p>
<table>
{rows}
</table></body>
</html>
"""


@dataclass(slots=True)
class Total:
    """What it took to keep some relations true, which depend on each other, and how much they changed."""

    commits: int = 0
    seconds: float = 0.0
    derivations: int = 0
    rounds: int = 0
    inserted: int = 0
    deleted: int = 0


@dataclass(slots=True)
class Totals:
    """Adds commits up.

    >>> import tidelog
    >>> db, totals = tidelog.Database("input relation A(x: u8)  output relation B(x: u8)  B(x) :- A(x)."), Totals()
    >>> for x in (1, 2):
    ...     with db.transaction() as tx:
    ...         tx.insert("A", [(x,)])
    ...     totals.add(tx.result)
    >>> (total,) = [total for relations, total in totals.by_relations.items() if relations == ("B",)]
    >>> total.commits, total.inserted
    (2, 2)
    """

    commits: int = 0
    seconds: float = 0.0
    by_relations: dict[tuple[str, ...], Total] = field(default_factory=dict)

    def add(self, commit: Commit) -> None:
        """Add the work and the changes of a commit."""
        self.commits += 1
        self.seconds += commit.duration
        sizes = {name: change.sizes for name, change in commit.changes.items()}
        for work in commit.profile:
            total = self.by_relations.setdefault(work.relations, Total())
            total.commits += 1
            total.seconds += work.seconds
            total.derivations += work.derivations
            total.rounds += work.rounds
            for name in work.relations:
                inserted, deleted = sizes.get(name, (0, 0))
                total.inserted += inserted
                total.deleted += deleted

    def _heading(self) -> str:
        memory = memory_in_use()
        taken = f", {memory >> 20} MB in use" if memory else ""
        return f"{self.commits} commit{'s' * (self.commits != 1)} in {self.seconds * 1000:.3f} ms{taken}"

    def _lines(self, counts: Counter[str]) -> Iterable[tuple[str, ...]]:
        most = sorted(self.by_relations.items(), key=lambda item: (-item[1].seconds, item[0]))
        for relations, t in most:
            numbers = (t.commits, f"{t.seconds * 1000:.3f}", t.derivations, t.rounds, t.inserted, t.deleted)
            now = sum(counts[name] for name in relations)
            yield (", ".join(relations), *map(str, numbers), str(now))

    def text(self, counts: Counter[str]) -> str:
        """Return a table, what took longest first; `counts` has the number of rows of each relation now."""
        lines = [COLUMNS, *self._lines(counts)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        shown = []
        for first, *rest in lines:
            cells = [cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]
            shown.append("  ".join([first.ljust(widths[0]), *cells]))
        return "\n".join([self._heading(), *shown])

    def page(self, counts: Counter[str]) -> str:
        """Return the table as a page of HTML."""
        cells = ["".join(f"<th>{escape(column)}</th>" for column in COLUMNS)]
        cells += ["".join(f"<td>{escape(cell)}</td>" for cell in line) for line in self._lines(counts)]
        return PAGE.format(heading=self._heading(), rows="\n".join(f"<tr>{line}</tr>" for line in cells))
