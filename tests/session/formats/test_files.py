"""Reading and writing files; the fast reader of text files is compared with the slow one, which defines the format."""

import gzip
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.session.strategies import DEFINITIONS, types, values
from tidelog.base import types as t
from tidelog.base.errors import DataError, UserError
from tidelog.base.plain.plain import Plain
from tidelog.base.tuning.files import Files
from tidelog.base.tuning.table import DEFAULT
from tidelog.base.types import UNIT, Field, Named, Type
from tidelog.base.values import Variant
from tidelog.plan.nodes import Relation
from tidelog.run.contract.engine import Row
from tidelog.session.formats.delimited import COMMA, TAB, Dialect, read_delimited, read_rows, write_csv, write_rows
from tidelog.session.formats.delimited_arrow import read_columns
from tidelog.session.formats.files import FORMATS, read_facts, write_outputs
from tidelog.session.frames.arrow import TableRows, make_table

PLAIN = Plain(DEFINITIONS)


def relation(name: str, role: str, **columns: Type) -> Relation:
    return Relation(name, role, tuple(Field(column, type) for column, type in columns.items()), UNIT)


LINK = relation("Link", "input", a=t.STRING, port=t.Bit(16))
DOWN = relation("lib::Down", "input", a=t.STRING)
REACH = relation("Reach", "output", a=t.STRING, b=t.STRING)
RELATIONS = {declared.name: declared for declared in (LINK, DOWN, REACH)}


def facts(folder: Path, **files: str) -> dict[str, list[Row]]:
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return {name: list(rows) for name, rows in read_facts(folder, RELATIONS, PLAIN).rows.items()}


# --- folders ---------------------------------------------------------------------------------------------------------


def test_formats(tmp_path: Path) -> None:
    rows = [("x,y", 1), ('say "hi"', 2)]
    written = {
        "Link.csv": 'a,port\n"x,y",1\n"say ""hi""",2\n',
        "Link.tsv": 'a\tport\nx,y\t1\nsay "hi"\t2\n',
        "Link.facts": 'x,y\t1\nsay "hi"\t2\n',
        "Link.jsonl": '["x,y", 1]\n\n{"port": 2, "a": "say \\"hi\\""}\n',
    }
    for name, text in written.items():
        for ending, content in (("", text.encode()), (".gz", gzip.compress(text.encode()))):
            path = tmp_path / f"{name}{ending}"
            path.write_bytes(content)
            assert read_facts(tmp_path, RELATIONS, PLAIN).rows["Link"] == rows, path
            path.unlink()
    table = pa.table({"port": [1, 2], "a": ["x,y", 'say "hi"']})
    pq.write_table(table, tmp_path / "Link.parquet")
    assert list(read_facts(tmp_path, RELATIONS, PLAIN).rows["Link"]) == rows
    content = (tmp_path / "Link.parquet").read_bytes()
    (tmp_path / "Link.parquet").unlink()
    (tmp_path / "Link.parquet.gz").write_bytes(gzip.compress(content))
    assert list(read_facts(tmp_path, RELATIONS, PLAIN).rows["Link"]) == rows


def test_a_qualified_relation_has_dots_in_its_file_name(tmp_path: Path) -> None:
    assert facts(tmp_path, lib__Down__csv="x\n", Link__csv="") == {"Link": [], "lib::Down": [("x",)]}


def test_remarks(tmp_path: Path) -> None:
    for name in ("Lnk.csv", "Reach.csv", "Link.csv", "Link.txt", "notes.md", ".hidden"):
        (tmp_path / name).touch()
    found = read_facts(tmp_path, RELATIONS, PLAIN)
    assert found.notes == [f"{tmp_path} has no file for lib::Down: it is empty"]
    assert found.warnings == [
        f"{tmp_path}/Link.txt is not read: files end in {', '.join(FORMATS)}, also with .gz",
        f"{tmp_path}/Lnk.csv is not read: there is no input relation `Lnk`; did you mean `Link`?",
        f"{tmp_path}/Reach.csv is not read: Reach is an output relation",
        f"{tmp_path}/notes.md is not read: there is no input relation `notes.md`",
    ]


def test_two_files_for_a_relation(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"Link has several files, it can have one: Link\.csv, Link\.tsv"):
        facts(tmp_path, Link__csv="", Link__tsv="")


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no folder"):
        read_facts(tmp_path / "none", RELATIONS, PLAIN)


