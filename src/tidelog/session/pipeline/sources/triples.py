"""Sources of N-Triples and N-Quads read by the executors: lines as columns of terms, each in its one text.

A batch of lines is read by columns (`formats.rdf.ntriples_arrow`); one with a line that is wrong, or laid out otherwise
than usual, line by line, and what is wrong is reported with the line. Labels of blank nodes mean the same in all files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as s

from tidelog.base.errors import DataError
from tidelog.base.text.terms import written_term
from tidelog.plan.nodes import Relation
from tidelog.session.formats.rdf.graph import GRAPH_TYPE, QUAD, TRIPLE, Graph, fitting_columns, misfit
from tidelog.session.formats.rdf.ntriples import read_text
from tidelog.session.formats.rdf.ntriples_arrow import read_data
from tidelog.session.formats.rdf.reading import LINES
from tidelog.session.pipeline.config import SourceTable
from tidelog.session.pipeline.places.addresses import address
from tidelog.session.pipeline.sources.triples_here import check_triples, ending_of

LINE, FILE = "value", "#file"


def triple_lines(spark: SparkSession, source: SourceTable, relation: Relation, corrupt: str) -> DataFrame:
    """Return the statements of a source in the columns of a relation, with the file, and what is wrong with a line."""
    check_triples(source)
    kinds = fitting_columns(relation)
    if kinds is None:
        raise DataError(f"{source}: {misfit(relation)}")
    names = [column.name for column in relation.columns]
    text = spark.read.text(address(str(source.path)))
    given = text.select(LINE, f.col("_metadata.file_path").alias(FILE))
    schema = s.StructType([s.StructField(name, s.StringType()) for name in (*names, corrupt, FILE)])
    quads = LINES[str(ending_of(source))]
    return given.mapInArrow(_reader(names, kinds[TRIPLE:] == [GRAPH_TYPE], quads, corrupt), schema)


def _reader(
    names: Sequence[str], optional: bool, quads: bool, corrupt: str
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for `mapInArrow`: lines to statements."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for file in batch.column(FILE).unique().to_pylist():
                lines = batch.column(LINE).filter(pc.equal(batch.column(FILE), file))
                for columns, wrong in _statements(lines, quads=quads, width=len(names), optional=optional):
                    count = len(columns[0])
                    told = pa.array([wrong] * count, pa.string())
                    yield pa.RecordBatch.from_arrays(
                        [*columns, told, pa.array([file] * count, pa.string())], [*names, corrupt, FILE]
                    )

    return run


def _statements(lines: Any, *, quads: bool, width: int, optional: bool) -> Iterator[tuple[list[Any], str | None]]:
    """Yield the columns of what lines say, and for each wrong one nulls with what is wrong."""
    texts = lines.to_pylist()
    graph = read_data("\n".join(texts).encode(), quads=quads)
    if graph is not None and not _is_misfit(graph, width):
        if graph.rows.shape[1]:
            yield _columns(graph, width, optional=optional), None
        return
    for text in texts:
        try:
            graph = read_text(text, Path("line"), quads=quads)
            wrong = "a quad, where a relation takes triples" if _is_misfit(graph, width) else ""
        except DataError as error:
            graph, wrong = Graph([], np.empty((QUAD, 0), np.int64)), str(error).partition(": ")[2]
        if wrong:
            yield [pa.nulls(1, pa.string())] * width, f"{wrong}, in {text}"
        elif graph.rows.shape[1]:
            yield _columns(graph, width, optional=optional), None


def _is_misfit(graph: Graph, width: int) -> bool:
    return width == TRIPLE and bool((graph.rows[TRIPLE] >= 0).any())


def _columns(graph: Graph, width: int, *, optional: bool) -> list[Any]:
    """Return a column of texts for each place of a statement."""
    shown = [written_term(term) or "" for term in graph.terms]  # of no graph there is no text
    texts = pa.array(shown, pa.string())
    columns = [texts.take(pa.array(places)) for places in graph.rows[:TRIPLE]]
    if width == QUAD:
        given = [f"Some{{.x = {text}}}" for text in shown] if optional else shown
        none = "None{}" if optional else ""
        graphs = np.where(graph.rows[TRIPLE] < 0, len(given), graph.rows[TRIPLE])
        columns.append(pa.array([*given, none], pa.string()).take(pa.array(graphs)))
    return columns
