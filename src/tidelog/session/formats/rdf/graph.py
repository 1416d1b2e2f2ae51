"""What a file of RDF holds: its distinct terms, and rows of places among them.

A row has a subject, a predicate, an object and a graph; the graph's place is -1 for the default graph. A relation that
takes triples has three columns, of type `rdf::Term` or of strings, which have the text of N-Triples; one that takes
quads has a fourth, of type `Option<rdf::Term>` or a string, empty for the default graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tidelog.base import types
from tidelog.base.errors import DataError
from tidelog.base.text.terms import TERM, show_term
from tidelog.base.types import Named, Type
from tidelog.base.values import NONE, Variant, some
from tidelog.plan.nodes import Relation
from tidelog.run.contract.columns import ValueColumns

Places = npt.NDArray[np.int64]
TERM_TYPE = Named(TERM)
GRAPH_TYPE = Named("std::Option", (TERM_TYPE,))
TRIPLE, QUAD = 3, 4


@dataclass(slots=True)
class Graph:
    """Distinct terms, for each row the places of its four, and the prefixes that were declared."""

    terms: Sequence[Variant]
    rows: Places
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def fitted(self, relation: Relation, path: Path) -> ValueColumns:
        """Return the rows for a relation, or raise `DataError` if its columns cannot take them."""
        kinds = fitting_columns(relation)
        if kinds is None:
            raise DataError(f"{path}: {misfit(relation)}")
        graphs = self.rows[3]
        if len(kinds) == TRIPLE and (graphs >= 0).any():
            named = show_term(self.terms[int(graphs[graphs >= 0][0])])
            raise DataError(
                f"{path}: there are quads, of the graph {named}, but {relation.name} has three columns: "
                "a fourth, of type Option<rdf::Term>, takes the graph"
            )
        columns = zip(self.rows[: len(kinds)], kinds, strict=True)
        return ValueColumns([self._column(places, kind) for places, kind in columns], kinds)

    def _column(self, places: Places, kind: Type) -> tuple[Sequence[Any], Places]:
        # Only the terms of this column: those of others would be interned for nothing.
        stands = np.zeros(len(self.terms) + 1, np.bool_)  # the last is nothing's, whose place is -1
        stands[places] = True
        found = (np.cumsum(stands) - 1)[places]
        chosen = [*compress(self.terms, stands.tolist()), *([None] if stands[-1] else [])]
        if kind == TERM_TYPE:
            return chosen, found
        if kind == GRAPH_TYPE:
            return [NONE if term is None else some(term) for term in chosen], found
        return ["" if term is None else show_term(term) for term in chosen], found


def misfit(relation: Relation) -> str:
    """Say why a relation cannot take triples or quads."""
    shown = ", ".join(f"{column.name}: {types.show(column.type)}" for column in relation.columns)
    return (
        "triples go to three columns of type rdf::Term (`import rdf`) or string, quads to a fourth of "
        f"Option<rdf::Term> or string, but {relation.name} has ({shown})"
    )


def fitting_columns(relation: Relation) -> list[Type] | None:
    """Return the types of a relation's columns if it takes triples or quads."""
    kinds = [column.type for column in relation.columns]
    proper = [types.content(kind) == types.STRING or kind == TERM_TYPE for kind in kinds[:TRIPLE]]
    if len(kinds) == QUAD:
        proper.append(types.content(kinds[3]) == types.STRING or kinds[3] == GRAPH_TYPE)
    return kinds if len(kinds) in {TRIPLE, QUAD} and len(proper) == len(kinds) and all(proper) else None


class Gathering:
    """Makes a graph row by row."""

    def __init__(self) -> None:
        self.terms: list[Variant] = []
        self.numbers: dict[Any, int] = {}
        self.prefixes: dict[str, str] = {}
        self._rows: list[int] = []

    def number(self, key: Any, term: Variant) -> int:
        """Return the place of a term, which is known by a key."""
        found = self.numbers[key] = len(self.terms)
        self.terms.append(term)
        return found

    def add(self, row: Sequence[int]) -> None:
        """Add a row: a subject, a predicate, an object and a graph."""
        self._rows.extend(row)

    def graph(self) -> Graph:
        """Return what was gathered."""
        return Graph(self.terms, np.array(self._rows, np.int64).reshape(-1, QUAD).T, self.prefixes)
