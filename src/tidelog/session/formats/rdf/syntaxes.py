"""Turtle, TriG, RDF/XML and JSON-LD, by pyoxigraph (the extra `rdf`).

Blank nodes without a label of their own get the labels `genid-1f2e3d4c-1`, `-2`, ... in the order of the text, with a
digest of it: reading it again gives the same rows, and nodes of two texts are never taken for one. Relative IRIs are
relative to the file.
"""

from __future__ import annotations

import gzip
import io
import re
from collections.abc import Iterator
from hashlib import blake2b
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidelog.base.errors import DataError, MissingExtraError
from tidelog.base.text.terms import blank, iri, literal
from tidelog.base.values import Variant
from tidelog.session.formats.delimited import DAMAGED, read_whole
from tidelog.session.formats.rdf.graph import Gathering, Graph

if TYPE_CHECKING:
    import pyoxigraph

MEDIA = {
    ".ttl": "TURTLE",
    ".trig": "TRIG",
    ".rdf": "RDF_XML",
    ".owl": "RDF_XML",
    ".jsonld": "JSON_LD",
    ".nt": "N_TRIPLES",
    ".nq": "N_QUADS",
}
"""The syntaxes by the ending of a file, as pyoxigraph calls them."""
ALSO = {
    "turtle": "ttl",
    "text/turtle": "ttl",
    "application/trig": "trig",
    "xml": "rdf",
    "rdfxml": "rdf",
    "application/rdf+xml": "rdf",
    "json-ld": "jsonld",
    "application/ld+json": "jsonld",
    "ntriples": "nt",
    "application/n-triples": "nt",
    "nquads": "nq",
    "application/n-quads": "nq",
}
"""What rdflib and the W3C call them."""
_MADE = re.compile(r"[0-9a-f]{16,32}")
"""What a label looks like that the parser made; one that stands in the text is the author's."""


def read_syntax(path: Path, ending: str) -> Graph:
    """Return what a file holds, or raise `DataError`."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            data = read_whole(file)
    except DAMAGED as error:
        raise DataError(f"{path}: {error}") from None
    return read_bytes(data, path, ending, base=path.absolute().as_uri())


def read_bytes(data: bytes, path: Path, ending: str, base: str | None = None) -> Graph:
    """Return what a text in a syntax holds; `path` is what mistakes name."""
    made = Gathering()
    reader = _Reader(made)
    for quad in _quads(data, path, ending, base, made.prefixes):
        graph = quad.graph_name
        row = [reader.place(term) for term in (quad.subject, quad.predicate, quad.object)]
        made.add([*row, -1 if type(graph).__name__ == "DefaultGraph" else reader.place(graph)])
    made.terms[:] = _labelled(made.terms, data)
    return made.graph()


def _quads(
    data: bytes, path: Path, ending: str, base: str | None, prefixes: dict[str, str]
) -> Iterator[pyoxigraph.Quad]:
    try:
        import pyoxigraph
    except ImportError:
        raise MissingExtraError("pyoxigraph", "rdf") from None
    form = getattr(pyoxigraph.RdfFormat, MEDIA[ending])
    try:
        parser = pyoxigraph.parse(io.BytesIO(data), form, base_iri=base)
        yield from parser
        prefixes.update(parser.prefixes)
    except SyntaxError as error:
        line = f":{error.lineno}" if error.lineno else ""
        raise DataError(f"{path}{line}: {error.msg}") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: {error}") from None


class _Reader:
    def __init__(self, made: Gathering) -> None:
        self._made = made

    def place(self, term: Any) -> int:
        """Return the place of a term."""
        found = self._made.numbers.get(term)
        return self._made.number(term, _read(term)) if found is None else found


def _read(term: Any) -> Variant:
    match type(term).__name__:
        case "NamedNode":
            return iri(term.value)
        case "BlankNode":
            return blank(term.value)
        case "Literal":
            if getattr(term, "direction", None) is not None:
                raise DataError(f"{term}: texts with a direction, which came after RDF 1.1, cannot be read")
            return literal(term.value, term.datatype.value, (term.language or "").lower())
        case _:
            raise DataError(f"{term}: triples as terms, which came after RDF 1.1, cannot be read")


def _labelled(terms: list[Variant], data: bytes) -> list[Variant]:
    """Return terms with labels in the order of the text for blank nodes whose labels the parser made at random."""
    digest = blake2b(data, digest_size=4).hexdigest()
    labels = (f"genid-{digest}-{number}" for number in count(1))

    def is_made(term: Variant) -> bool:
        return (
            term.position == 1 and _MADE.fullmatch(term.fields[0]) is not None and term.fields[0].encode() not in data
        )

    return [blank(next(labels)) if is_made(term) else term for term in terms]
