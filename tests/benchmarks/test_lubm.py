"""LUBM(1): its 14 queries under the rules of its ontology have the published answers, whatever came and went before.

The data is in the folder `lubm` of TIDELOG_DATA, which is `../shared/data` unless given; without it this is skipped.
"""

from __future__ import annotations

import csv
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

import tidelog
from benchmarks.university.lubm import lubm_goals
from tidelog.session.exchange import ontology_program

DATA = Path(os.environ.get("TIDELOG_DATA", Path(__file__).parents[3] / "shared" / "data")) / "lubm"


def published(number: int) -> set[tuple[str, ...]]:
    lines = (DATA / "answers_lubm1" / f"answers_query{number}.csv").read_text().splitlines()
    return {*map(tuple, csv.reader(lines[1:]))} if lines[0] != "NO ANSWERS." else set()


def answers(db: tidelog.Database) -> dict[int, set[tuple[str, ...]]]:
    """The answers of all queries, terms as their text."""
    found = {number: db.query(goal).rows() for number, goal in lubm_goals().items()}
    return {number: {tuple([term.fields[0] for term in row]) for row in rows} for number, rows in found.items()}


@pytest.mark.long(reason="a hundred thousand triples, under three strategies")
@pytest.mark.skipif(not DATA.exists(), reason="LUBM is not on this machine")
def test_the_published_answers_through_deletions_and_insertions() -> None:
    text, random = ontology_program(DATA / "univ-bench.owl"), Random(14)
    triples = tidelog.read_rdf(DATA / "lubm1.nt.gz")
    expected = {number: published(number) for number in lubm_goals()}
    rows = list(triples)
    settings: list[Any] = ["auto", "dbsp", "modular"]
    for strategy in settings:
        db = tidelog.Database(text, strategy=strategy, facts={"Triple": triples})
        assert answers(db) == expected, strategy
        gone = random.sample(rows, 500)
        # Those that queries speak of, too: their answers change.
        gone += [row for row in rows if "Department0.University0" in str(row[0]) and random.random() < 0.3]
        with db.transaction() as tx:
            tx.delete("Triple", gone)
        left = set(rows).difference(gone)
        anew = answers(tidelog.Database(text, strategy="recompute", facts={"Triple": left}))
        assert answers(db) == anew, strategy
        assert sum(anew[number] != expected[number] for number in anew) > 9
        with db.transaction() as tx:
            tx.insert("Triple", gone)
        assert answers(db) == expected, strategy
