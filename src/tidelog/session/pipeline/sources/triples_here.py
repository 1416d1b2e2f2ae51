"""Sources of RDF that the driver reads: files of every syntax, on this machine or in an object store.

Files of one source are one graph: labels of blank nodes mean the same in all of them. N-Triples and N-Quads that are
large, out of the driver's reach or with a quarantine are left to Spark (`triples`), which reads their lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tidelog.base.errors import DataError, UserError
from tidelog.base.tuning.files import Pipelines
from tidelog.base.values import Variant
from tidelog.plan.nodes import Relation
from tidelog.run.contract.columns import ValueColumns
from tidelog.session.formats.delimited import DAMAGED
from tidelog.session.formats.rdf.graph import Graph
from tidelog.session.formats.rdf.reading import LINES, read_content
from tidelog.session.formats.rdf.syntaxes import ALSO, MEDIA
from tidelog.session.pipeline.config import SourceTable
from tidelog.session.pipeline.sources.reading_here import SourceFile, UnsureError, files_of


def ending_of(source: SourceTable) -> str | None:
    """Return the ending of files in a source's syntax; None if that is not of RDF."""
    name = f".{ALSO.get(source.format.lower(), source.format.lower())}"
    return name if name in MEDIA else None


def check_triples(source: SourceTable) -> None:
    """Refuse what a source of RDF cannot have."""
    for what, given in (("options", source.options), ("columns", source.columns)):
        if given:
            raise UserError(f"{source}: a source of RDF has no `{what}`: triples go to three columns, quads to four")


def read_triples(source: SourceTable, relation: Relation, tuning: Pipelines) -> ValueColumns | None:
    """Return what a source of RDF holds; None if Spark is to read it."""
    ending = ending_of(source)
    assert ending is not None, "a source of RDF"
    check_triples(source)
    lines = ending in LINES
    try:
        found = files_of(source, tuning if lines else None, compressed=True)
    except (UnsureError, OSError):
        found = []
    if not found and not lines:
        raise DataError(f"{source}: the driver reads files of {source.format}, and there are none that it can reach")
    if not found or (lines and source.on_error != "fail"):
        return None
    graph = _one([_graph(file, source, ending) for file in found])
    return graph.fitted(relation, Path(str(source.path)))


def _graph(file: SourceFile, source: SourceTable, ending: str) -> Graph:
    try:
        return read_content(file.at if isinstance(file.at, Path) else file.content(), Path(file.name), ending)
    except DataError as error:
        raise DataError(f"{source}: {error}") from None
    except (*DAMAGED, UnicodeDecodeError) as error:
        raise DataError(f"{source}: {file.name}: {error}") from None


def _one(graphs: Sequence[Graph]) -> Graph:
    """Return graphs as one."""
    if len(graphs) == 1:
        return graphs[0]
    numbers: dict[Variant, int] = {}
    parts = []
    for graph in graphs:
        own = np.array([numbers.setdefault(term, len(numbers)) for term in graph.terms] + [-1], np.int64)
        parts.append(own[graph.rows])  # the place -1 of no graph is the last
    return Graph([*numbers], np.concatenate(parts, axis=1))
