"""Relations of triples as N-Triples, of quads as N-Quads, in the order of the lines."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from tidelog.base.errors import DataError
from tidelog.base.plain.plain import Plain
from tidelog.base.text.terms import show_term
from tidelog.base.text.write import show_row
from tidelog.base.types import TypeDefinition
from tidelog.base.values import Variant
from tidelog.plan.nodes import Relation
from tidelog.run.contract.engine import Row, Rows
from tidelog.session.formats.rdf.graph import GRAPH_TYPE, QUAD, TERM_TYPE, TRIPLE


def rdf_ending(relation: Relation) -> str | None:
    """Return the ending of the file that a relation is written to if its columns are terms."""
    kinds = [column.type for column in relation.columns]
    if kinds == [TERM_TYPE] * TRIPLE:
        return ".nt"
    return ".nq" if kinds == [*[TERM_TYPE] * TRIPLE, GRAPH_TYPE] else None


def write_rdf(path: Path, rows: Rows, relation: Relation, plain: Plain) -> None:
    """Write rows, in order; the file appears whole or not at all. What no file of RDF can hold is a `DataError`."""
    lines = sorted(_lines(rows, relation, plain.definitions))
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("w", encoding="utf-8", newline="") as file:
            file.writelines(lines)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _lines(rows: Rows, relation: Relation, definitions: Mapping[str, TypeDefinition]) -> Iterator[str]:
    shown: dict[Variant, str] = {}
    for row in rows:
        _check(row, relation, definitions)
        terms = [*row[:TRIPLE], *(row[TRIPLE].fields if len(row) == QUAD else ())]
        for term in terms:
            if term not in shown:
                try:
                    shown[term] = show_term(term)
                except ValueError as error:
                    raise DataError(f"{relation.name}: {error}") from None
        yield " ".join([*(shown[term] for term in terms), ".\n"])


def _check(row: Row, relation: Relation, definitions: Mapping[str, TypeDefinition]) -> None:
    literal = 2
    subject, predicate, graph = (
        row[0],
        row[1],
        row[TRIPLE].fields[0] if len(row) == QUAD and row[TRIPLE].fields else None,
    )
    if subject.position == literal or predicate.position or (graph is not None and graph.position == literal):
        fact = show_row(relation.name, relation.columns, row, definitions)
        raise DataError(
            f"{fact} is no triple of RDF: a literal is only an object, and a predicate is an IRI; "
            "leave such rows out by a condition, as `rdf::is_iri(p), not rdf::is_literal(s)`"
        )
