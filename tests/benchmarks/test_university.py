"""Universities: the generated data, and 14 questions whose answers the general rules and all strategies agree on."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

import tidelog
from benchmarks.university.generate import statements
from benchmarks.university.goals import goals
from benchmarks.university.run import program

DATA = "".join(statements(2, departments=1, teachers=5))
ONTOLOGY = Path(__file__).parents[2] / "benchmarks" / "university" / "ontology.ttl"


def answers(db: tidelog.Database, relation: str = "Triple") -> dict[int, set[Any]]:
    texts = {number: goal.replace("Triple(", f"{relation}(") for number, goal in goals("schema").items()}
    return {number: set(db.query(text).rows()) for number, text in texts.items()}


def test_the_same_number_gives_the_same_data() -> None:
    assert "".join(statements(2, departments=1, teachers=5)) == DATA
    assert len(DATA.splitlines()) == len(tidelog.read_rdf(DATA, "nt")) > 500


@pytest.mark.long(reason="the general rules, and every strategy through deletions and insertions")
def test_the_answers_of_every_strategy_are_those_of_the_general_rules() -> None:
    rows = list(tidelog.read_rdf(DATA, "nt"))
    general = tidelog.Database(
        "import rdf\nimport rdf::graph\nimport rdf::owl2rl::rules\n"
        "prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#>\nprefix schema: <http://university.example/schema#>\n"
    )
    with general.transaction() as tx:
        tx.insert("rdf::graph::Triple", tidelog.read_rdf(ONTOLOGY))
        tx.insert("rdf::graph::Triple", rows)
    expected = answers(general)
    assert all(expected.values())
    settings: list[dict[str, Any]] = [
        *({"strategy": strategy} for strategy in ("auto", "dbsp", "modular", "dred")),
        {"engine": "tuples"},
    ]
    random = Random(7)
    for chosen in settings:
        db = tidelog.Database(program(), **chosen)
        with db.transaction() as tx:
            tx.insert("Triple", rows)
        assert answers(db) == expected, chosen
        gone = random.sample(rows, 60)
        with db.transaction() as tx:
            tx.delete("Triple", gone)
        anew = tidelog.Database(program())
        with anew.transaction() as tx:
            tx.insert("Triple", [row for row in rows if row not in set(gone)])
        assert answers(db) == answers(anew), chosen
        with db.transaction() as tx:
            tx.insert("Triple", gone)
        assert answers(db) == expected, chosen
