"""An ontology as rules of its own: what each axiom becomes, and the same answers as OWL 2 RL gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import tidelog
from tidelog.base.errors import UserError
from tidelog.session.exchange import ontology_program
from tidelog.shell.main import main

HEAD = """@prefix u: <http://u.example/o#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
AXIOMS = {
    "u:A rdfs:subClassOf u:B .": ["Triple(x, rdf:type, u:B) :- Triple(x, rdf:type, u:A)."],
    "u:p rdfs:domain u:A ; rdfs:range u:B .": [
        "Triple(x, rdf:type, u:A) :- Triple(x, u:p, _).",
        "Triple(y, rdf:type, u:B) :- Triple(_, u:p, y).",
    ],
    "u:p rdfs:range xsd:string .": [],
    "u:p rdfs:subPropertyOf u:q .": ["Triple(x, u:q, y) :- Triple(x, u:p, y)."],
    "u:p owl:inverseOf u:q . u:q owl:inverseOf u:p .": [
        "Triple(y, u:q, x) :- Triple(x, u:p, y).",
        "Triple(x, u:p, y) :- Triple(y, u:q, x).",
    ],
    "u:p a owl:TransitiveProperty, owl:SymmetricProperty .": [
        "Triple(x, u:p, z) :- Triple(x, u:p, y), Triple(y, u:p, z).",
        "Triple(y, u:p, x) :- Triple(x, u:p, y).",
    ],
    "u:p owl:propertyChainAxiom ( u:q u:r ) .": ["Triple(x, u:p, y) :- Triple(x, u:q, z1), Triple(z1, u:r, y)."],
    "u:p owl:equivalentProperty u:q .": [
        "Triple(x, u:q, y) :- Triple(x, u:p, y).",
        "Triple(x, u:p, y) :- Triple(x, u:q, y).",
    ],
    "u:A owl:intersectionOf ( u:B [ owl:onProperty u:p ; owl:someValuesFrom u:C ] ) .": [
        "Triple(x, rdf:type, u:A) :- Triple(x, rdf:type, u:B), Triple(x, u:p, y1), Triple(y1, rdf:type, u:C).",
        "Triple(x, rdf:type, u:B) :- Triple(x, rdf:type, u:A).",
    ],
    "u:A owl:unionOf ( u:B u:C ) .": [
        "Triple(x, rdf:type, u:A) :- Triple(x, rdf:type, u:B).",
        "Triple(x, rdf:type, u:A) :- Triple(x, rdf:type, u:C).",
    ],
    "u:A rdfs:subClassOf [ owl:onProperty u:p ; owl:allValuesFrom u:B ] .": [
        "Triple(y1, rdf:type, u:B) :- Triple(x, rdf:type, u:A), Triple(x, u:p, y1)."
    ],
    'u:A rdfs:subClassOf [ owl:onProperty u:p ; owl:hasValue "v\\n"@en ] .': [
        'Triple(x, u:p, "v\\n"@en) :- Triple(x, rdf:type, u:A).'
    ],
    "u:A owl:equivalentClass [ owl:onProperty u:p ; owl:hasValue u:v ] .": [
        "Triple(x, u:p, u:v) :- Triple(x, rdf:type, u:A).",
        "Triple(x, rdf:type, u:A) :- Triple(x, u:p, u:v).",
    ],
    "u:A owl:equivalentClass [ owl:intersectionOf ( u:B u:C ) ] .": [
        "Triple(x, rdf:type, u:B) :- Triple(x, rdf:type, u:A).",
        "Triple(x, rdf:type, u:C) :- Triple(x, rdf:type, u:A).",
        "Triple(x, rdf:type, u:A) :- Triple(x, rdf:type, u:B), Triple(x, rdf:type, u:C).",
    ],
    "u:in rdfs:subPropertyOf <http://u.example/o#a-b> .": [
        "Triple(x, <http://u.example/o#a-b>, y) :- Triple(x, <http://u.example/o#in>, y)."
    ],
}
UNTOLD = [
    "u:A rdfs:subClassOf [ owl:onProperty u:p ; owl:someValuesFrom u:B ] .",
    "u:A owl:disjointWith u:B .",
    "u:p a owl:FunctionalProperty .",
    "u:A rdfs:subClassOf [ owl:complementOf u:B ] .",
]


def rules(tmp_path: Path, text: str, *options: str) -> str:
    (tmp_path / "o.ttl").write_text(HEAD + text)
    done = CliRunner().invoke(main, ["rdf", "rules", str(tmp_path / "o.ttl"), *options])
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("axiom", AXIOMS)
def test_what_an_axiom_becomes(tmp_path: Path, axiom: str) -> None:
    program = rules(tmp_path, axiom)
    assert [line for line in program.splitlines() if ":-" in line] == AXIOMS[axiom]
    assert ("No rules" in program) == ("someValuesFrom" in axiom)
    tidelog.Database(program)
    tidelog.Database(rules(tmp_path, axiom, "--relations"))


@pytest.mark.parametrize("axiom", UNTOLD)
def test_what_rules_cannot_say_is_told(tmp_path: Path, axiom: str) -> None:
    program = rules(tmp_path, axiom)
    assert ":-" not in program
    assert "// No rules: http://u.example/o#" in program


def test_the_same_as_the_general_rules(tmp_path: Path) -> None:
    """For individuals: what follows for the axioms themselves is not in the program."""
    axioms = """
        u:Head owl:intersectionOf ( u:Person [ owl:onProperty u:leads ; owl:someValuesFrom u:Group ] ) .
        u:leads rdfs:subPropertyOf u:worksFor . u:worksFor rdfs:domain u:Person ; owl:inverseOf u:employs .
        u:partOf a owl:TransitiveProperty . u:Team rdfs:subClassOf u:Group . u:Group rdfs:subClassOf u:Thing .
        u:worksAt owl:propertyChainAxiom ( u:worksFor u:partOf ) .
    """
    facts = (
        HEAD
        + """
        u:ann u:leads u:t1 . u:t1 a u:Team ; u:partOf u:t2 . u:t2 u:partOf u:t3 ; u:employs u:bob .
    """
    )
    individuals = {"ann", "bob", "t1", "t2", "t3"}
    text = rules(tmp_path, axioms)
    own = tidelog.Database(text)
    split = tidelog.Database(rules(tmp_path, axioms, "--relations"))
    general = tidelog.Database("import rdf\nimport rdf::graph\nimport rdf::owl2rl::rules")
    for db, name in ((own, "Triple"), (split, "Triple"), (general, "rdf::graph::Triple")):
        with db.transaction() as tx:
            tx.insert(name, tidelog.read_rdf(facts, "ttl"))
    with general.transaction() as tx:
        tx.insert("rdf::graph::Triple", tidelog.read_rdf(HEAD + axioms, "ttl"))

    def local(term: tidelog.Variant) -> str:
        return str(term.fields[0]).rpartition("#")[2]

    expected = {
        (local(s), local(p), local(o))
        for s, p, o in general["rdf::graph::Triple"].rows()
        if local(s) in individuals and local(p) != "sameAs" and o.position == 0
    }
    assert {(local(s), local(p), local(o)) for s, p, o in own["Triple"].rows()} == expected
    assert [local(x) for (x,) in split["Head"].rows()] == ["ann"]
    assert len(split["PartOf"].rows()) == 3
    assert len(split["WorksAt"].rows()) == 3


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot read"):
        ontology_program(tmp_path / "a.ttl")
