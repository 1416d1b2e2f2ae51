"""Which reader a file of RDF gets: N-Triples and N-Quads our own, by columns if possible, the others pyoxigraph's."""

from __future__ import annotations

import gzip
from pathlib import Path

from tidelog.base.arguments import brief
from tidelog.base.errors import UserError
from tidelog.base.text.terms import blank
from tidelog.base.tuning.files import Files
from tidelog.base.tuning.table import DEFAULT
from tidelog.base.types import Field, Tuple
from tidelog.plan.nodes import Relation
from tidelog.run.contract.columns import ValueColumns
from tidelog.session.formats.rdf.graph import GRAPH_TYPE, TERM_TYPE, TRIPLE, Graph
from tidelog.session.formats.rdf.ntriples import read_lines, read_text
from tidelog.session.formats.rdf.syntaxes import ALSO, MEDIA, read_bytes, read_syntax

LINES = {".nt": False, ".nq": True}
"""The syntaxes with one statement a line, and whether it is a quad."""


def ending_of(path: Path) -> str:
    """Return the ending of a file's name, without `.gz`; raise `UserError` for one that is not of RDF."""
    ending = Path(path.name.removesuffix(".gz")).suffix
    if ending not in MEDIA:
        raise UserError(f"{path}: files of RDF end in {', '.join(sorted(MEDIA))}, also with .gz")
    return ending


def read_graph(path: Path, tuning: Files = DEFAULT.files) -> Graph:
    """Return what a file of RDF holds, or raise `DataError`."""
    return _read(path, ending_of(path), tuning)


def _read(path: Path, ending: str, tuning: Files) -> Graph:
    if ending not in LINES:
        return read_syntax(path, ending)
    if path.stat().st_size >= tuning.read_bytes:
        from tidelog.session.formats.rdf.ntriples_arrow import read_columns  # noqa: PLC0415  (loads pyarrow)

        found = read_columns(path, quads=LINES[ending], tuning=tuning)
        if found is not None:
            return found
    return read_lines(path, quads=LINES[ending])


def read_content(content: Path | bytes, path: Path, ending: str, tuning: Files = DEFAULT.files) -> Graph:
    """Return what a file or the bytes of one hold, in the syntax of an ending; `path` is what mistakes name."""
    if isinstance(content, Path):
        return _read(content, ending, tuning)
    data = gzip.decompress(content) if path.suffix == ".gz" else content
    if ending not in LINES:
        return read_bytes(data, path, ending)
    return _read_statements(data, path, quads=LINES[ending], tuning=tuning)


def _read_statements(data: bytes, path: Path, *, quads: bool, tuning: Files = DEFAULT.files) -> Graph:
    """Return what a text of N-Triples or N-Quads holds."""
    if len(data) >= tuning.read_bytes:
        from tidelog.session.formats.rdf.ntriples_arrow import read_data  # noqa: PLC0415  (loads pyarrow)

        found = read_data(data, quads=quads, tuning=tuning)
        if found is not None:
            return found
    return read_text(data.decode("utf-8-sig"), path, quads=quads)


def read_file(path: Path) -> Graph:
    """Return what a file holds; one that is not there is the user's mistake, too."""
    try:
        return read_graph(path)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from None


def read_source(source: str | Path, syntax: str | None, labels: str = "") -> ValueColumns:
    """Return the triples of a file, or of a text in a syntax; quads if the syntax has them.

    `labels` is put before the labels of blank nodes.
    """
    if syntax is None:
        path = Path(source)
        ending, graph = ending_of(path), read_file(path)
    else:
        ending, path = f".{ALSO.get(syntax.lower(), syntax)}", Path("text")
        if ending not in MEDIA:
            raise UserError(f"syntax: expected {', '.join(sorted(name[1:] for name in MEDIA))}, found {brief(syntax)}")
        given = str(source)
        if ending in LINES:
            graph = read_text(given, path, quads=LINES[ending])
        else:
            graph = read_bytes(given.encode(), path, ending)
    if labels:
        terms = [blank(labels + term.fields[0]) if term.position == 1 else term for term in graph.terms]
        graph = Graph(terms, graph.rows, graph.prefixes)
    kinds = [TERM_TYPE] * TRIPLE + [GRAPH_TYPE] * (ending in {".nq", ".trig"})
    columns = tuple(Field(name, kind) for name, kind in zip("spog", kinds, strict=False))
    return graph.fitted(Relation("the result", "input", columns, Tuple(tuple(kinds))), path)
