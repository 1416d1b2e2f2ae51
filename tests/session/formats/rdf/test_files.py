"""Files of RDF wherever facts are read; outputs of triples; what cannot be read is an error."""

from __future__ import annotations

import gzip
import sys
from hashlib import blake2b
from pathlib import Path

import pytest
from click.testing import CliRunner

import tidelog
from tidelog.base.errors import DataError, MissingExtraError, UserError
from tidelog.base.text.terms import blank, iri, literal, show_term
from tidelog.shell.main import main

PROGRAM = """
import rdf
input relation T(s: rdf::Term, p: rdf::Term, o: rdf::Term)
output relation Copy(s: rdf::Term, p: rdf::Term, o: rdf::Term)
output relation Name(n: string)
Copy(s, p, o) :- T(s, p, o).
Name(n) :- T(_, rdf::Iri{"http://x/name"}, rdf::Literal{n, _, _}).
"""
TURTLE = """@prefix x: <http://x/> .
x:a x:name "Ann", "Anne"@FR ; x:knows [ x:name "Bob" ], _:c ; x:age 7 . _:genid1 x:name "C" .
"""
RDF_XML = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">
<rdf:Description rdf:about="http://x/a"><x:name>Ann</x:name></rdf:Description></rdf:RDF>"""
JSON_LD = '{"@id": "http://x/a", "http://x/name": "Ann"}'
LINES = '<http://x/a> <http://x/name> "Ann" .\n'


def facts(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    data = text.encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder


@pytest.mark.parametrize("ending", [".nt", ".nq", ".ttl", ".trig", ".rdf", ".jsonld"])
@pytest.mark.parametrize("compressed", ["", ".gz"])
def test_every_syntax(tmp_path: Path, ending: str, compressed: str) -> None:
    text = {".rdf": RDF_XML, ".jsonld": JSON_LD}.get(ending, LINES)
    folder = facts(tmp_path, f"T{ending}{compressed}", text)
    db = tidelog.Database(PROGRAM, facts=folder)
    assert db["Name"].rows() == [("Ann",)]
    loaded = tidelog.Database(PROGRAM)
    tidelog.load_facts(loaded, folder)
    assert loaded["T"].rows() == db["T"].rows() == [(iri("http://x/a"), iri("http://x/name"), literal("Ann"))]


def test_turtle_and_its_blank_nodes(tmp_path: Path) -> None:
    folder = facts(tmp_path, "T.ttl", TURTLE)
    rows = tidelog.Database(PROGRAM, facts=folder)["T"].rows()
    assert rows == tidelog.Database(PROGRAM, facts=folder)["T"].rows()
    own = f"_:genid-{blake2b(TURTLE.encode(), digest_size=4).hexdigest()}-1"
    assert {show_term(s) for s, _, _ in rows} == {"<http://x/a>", "_:genid1", own}
    assert {show_term(o) for _, _, o in rows} == {
        '"Ann"', '"Anne"@fr', '"Bob"', '"C"', own, "_:c", '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'
    }  # fmt: skip


def test_nodes_of_different_texts_are_different() -> None:
    """Unless they have a label."""
    texts = ['[] <http://x/name> "Ann" . _:b <http://x/name> "Bea" .', "[] <http://x/age> 7 . _:b <http://x/age> 8 ."]
    db = tidelog.Database(PROGRAM)
    goal = "T(x, <http://x/name>, n), T(x, <http://x/age>, a)"
    with db.transaction() as tx:
        for text in texts:
            tx.insert("T", tidelog.read_rdf(text, "ttl"))
    assert db.query(goal).cells() == [["_:b", '"Bea"', '"8"^^<http://www.w3.org/2001/XMLSchema#integer>']]
    with db.transaction() as tx:
        for number, text in enumerate(texts):
            tx.delete("T", tidelog.read_rdf(text, "ttl"))
            tx.insert("T", tidelog.read_rdf(text, "ttl", labels=f"x{number}-"))
    assert (len(db["T"]), db.query(goal).rows()) == (4, [])


def test_outputs_are_files_of_rdf(tmp_path: Path) -> None:
    folder = facts(tmp_path / "in", "T.ttl", TURTLE)
    db = tidelog.Database(PROGRAM, facts=folder)
    paths = tidelog.save_outputs(db, tmp_path / "out")
    assert [path.name for path in paths] == ["Copy.nt", "Name.csv"]
    (tmp_path / "out" / "Copy.nt").rename(tmp_path / "out" / "T.nt")
    (tmp_path / "out" / "Name.csv").unlink()
    assert tidelog.Database(PROGRAM, facts=tmp_path / "out")["T"].rows() == db["T"].rows()


def test_quads_and_strings(tmp_path: Path) -> None:
    program = """
    import rdf
    input relation Q(s: rdf::Term, p: rdf::Term, o: rdf::Term, g: Option<rdf::Term>)
    input relation S(s: string, p: istring, o: string, g: string)
    output relation Copy(s: rdf::Term, p: rdf::Term, o: rdf::Term, g: Option<rdf::Term>)
    Copy(s, p, o, g) :- Q(s, p, o, g).
    """
    quads = '<http://x/a> <http://x/b> "c" <http://g> .\n<http://x/a> <http://x/b> "c" .\n'
    facts(tmp_path / "in", "Q.nq", quads)
    db = tidelog.Database(program, facts=facts(tmp_path / "in", "S.nq", quads))
    assert {row[3] for row in db["S"].rows()} == {"", "<http://g>"}
    assert {row[2] for row in db["S"].rows()} == {'"c"'}
    (path,) = tidelog.save_outputs(db, tmp_path / "out")
    assert sorted(path.read_text().splitlines()) == sorted(quads.splitlines())


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("T.nt", "<http://a> <http://b> .\n", "T.nt:1: expected an object"),
        ("T.ttl", "@prefix x: <http://x/> .\n\nx:a x:b .\n", "T.ttl:3"),
        ("T.nq", "<http://a> <http://b> <http://c> <http://g> .\n", "there are quads, of the graph <http://g>"),
        ("T.ttl", '<http://a> <http://b> <<( <http://a> <http://b> "c" )>> .', "after RDF 1.1"),
        ("T.txt", "a\n", "T.txt cannot be read: files end in .csv, .tsv"),
        ("T.nt.gz", "", "T.nt.gz"),
    ],
)
def test_what_cannot_be_read_is_an_error(tmp_path: Path, name: str, text: str, message: str) -> None:
    folder = facts(tmp_path / "in", name, text)
    if name.endswith(".gz"):
        (folder / name).write_bytes(b"\x1f\x8b no")
    (tmp_path / "program.dl").write_text(PROGRAM)
    done = CliRunner().invoke(main, ["run", str(tmp_path / "program.dl"), "--facts", str(folder)])
    assert done.exit_code == 1
    assert message in done.output
    with pytest.raises(DataError):
        tidelog.Database(PROGRAM, facts=folder)


def test_a_relation_that_cannot_take_triples(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"but T has \(a: string, n: bit<8>\)"):
        tidelog.Database("input relation T(a: string, n: u8)", facts=facts(tmp_path, "T.nt", LINES))


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    assert tidelog.Database(PROGRAM, facts=facts(tmp_path / "nt", "T.nt", LINES))["Name"].rows() == [("Ann",)]
    with pytest.raises(MissingExtraError, match=r"pip install 'tidelog\[rdf\]'"):
        tidelog.Database(PROGRAM, facts=facts(tmp_path / "ttl", "T.ttl", LINES))


@pytest.mark.parametrize("engine", ["columnar", "tuples", "reference"])
def test_a_live_change(engine: str) -> None:
    db = tidelog.Database(PROGRAM, engine=engine)  # type: ignore[arg-type]
    with db.transaction() as tx:
        tx.insert("T", tidelog.read_rdf(LINES, "nt"))
        tx.insert("T", tidelog.read_rdf('@prefix x: <http://x/> . x:b x:name "Bob" .', "ttl"))
    with db.transaction() as tx:
        tx.delete("T", tidelog.read_rdf(LINES, "nt"))
    assert db["Name"].rows() == [("Bob",)]
    assert tx.result.changes["Name"].deleted == [("Ann",)]
    with pytest.raises(DataError, match="expected columns of types"), db.transaction() as tx:
        tx.insert("T", tidelog.read_rdf(LINES, "nq"))
    with pytest.raises(UserError, match="files of RDF end in"):
        tidelog.read_rdf("a.csv")
    with pytest.raises(UserError, match=r"cannot read a\.ttl"):
        tidelog.read_rdf("a.ttl")
    with pytest.raises(UserError, match="syntax: expected jsonld, nq, nt, owl, rdf, trig, ttl"):
        tidelog.read_rdf(LINES, "n3")
    assert [*tidelog.read_rdf(LINES, "turtle")] == [*tidelog.read_rdf(LINES, "application/n-triples")]


@pytest.mark.parametrize(
    "row", [(literal("a"), iri("http://p"), iri("http://o")), (iri("http://s"), blank("b"), iri("http://o"))]
)
def test_what_is_no_triple_is_not_written(tmp_path: Path, row: tuple[object, ...]) -> None:
    db = tidelog.Database(PROGRAM, facts={"T": [row]})
    with pytest.raises(DataError, match="is no triple of RDF"):
        tidelog.save_outputs(db, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("label", ["deadbeefdeadbeefdeadbeefdeadbeef", "0123456789abcdef"])
def test_labels_that_look_like_those_of_the_parser_are_kept(label: str) -> None:
    line = f"_:{label} <http://p> _:other .\n"
    assert [*tidelog.read_rdf(line, "ttl")] == [*tidelog.read_rdf(line, "nt")]
