"""Terms as people write them: in rows, frames, parameters, files of text, and in the language."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tidelog
from tidelog import DataError, ProgramError
from tidelog.base.span import Source
from tidelog.base.text.read import read_value
from tidelog.base.text.show import show_value as show_plainly
from tidelog.base.text.terms import LANG_STRING, STRING, TERM, XSD, blank, iri, literal, show_term
from tidelog.base.text.write import show_value
from tidelog.base.types import Named
from tidelog.base.values import Variant
from tidelog.session.program.static import format_source

PROGRAM = """
import rdf
prefix x: <http://x/>
input relation T(s: rdf::Term, p: rdf::Term, o: rdf::Term)
output relation Copy(s: rdf::Term, o: Option<rdf::Term>)
Copy(s, Some{o}) :- T(s, _, o).
"""
A, P = iri("http://x/a"), iri("http://x/p")
TERMS = {
    "<http://x/a>": A,
    "_:b": blank("b"),
    '"c"': literal("c"),
    '"c d"@en-us': literal("c d", LANG_STRING, "en-us"),
    f'"42"^^<{XSD}integer>': literal("42", f"{XSD}integer"),
    r'"\n\"\\é\u0000"': literal('\n"\\é\x00'),
}


class URIRef(str):
    """Like rdflib's, whose terms are texts of kinds of their own."""

    __slots__ = ()

    def n3(self) -> str:
        return f"<{self}>"


class BNode(URIRef):
    """Like rdflib's."""

    __slots__ = ()


class Literal(URIRef):
    """Like rdflib's."""

    language: str | None = None
    datatype: URIRef | None = None


def of_rdflib(text: str, language: str | None = None, datatype: URIRef | None = None) -> Literal:
    made = Literal(text)
    made.language, made.datatype = language, datatype
    return made


GIVEN = [
    *TERMS.items(),
    ({"tag": "Iri", "iri": "http://x/a"}, A),
    (A, A),
    (URIRef("http://x/a"), A),
    (BNode("b"), blank("b")),
    (of_rdflib("c"), literal("c")),
    (of_rdflib("c", "EN"), literal("c", LANG_STRING, "en")),
    (of_rdflib("1", datatype=URIRef(f"{XSD}integer")), literal("1", f"{XSD}integer")),
    (ox.NamedNode("http://x/a"), A),
    (ox.BlankNode("b"), blank("b")),
    (ox.Literal("c", language="en"), literal("c", LANG_STRING, "en")),
    (ox.Literal(7), literal("7", f"{XSD}integer")),
    (' rdf::Blank{"not one label"}', blank("not one label")),
]


@pytest.mark.parametrize(("given", "term"), GIVEN)
def test_what_is_given(given: Any, term: Variant) -> None:
    db = tidelog.Database(PROGRAM, facts={"T": [(A, P, given)]})
    assert db["T"].rows() == [(A, P, term)]
    assert db.query("T(s, _, $o)", {"o": given}).rows() == [(A,)]
    assert db["T"].where(o=given).rows() == [(A, P, term)]
    with db.transaction() as tx:
        tx.delete("T", [{"s": "<http://x/a>", "p": P, "o": given}])
    assert not len(db["T"])


@pytest.mark.parametrize("given", ["http://x/a", "<a>", '"a', "", 5, None, {"tag": "Iri"}, ("a",)])
def test_what_is_none(given: Any) -> None:
    with pytest.raises(DataError, match=r"rows\[0\], column `o`: expected"):
        tidelog.Database(PROGRAM, facts={"T": [(A, P, given)]})


@pytest.mark.parametrize("engine", ["columnar", "tuples", "reference"])
def test_frames(engine: Any) -> None:
    frame = pa.table({"s": ["<http://x/a>"] * len(TERMS), "p": ["<http://x/p>"] * len(TERMS), "o": [*TERMS]})
    db = tidelog.Database(PROGRAM, facts={"T": frame}, engine=engine)
    assert sorted(db["T"].to_arrow()["o"].to_pylist()) == sorted(map(show_term, TERMS.values()))
    assert set(db["Copy"].to_pandas()["o"]) == set(map(show_term, TERMS.values()))
    assert json.loads(json.dumps(db.query("T(_, _, o), rdf::is_iri(o)").as_json())) == [["<http://x/a>"]]
    optional = tidelog.Database("import rdf  input relation R(t: Option<rdf::Term>)", engine=engine)
    with optional.transaction() as tx:
        tx.insert("R", pa.table({"t": [None, "<http://x/a>", "Some{<http://x/b>}", "None"]}))
    assert optional["R"].cells() == [["None{}"], ["Some{.x = <http://x/a>}"], ["Some{.x = <http://x/b>}"]]
    again = tidelog.Database(PROGRAM, facts={"T": db["T"].to_arrow()}, engine=engine)
    assert again["Copy"].rows() == db["Copy"].rows()
    with pytest.raises(DataError, match="column `o`: expected rdf::Term, found 'a'"):
        tidelog.Database(PROGRAM, facts={"T": pa.table({"s": ["<http://x/a>"], "p": ["<http://x/p>"], "o": ["a"]})})


