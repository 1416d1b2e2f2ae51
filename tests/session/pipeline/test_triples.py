"""Sources of RDF: every syntax by the driver, lines of triples and quads by the executors; both read the same."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tidelog import DataError, UserError
from tidelog.base.tuning.files import Pipelines
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.session.pipeline.run import Pipeline

PROGRAM = """
import rdf
prefix x: <http://x/>
input relation T(s: rdf::Term, p: rdf::Term, o: rdf::Term)
input relation Q(s: rdf::Term, p: rdf::Term, o: rdf::Term, g: Option<rdf::Term>)
input relation S(s: string, p: string, o: string)
output relation Name(x: rdf::Term, n: string)
Name(x, n) :- T(x, x:name, rdf::Literal{n, _, _}).
Name(x, n) :- Q(x, x:name, rdf::Literal{n, _, _}, Some{x:g}).
Name(<http://x/s>, o) :- S(_, "<http://x/name>", o).
"""
TRIPLES = """# people
<http://x/a> <http://x/name> "Ann \\u00e9"@EN .

_:b\t<http://x/name> "B\\"ob" .
<http://x/a> <http://x/knows> _:b .
"""
QUADS = '<http://x/c> <http://x/name> "Cy" <http://x/g> .\n<http://x/d> <http://x/name> "Di" .\n'
PEOPLE = [["<http://x/a>", "Ann é"], ["<http://x/c>", "Cy"], ["<http://x/s>", '"Eve"'], ["_:b", 'B"ob']]
BY_SPARK = Tuning(pipelines=Pipelines(here_bytes=0, here_rows=0, driver_rows=0))


SOURCES = {"T": ("nt", "t"), "Q": ("nquads", "q.nq"), "S": ("turtle", "s.ttl")}


def described(folder: Path, sources: dict[str, tuple[str, str]], more: str = "") -> Path:
    (folder / "p.dl").write_text(PROGRAM)
    text = 'program = "p.dl"\nstate = "state"\n'
    for relation, (form, path) in sources.items():
        text += f'[[source]]\nrelation = "{relation}"\nformat = "{form}"\npath = "{path}"\n{more}'
    (folder / "p.toml").write_text(text)
    return folder / "p.toml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t").mkdir()
    head, tail = TRIPLES[: TRIPLES.index("_:b")], TRIPLES[TRIPLES.index("_:b") :]
    (tmp_path / "t" / "1.nt").write_text(head)
    (tmp_path / "t" / "2.nt.gz").write_bytes(gzip.compress(tail.encode()))
    (tmp_path / "q.nq").write_text(QUADS)
    (tmp_path / "s.ttl").write_text('@prefix x: <http://x/> . x:e x:name "Eve" .')
    return tmp_path


def people(file: Path, spark: SparkSession | None = None, tuning: Tuning = DEFAULT) -> list[list[str]]:
    with Pipeline(file, spark=spark, tuning=tuning) as pipeline:
        pipeline.run()
        return pipeline.show("Name").cells()


def test_the_driver_reads_every_syntax(folder: Path) -> None:
    assert people(described(folder, SOURCES)) == PEOPLE


@pytest.mark.spark
def test_executors_read_lines(folder: Path, spark: SparkSession) -> None:
    file = described(folder, SOURCES)
    assert people(file, spark, BY_SPARK) == PEOPLE
    (folder / "q.nq").write_text(QUADS.replace("Di", "Dee").replace('"Dee" .', '"Dee" <http://x/g> .'))
    assert people(file, spark, BY_SPARK) == [*PEOPLE[:2], ["<http://x/d>", "Dee"], *PEOPLE[2:]]


@pytest.mark.spark
def test_what_executors_cannot_read(folder: Path, spark: SparkSession) -> None:
    (folder / "t" / "3.nt").write_text('<http://x/f> <http://x/name> "Flo" .\n<http://x/f> "name" "F" .\n')
    file = described(folder, {"T": SOURCES["T"]})
    with pytest.raises(DataError, match=r"3\.nt.*expected a predicate"):
        people(file)
    with pytest.raises(DataError, match=r'source T, .*3\.nt, row 2: not a row of nt: .*expected a predicate.* "name"'):
        people(file, spark, BY_SPARK)
    assert people(described(folder, {"T": SOURCES["T"]}, 'on_error = "quarantine"\n'), spark) == [
        ["<http://x/a>", "Ann é"], ["<http://x/f>", "Flo"], ["_:b", 'B"ob']
    ]  # fmt: skip
    with pytest.raises(DataError, match=r"row 1: .*a quad, where a relation takes triples"):
        people(described(folder, {"T": SOURCES["Q"]}), spark, BY_SPARK)


@pytest.mark.parametrize(
    ("form", "path", "more", "error", "message"),
    [
        ("ttl", "s.ttl", 'columns = { s = "x" }\n', UserError, "a source of RDF has no `columns`"),
        ("nt", "t", 'options = { sep = ";" }\n', UserError, "a source of RDF has no `options`"),
        ("ttl", "none.ttl", "", DataError, "there are none that it can reach"),
        ("ttl", "q.nq", "", DataError, r"source T.*q\.nq:1"),
    ],
)
def test_mistakes(folder: Path, form: str, path: str, more: str, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        people(described(folder, {"T": (form, path)}, more))
