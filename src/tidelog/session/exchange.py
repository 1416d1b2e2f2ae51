"""Facts into a database and results out of it: folders of files, cells of tables, JSON."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.base.arguments import expect
from tidelog.base.errors import UserError
from tidelog.base.plain.plain import Plain
from tidelog.run.contract.columns import ValueColumns
from tidelog.session.database import Database, facts_of, plan_of
from tidelog.session.formats.remarks import Header
from tidelog.session.queries.answers import Answers
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
    with database.transaction() as tx:
        return tx.load(folder, header=header)


def read_rdf(source: str | Path, syntax: str | None = None, *, labels: str = "") -> ValueColumns:
    """Return the triples of a file, as rows for `tx.insert` and `tx.delete`; with a `syntax`, those of a text.

    The syntax is `nt`, `ttl`, `rdf` or `jsonld`, and `nq` or `trig` for quads, whose rows have four columns; other
    names of these, as `turtle`, will do. All but `nt` and `nq` need the extra `rdf`. `labels` is put before the labels
    of blank nodes, so that those of several files are different nodes.

    >>> from tidelog.base.text.terms import show_term
    >>> [show_term(o) for _, _, o in read_rdf('<http://a> <http://b> "c"@en .', "nt")]
    ['"c"@en']
    """
    expect(source, (str, Path), "source", "the path of a file, or a text")
    expect(labels, str, "labels", "the beginning of labels")
    from tidelog.session.formats.rdf.reading import read_source  # noqa: PLC0415  (most databases read none)

    return read_source(source, syntax, labels)


def ontology_program(ontology: str | Path, *, relations: bool = False) -> str:
    """Return the text of a program with the rules of an ontology, a file of RDF.

    The rules are over triples, given for the relation `Triple`, or over a relation for each class and property.
    """
    expect(ontology, (str, Path), "ontology", "the path of a file")
    from tidelog.session.formats.rdf.ontology import read_ontology  # noqa: PLC0415  (few need it)
    from tidelog.session.formats.rdf.program import program_text  # noqa: PLC0415
    from tidelog.session.formats.rdf.reading import read_file  # noqa: PLC0415

    graph, name = read_file(Path(ontology)), Path(ontology).name
    return program_text(read_ontology(graph), name, graph.prefixes, relations=relations)


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


def save_facts(database: Database, folder: str | Path) -> dict[Path, int]:
    """Write the facts of every input relation to a file, as `load_facts` reads them; return the numbers of rows.

    Facts that the program itself states are not written.
    """
    expect(database, Database, "database", "tidelog.Database")
    expect(folder, (str, Path), "folder", "the path of a folder")
    from tidelog.session.formats.files import write_outputs  # noqa: PLC0415  (few are written)

    rows = {view.name: facts_of(database, view.name) for view in database.relations() if view.role == "input"}
    plan = plan_of(database)
    paths = write_outputs(Path(folder), rows, plan.relations, Plain(plan.types), database.tuning)
    return dict(zip(paths, map(len, rows.values()), strict=True))


def as_csv(answers: Answers) -> str:
    """Return answers as CSV: a header, and the rows in order."""
    from tidelog.session.formats.delimited import write_rows  # noqa: PLC0415  (few are written)

    text = StringIO()
    write_rows(text, answers.raw_rows(), answers.fields, answers.plain)
    return text.getvalue()


def as_parquet(answers: Answers) -> bytes:
    """Return rows as the bytes of a Parquet file, in any order."""
    if not answers.columns:
        raise UserError("what has no columns cannot be written as Parquet")
    from pyarrow import BufferOutputStream  # noqa: PLC0415  (slow to load)
    from pyarrow.parquet import write_table  # noqa: PLC0415

    sink = BufferOutputStream()
    write_table(answers.to_arrow(), sink)
    return bytes(sink.getvalue())