def test_files_of_text(tmp_path: Path) -> None:
    db = tidelog.Database(PROGRAM, facts={"T": [(A, P, term) for term in TERMS.values()]})
    tidelog.save_outputs(db, tmp_path)
    with (tmp_path / "Copy.csv").open(newline="") as file:
        cells = list(csv.reader(file))[1:]
    assert cells[0] == ["<http://x/a>", "Some{.x = <http://x/a>}"]
    with (tmp_path / "T.csv").open("w", newline="") as file:
        csv.writer(file).writerows(("<http://x/a>", "<http://x/p>", text) for text in TERMS)
    assert tidelog.Database(PROGRAM, facts=tmp_path)["T"].rows() == db["T"].rows()


odd = st.builds(iri, st.text()) | st.builds(blank, st.text()) | st.builds(literal, st.text(), st.text(), st.text())
usual = (
    st.sampled_from([*TERMS.values()])
    | st.builds(literal, st.text())
    | st.builds(literal, st.text(), st.just(LANG_STRING), st.sampled_from(["", "en", "EN", "de-at", "-"]))
    | st.builds(literal, st.text(), st.sampled_from([STRING, f"{XSD}int", "no iri", "http://a b"]))
)


@given(usual | odd)
def test_every_term_reads_back(term: Variant) -> None:
    program = tidelog.Database(PROGRAM)
    types = program.relation("T").plain.definitions
    for text in (show_value(term, Named(TERM), types), f"[{show_value(term, Named(TERM), types)}]"):
        kind = Named(TERM) if text[0] != "[" else Named("std::Vec", (Named(TERM),))
        assert read_value(text, kind, types) == (term if text[0] != "[" else (term,))
    assert show_plainly(term)


LANGUAGE = [
    ('"Ann"@en', literal("Ann", LANG_STRING, "en")),
    ('"Ann"@de-AT-1996', literal("Ann", LANG_STRING, "de-at-1996")),
    ('"Ann"@is', literal("Ann", LANG_STRING, "is")),
    ('"1"^^xsd:integer', literal("1", f"{XSD}integer")),
    ('"1"^^x:kind', literal("1", "http://x/kind")),
    ('"1"^^<http://y>', literal("1", "http://y")),
    ('""^^xsd:string', literal("")),
    ('"${1 + 1}"^^xsd:int', literal("2", f"{XSD}int")),
    ("owl:Thing", iri("http://www.w3.org/2002/07/owl#Thing")),
]


@pytest.mark.parametrize(("written", "term"), LANGUAGE)
def test_literals_in_the_language(written: str, term: Variant) -> None:
    db = tidelog.Database(f"{PROGRAM} T(x:a, x:p, {written}).")
    assert db["T"].rows() == [(A, P, term)]
    if "$" not in written:
        assert db.query(f"T(s, _, {written})").rows() == [(A,)]
    assert db.query(f"T(s, _, o), o == {written}").rows() == [(A, term)]
    once = format_source(Source("a.dl", f"R({written})."))
    assert format_source(Source("b.dl", once)) == once == f"R({written.replace('AT', 'at')}).\n"


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ('T(s, p, "a")', 'write `"a"^^xsd:string` or `"a"@en`'),
        ("T(s, p, 42)", 'write `"42"^^xsd:integer`'),
        ('T(s, p, "a"^^)', "expected a datatype"),
        ('T(s, p, "a"^^y:z)', "unknown prefix `y`"),
        ('T(s, p, "a" @en)', "expected"),
        ('T(s, p, "a"^^xsd: int)', "expected a datatype"),
    ],
)
def test_mistakes(goal: str, message: str) -> None:
    with pytest.raises(ProgramError, match="E0") as caught:
        tidelog.Database(PROGRAM).query(goal)
    assert message in str(caught.value)


def test_prefixes_that_come_with_the_module() -> None:
    """Unless the program has its own."""
    own = PROGRAM.replace("prefix x", "prefix xsd: <http://mine/>\nprefix x")
    db = tidelog.Database(f"{own} T(x:a, rdf:type, xsd:a).")
    assert db["T"].cells() == [["<http://x/a>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", "<http://mine/a>"]]
