"""Random histories of triples under OWL 2 RL, with axioms coming and going, equal the reference engine.

TIDELOG_OWL2RL_HISTORIES says how many: 20 unless given, as the reference engine evaluates 130 rules anew at every step.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

import pytest

import tidelog
from tidelog.base.text.terms import RDF, iri, literal
from tidelog.run.contract.engine import Row

HISTORIES = int(os.environ.get("TIDELOG_OWL2RL_HISTORIES", "20"))
OWL, RDFS = "http://www.w3.org/2002/07/owl#", "http://www.w3.org/2000/01/rdf-schema#"
XSD = "http://www.w3.org/2001/XMLSchema#"
PROGRAM = "import rdf\nimport rdf::graph\nimport rdf::owl2rl"
TRIPLE, BAD = "rdf::graph::Triple", "rdf::graph::Inconsistency"
THINGS, CLASSES, PROPERTIES, CELLS = (
    [iri(f"http://x/{name}{number}") for number in range(3)] for name in ("thing", "Class", "property", "cell")
)
VALUES = [literal("1", f"{XSD}integer"), literal("01", f"{XSD}integer"), literal("x", f"{XSD}byte"), literal("a")]
TYPE = iri(f"{RDF}type")
SETTINGS: list[dict[str, Any]] = [
    *({"strategy": strategy} for strategy in ("auto", "ranked", "dred", "modular", "dbsp", "recompute")),
    {"engine": "tuples"},
]


def axiom(random: Random) -> Row:
    """A statement about classes, properties and lists."""
    c, d = random.choice(CLASSES), random.choice(CLASSES)
    p, q = random.choice(PROPERTIES), random.choice(PROPERTIES)
    cell, other = random.choice(CELLS), random.choice([*CELLS, iri(f"{RDF}nil"), iri(f"{RDF}nil")])
    kind = random.choice(("TransitiveProperty", "SymmetricProperty", "FunctionalProperty", "InverseFunctionalProperty"))
    choices: list[tuple[tidelog.Variant, str, tidelog.Variant]] = [
        (c, f"{RDFS}subClassOf", d),
        (c, f"{OWL}{random.choice(('equivalentClass', 'disjointWith', 'complementOf'))}", d),
        (c, f"{OWL}{random.choice(('someValuesFrom', 'allValuesFrom'))}", random.choice([d, iri(f"{OWL}Thing")])),
        (c, f"{OWL}onProperty", p),
        (c, f"{OWL}hasValue", random.choice([*THINGS, *VALUES])),
        (c, f"{OWL}maxCardinality", VALUES[0]),
        (c, f"{OWL}{random.choice(('intersectionOf', 'unionOf', 'oneOf', 'hasKey'))}", cell),
        (p, f"{OWL}propertyChainAxiom", cell),
        (cell, f"{RDF}first", random.choice([c, p, random.choice(THINGS)])),
        (cell, f"{RDF}rest", other),
        (p, f"{RDFS}{random.choice(('domain', 'range'))}", c),
        (p, f"{RDFS}subPropertyOf", q),
        (p, f"{OWL}{random.choice(('inverseOf', 'equivalentProperty', 'propertyDisjointWith'))}", q),
        (p, f"{RDF}type", iri(OWL + kind)),
    ]
    s, name, o = random.choice(choices)
    return s, iri(name), o


def statement(random: Random) -> Row:
    """A statement about things."""
    s, o = random.choice(THINGS), random.choice([*THINGS, *THINGS, random.choice(VALUES)])
    if random.random() < 0.4:
        return s, TYPE, random.choice(CLASSES)
    if random.random() < 0.08:
        return s, iri(f"{OWL}{random.choice(('sameAs', 'differentFrom'))}"), random.choice(THINGS)
    return s, random.choice(PROPERTIES), o


@pytest.mark.long(reason="twenty histories under 130 rules")
def test_random_histories_equal_the_reference_engine() -> None:
    derived = 0
    for seed in range(HISTORIES):
        random = Random(seed)
        settings = SETTINGS[seed % len(SETTINGS)]
        one, other = tidelog.Database(PROGRAM, **settings), tidelog.Database(PROGRAM, engine="reference")
        held: set[Row] = set()
        for _ in range(4):
            coming = {(axiom if random.random() < 0.5 else statement)(random) for _ in range(random.randrange(1, 8))}
            going = set(random.sample(sorted(held, key=repr), min(len(held), random.choice((0, 1, 3)))))
            held = (held - going) | coming
            changes = []
            for db in (one, other):
                with db.transaction() as tx:
                    tx.delete(TRIPLE, [*going])
                    tx.insert(TRIPLE, [*coming])
                changes.append({name: set(tx.result.changes[name]) for name in (TRIPLE, BAD)})
            assert changes[0] == changes[1], (seed, settings)
            for name in (TRIPLE, BAD):
                assert set(one[name].rows()) == set(other[name].rows()), (seed, settings, name)
        derived += len(one[TRIPLE].rows()) - len(held)
    assert derived > 50 * HISTORIES