def test_all_mistakes_are_told_together(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        facts(tmp_path, Link__csv='a,port\nx,70000\n"two\nlines",y\nx\n', lib__Down__csv="x,y\n")
    assert str(caught.value).split("\n") == [
        f"{tmp_path}/Link.csv:2: column `port`: expected bit<16>, found '70000'",
        f"{tmp_path}/Link.csv:3: column `port`: expected bit<16>, found 'y'",
        f"{tmp_path}/Link.csv:5: expected 2 cells (a, port), found 1: 'x'",
        f"{tmp_path}/lib.Down.csv:1: expected 1 cells (a), found 2: 'x,y'",
    ]


def test_twenty_mistakes_are_enough(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        facts(tmp_path, Link__csv="x,y\n" * 30)
    lines = str(caught.value).split("\n")
    assert len(lines) == 21
    assert lines[-1] == f"{tmp_path}/Link.csv: and 10 more mistakes"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("[1, 2]", "column `a`: expected string, found 1"),
        ("{", "not JSON: Expecting property name enclosed in double quotes (column 2)"),
        ('{"a": "x"}', "Link, a line: column `port` is missing in {'a': 'x'}"),
        ('"x"', "Link, a line: expected (a: string, port: bit<16>), found 'x'"),
    ],
)
def test_mistakes_in_json_lines(line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        facts(tmp_path, Link__jsonl=f"\n{line}\n")
    assert str(caught.value) == f"{tmp_path}/Link.jsonl:2: {message}"


def test_files_that_are_not_what_they_seem(tmp_path: Path) -> None:
    (tmp_path / "Link.csv").write_bytes(b"x,1\n\xff,2\n")
    with pytest.raises(DataError, match="not UTF-8 text"):
        read_facts(tmp_path, RELATIONS, PLAIN)
    (tmp_path / "Link.csv").unlink()
    (tmp_path / "Link.csv.gz").write_text("x,1\n")
    with pytest.raises(DataError, match="Not a gzipped file"):
        read_facts(tmp_path, RELATIONS, PLAIN)
    (tmp_path / "Link.csv.gz").unlink()
    (tmp_path / "Link.parquet").write_text("x,1\n")
    with pytest.raises(DataError, match="not a Parquet file"):
        read_facts(tmp_path, RELATIONS, PLAIN)


def test_outputs_are_sorted_and_quoted(tmp_path: Path) -> None:
    written = write_outputs(
        tmp_path / "new" / "out", {"Reach": {("b", "x"), ("a", "y,z"), ("a", "")}}, RELATIONS, PLAIN
    )
    assert written == [tmp_path / "new" / "out" / "Reach.csv"]
    assert written[0].read_text() == 'a,b\na,\na,"y,z"\nb,x\n'
    assert [path.name for path in written[0].parent.iterdir()] == ["Reach.csv"]


def test_outputs_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(UserError, match="cannot write"):
        write_outputs(tmp_path / "out", {"Reach": []}, RELATIONS, PLAIN)


# --- text files ------------------------------------------------------------------------------------------------------


@st.composite
def contents(draw: st.DrawFn) -> tuple[Relation, list[Row]]:
    columns = draw(st.lists(types, max_size=3))
    declared = Relation("R", "input", tuple(Field(f"c{i}", type) for i, type in enumerate(columns)), UNIT)
    return declared, draw(st.lists(st.tuples(*map(values, columns)), max_size=5, unique=True))


@given(contents())
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, given: tuple[Relation, list[Row]]) -> None:
    declared, rows = given
    path = tmp_path_factory.mktemp("files") / "R.csv"
    write_csv(path, rows, declared, PLAIN)
    assert set(read_rows(path, declared, PLAIN, COMMA)) == set(rows)
    if declared.columns:
        fast = read_columns(path, declared, PLAIN, COMMA)
        assert fast is None or set(fast) == set(rows)


NUMBERS = ["0", "1", "255", "256", "-1", "-128", "+1", "0x1f", "1_0", "007", "-0", " 1", "1 ", '"1"']
REALS = ["1.5", "1e3", "nan", "NaN", "Infinity", "-inf", ".5", "5.", "1e999", "-0.0"]
TEXTS = ["", "a b", '"a"', '"a,b"', '"a""b"', '"x\ny"', "é", "()", "true", "True", '"true"']
cells = st.one_of(
    st.sampled_from([*NUMBERS, *REALS, *TEXTS]), st.text(st.sampled_from('ab"\t,\r\n 1-+.x_é'), max_size=4)
)


SIMPLE: list[Type] = [t.STRING, t.Bit(8), t.Signed(8), t.Bit(64), t.BOOL, t.DOUBLE, t.FLOAT, t.BIGINT]


@st.composite
def texts(draw: st.DrawFn) -> tuple[list[Type], list[list[str]]]:
    columns = draw(st.lists(st.sampled_from(SIMPLE), min_size=1, max_size=2))
    return columns, draw(st.lists(st.lists(cells, min_size=len(columns), max_size=len(columns)), max_size=3))


@pytest.mark.long(reason="many random files")
@settings(max_examples=500)
@given(texts(), st.sampled_from([COMMA, TAB]), st.sampled_from(["\n", "\r\n"]))
def test_the_fast_reader_agrees_with_the_slow_one(
    tmp_path_factory: pytest.TempPathFactory, given: tuple[list[Type], list[list[str]]], dialect: Dialect, end: str
) -> None:
    columns, lines = given
    declared = relation("R", "input", **{f"c{i}": type for i, type in enumerate(columns)})
    path = tmp_path_factory.mktemp("files") / "R.csv"
    path.write_bytes("".join(dialect.separator.join(line) + end for line in lines).encode())
    fast = read_columns(path, declared, PLAIN, dialect)
    if fast is not None:
        assert list(fast) == read_rows(path, declared, PLAIN, dialect)


