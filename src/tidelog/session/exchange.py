"""Facts into a database and results out of it: folders of files, cells of tables, JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidelog.base.arguments import expect
from tidelog.base.text.write import show_cell
from tidelog.session.database import Database, plan_of
from tidelog.session.formats.remarks import Header
from tidelog.session.frames.plain import Plain
from tidelog.session.frames.plain_write import finite
from tidelog.session.relation import RelationView

if TYPE_CHECKING:
    from tidelog.session.formats.files import Facts


def load_facts(database: Database, folder: str | Path, *, header: Header = "auto") -> Facts:
    """Insert the facts of a folder's files in one transaction, and return them with remarks.

    `session.formats.files` says which file belongs to which relation; a mistake in any of them is a `DataError`, and
    nothing is inserted. `header` says whether the first line of text files is a header: `yes`, `no`, or `auto`, if it
    has the names of the columns. `Database(program, facts=folder)` reads the same files before anything is derived.
    """
    expect(database, Database, "database", "tidelog.Database")
    expect(folder, (str, Path), "folder", "the path of a folder")
    from tidelog.session.formats.files import read_facts  # noqa: PLC0415  (a program with its facts in it reads none)

    plan = plan_of(database)
    facts = read_facts(Path(folder), plan.relations, Plain(plan.types), database.tuning, header)
    with database.transaction() as tx:
        for relation, rows in facts.rows.items():
            tx.insert(relation, rows)
    return facts


def outputs(database: Database) -> list[RelationView]:
    """Return the output relations in order of declaration."""
    return [view for view in database.relations() if view.role == "output"]


def save_outputs(database: Database, folder: str | Path) -> dict[Path, int]:
    """Write every output relation to a file, and return the files with the number of their rows."""
    expect(database, Database, "database", "tidelog.Database")
    expect(folder, (str, Path), "folder", "the path of a folder")
    from tidelog.session.formats.files import write_outputs  # noqa: PLC0415  (and may write none)

    rows = {view.name: view.raw_rows() for view in outputs(database)}
    plan = plan_of(database)
    paths = write_outputs(Path(folder), rows, plan.relations, Plain(plan.types), database.tuning)
    return dict(zip(paths, map(len, rows.values()), strict=True))


def output_cells(database: Database) -> Iterator[tuple[RelationView, list[list[str]]]]:
    """Yield the output relations with the text of their cells, rows in order."""
    plan = plan_of(database)
    for view in outputs(database):
        types = [column.type for column in plan.relations[view.name].columns]
        yield view, [[show_cell(*cell, plan.types) for cell in zip(row, types, strict=True)] for row in view.rows()]


def outputs_as_json(database: Database) -> dict[str, list[list[Any]]]:
    """Return the rows of output relations as JSON has them: in order, values in their plain form."""
    plan = plan_of(database)
    plain = Plain(plan.types)
    found: dict[str, list[list[Any]]] = {}
    for view in outputs(database):
        writers = [plain.write(column.type) for column in plan.relations[view.name].columns]
        found[view.name] = [
            [finite(write(value) if write else value) for write, value in zip(writers, row, strict=True)]
            for row in view.rows()
        ]
    return found
