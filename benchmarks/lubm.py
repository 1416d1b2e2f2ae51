"""LUBM from N-Triples and the ontology in Turtle to triples of integers.

Data and ontology give the namespace differently, so terms of it are known by their local name. The five predicates of
the RDFS rules have fixed numbers, everything else gets the next one when it is first met. Of the ontology only its
statements with the four schema predicates between named things are used: the rules read no others.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path

SCHEMA = {"subClassOf": 0, "subPropertyOf": 1, "domain": 2, "range": 3}
TYPE = 4
STATEMENT = re.compile(r"rdfs:(subClassOf|subPropertyOf|domain|range)\s+:(\w+)")
SUBJECT = re.compile(r"^:(\w+)\s")
ONTOLOGY = "univ-bench.owl#"

Triple = tuple[int, int, int]


class Encoder:
    """Gives each term a number."""

    def __init__(self) -> None:
        self._codes = {**SCHEMA, "type": TYPE}

    def code(self, term: str) -> int:
        """Return the number of a term, a new one if need be."""
        return self._codes.setdefault(term, len(self._codes))

    def triples(self, ntriples: Path) -> Iterator[Triple]:
        """Yield the statements of a compressed N-Triples file."""
        with gzip.open(ntriples, "rt", encoding="utf-8") as lines:
            for line in lines:
                subject, predicate, rest = line.split(" ", 2)
                yield self._term(subject), self._term(predicate), self._term(rest.rstrip().removesuffix(".").rstrip())

    def ontology(self, turtle: Path) -> Iterator[Triple]:
        """Yield the schema statements of the ontology."""
        for block in turtle.read_text(encoding="utf-8").split("\n\n"):
            subject = SUBJECT.match(block)
            if subject is not None:
                for predicate, thing in STATEMENT.findall(block):
                    yield self.code(ONTOLOGY + subject[1]), SCHEMA[predicate], self.code(ONTOLOGY + thing)

    def _term(self, text: str) -> int:
        if text.startswith("<") and "#" in text:
            space, name = text[1:-1].rsplit("#", 1)
            if space.endswith("22-rdf-syntax-ns") and name == "type":
                return TYPE
            if space.endswith("univ-bench.owl"):
                return self.code(ONTOLOGY + name)
        return self.code(text)