def test_large_files_are_read_by_arrow(tmp_path: Path) -> None:
    by_arrow = Files(read_bytes=0)
    path = tmp_path / "Link.csv"
    path.write_text('a,port\n"x\ny",1\nz,2\n')
    rows = read_delimited(path, LINK, PLAIN, COMMA, by_arrow)
    assert hasattr(rows, "__arrow_c_stream__")
    assert list(rows) == [("x\ny", 1), ("z", 2)]
    path.write_text("a,port\nx,1\nz,-2\n")
    with pytest.raises(DataError, match=r"Link\.csv:3: column `port`: expected bit<16>, found '-2'"):
        read_delimited(path, LINK, PLAIN, COMMA, by_arrow)


def text_of(rows: list[Row], declared: Relation, tuning: Files = DEFAULT.files) -> str:
    file = io.StringIO()
    write_rows(file, rows, declared.columns, PLAIN, tuning)
    return file.getvalue()


@pytest.mark.parametrize(
    ("type", "value", "cell"),
    [
        (t.STRING, "", '""'),
        (t.STRING, "a b", "a b"),
        (t.STRING, "a\rb", '"a\rb"'),
        (t.DOUBLE, 1.0, "1"),
        (t.BOOL, True, "true"),
        (Named("Severity"), Variant("Low", 0, ()), "Low{}"),
        (Named("Point"), Variant("Point", 0, (1, -2)), '"Point{.x = 1, .y = -2}"'),
        (Named(t.VEC, (t.STRING,)), ("a", "b"), '"[""a"", ""b""]"'),
        (t.Tuple((t.Bit(8), t.STRING)), (1, "x"), '"(1, ""x"")"'),
    ],
)
def test_cells(type: Type, value: Any, cell: str) -> None:
    assert text_of([(value,)], relation("R", "output", c=type)) == f"c\n{cell}\n"


@st.composite
def arrow_contents(draw: st.DrawFn) -> tuple[Relation, list[Row]]:
    columns = draw(st.lists(st.sampled_from([*SIMPLE[:5], t.DOUBLE]), min_size=1, max_size=3))
    declared = relation("R", "input", **{f"c{i}": type for i, type in enumerate(columns)})
    return declared, draw(st.lists(st.tuples(*map(values, columns)), max_size=6))


@given(arrow_contents())
def test_arrow_columns_are_written_the_same(given: tuple[Relation, list[Row]]) -> None:
    declared, rows = given
    file = io.StringIO()
    write_rows(file, TableRows(make_table(rows, declared.columns, PLAIN)), declared.columns, PLAIN)
    assert file.getvalue() == text_of(rows, declared)


def test_many_rows_are_written_by_arrow() -> None:
    rows: list[Row] = [("b", 2), ("", 10), ("a,b", 1)]
    assert text_of(rows, LINK, Files(written_rows=0)) == text_of(rows, LINK)


def test_a_relation_without_columns(tmp_path: Path) -> None:
    go = relation("Go", "input")
    assert (text_of([], go), text_of([()], go)) == ("", "()\n")
    (tmp_path / "Go.csv").write_text("()\n")
    assert read_facts(tmp_path, {"Go": go}, PLAIN).rows == {"Go": [()]}


def test_a_header_is_known_by_the_column_names(tmp_path: Path) -> None:
    path = tmp_path / "Link.csv"
    path.write_text("a,ports\n")
    with pytest.raises(DataError, match="expected bit<16>, found 'ports'"):
        read_rows(path, LINK, PLAIN, COMMA)
    path.write_text("\ufeffa,port\nx,1\n")
    assert read_rows(path, LINK, PLAIN, COMMA) == [("x", 1)]


@pytest.mark.parametrize("header", ["port,a", '"port",a', "\ufeffport,a"])
def test_a_header_decides_the_order(header: str, tmp_path: Path) -> None:
    path = tmp_path / "Link.csv"
    path.write_text(f"{header}\n1,x\n2,y\n")
    expected = [("x", 1), ("y", 2)]
    assert read_rows(path, LINK, PLAIN, COMMA) == expected
    assert list(read_columns(path, LINK, PLAIN, COMMA) or []) == expected
    path.write_text(f"{header}\n1\n")
    with pytest.raises(DataError, match="expected 2 cells"):
        read_rows(path, LINK, PLAIN, COMMA)


def test_a_facts_file_has_its_columns_in_order(tmp_path: Path) -> None:
    words = relation("Words", "input", a=t.STRING, b=t.STRING)
    (tmp_path / "Words.facts").write_text("b\ta\n")
    assert read_facts(tmp_path, {"Words": words}, PLAIN).rows == {"Words": [("b", "a")]}
