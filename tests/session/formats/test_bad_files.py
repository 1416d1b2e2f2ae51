"""Files of facts that are damaged, odd or not files at all: the right rows or a clear error, never a traceback."""

import csv
import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tidelog import Database, DataError, ProgramError, UserError, load_facts, save_outputs
from tidelog.session.formats.remarks import Header

PROGRAM = """
input relation S(s: string)
input relation N(n: bigint)
output relation AllS(s: string)
output relation AllN(n: bigint)
AllS(s) :- S(s).
AllN(n) :- N(n).
"""
LINES = gzip.compress(b"hello\n" * 1000)
LARGE = gzip.compress(os.urandom(400_000).hex().encode() + b"\n")


def damaged(content: bytes, at: int) -> bytes:
    return content[:at] + b"\xff" * 5 + content[at + 5 :]


def opened(folder: Path, name: str, content: bytes) -> Database:
    (folder / name).write_bytes(content)
    return Database(PROGRAM, facts=folder)


@pytest.mark.parametrize("name", ["S.csv.gz", "S.tsv.gz", "S.jsonl.gz", "S.parquet.gz"])
@pytest.mark.parametrize(
    "content",
    [damaged(LINES, 20), LINES[:-4], LINES[: len(LINES) // 2], damaged(LINES, len(LINES) - 8), b"plain", b""],
    ids=["body", "end missing", "half", "checksum", "plain", "empty"],
)
def test_damaged_gzip(tmp_path: Path, name: str, content: bytes) -> None:
    if content == b"" and "parquet" not in name:
        assert opened(tmp_path, name, content).relation("S").count() == 0  # nothing at all is no row
        return
    with pytest.raises(DataError, match=rf"{name}: "):
        opened(tmp_path, name, content)


def test_damaged_gzip_of_a_large_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"S\.csv\.gz: "):
        opened(tmp_path, "S.csv.gz", damaged(LARGE, 300_000))


@pytest.mark.parametrize(("name", "form"), [("N.jsonl", "[{}]\n"), ("N.csv", "{}\n"), ("N.jsonl", '{{"n": {}}}\n')])
@pytest.mark.parametrize("sign", ["", "-"])
def test_integers_of_any_length(tmp_path: Path, name: str, form: str, sign: str) -> None:
    text = sign + "9" * 5000
    db = opened(tmp_path, name, form.format(text).encode())
    ((number,),) = db.relation("AllN").rows()
    assert number == (10**5000 - 1) * (-1 if sign else 1)
    save_outputs(db, tmp_path / "out")
    assert (tmp_path / "out" / "AllN.csv").read_text() == f"n\n{text}\n"


def test_a_long_integer_where_text_is_expected(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"S\.jsonl:1: column `s`: expected string, found 9{77}\.\.\.$"):
        opened(tmp_path, "S.jsonl", b"[" + b"9" * 5000 + b"]\n")


@pytest.mark.parametrize("size", [131_072, 131_073, 200_000, 600_000])
@pytest.mark.parametrize("quote", ["", '"'])
def test_cells_of_any_size(tmp_path: Path, size: int, quote: str) -> None:
    limit = csv.field_size_limit()
    db = opened(tmp_path, "S.csv", f"{quote}{'x' * size}{quote}\n".encode())
    assert db.relation("AllS").rows() == [("x" * size,)]
    assert csv.field_size_limit() == limit  # which is the process's, not ours
    with pytest.raises(DataError, match=r"S\.csv:2: expected 1 cells"):
        opened(tmp_path, "S.csv", f"{quote}{'x' * size}{quote}\na,b\n".encode())
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("S.jsonl", b'["\\ud800"]\n', r"S\.jsonl:1: column `s`: expected string \(Unicode text\), found '\\ud800'"),
        ("S.csv", b"\xed\xa0\x80\n", r"S\.csv: not UTF-8 text \(byte 0\)"),
        ("S.csv", "s\nx\n".encode("utf-16"), r"S\.csv: not UTF-8 text \(byte 0\)"),
        ("S.jsonl", b'{"\\ud800": 1}\n', r"S\.jsonl:1: .*column `s` is missing"),
    ],
)
def test_what_is_not_text(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    with pytest.raises(DataError, match=told):
        opened(tmp_path, name, content)


@pytest.mark.parametrize("rows", [[("a\ud800",)], [{"s": "\udfff"}], [("ä" * 100 + "\ud800",)] * 100])
def test_half_a_character_in_rows_from_python(rows: list[object]) -> None:
    db = Database(PROGRAM)
    with pytest.raises(DataError, match=r"column `s`: expected string \(Unicode text\)"), db.transaction() as tx:
        tx.insert("S", rows)
    assert db.relation("S").count() == 0


@pytest.mark.parametrize("text", ['R("\ud800").', "// \udc00", "R([|a\ud800|]).", 'R("a${"\ud800"}").'])
def test_half_a_character_in_a_program(text: str) -> None:
    with pytest.raises(ProgramError, match=r"error\[E0101\]: unexpected character U\+D"):
        Database(f"output relation R(s: string)\n{text}\n")


@pytest.mark.parametrize("name", ["S.csv", "S.tsv", "S.facts", "S.jsonl"])
def test_a_byte_order_mark(tmp_path: Path, name: str) -> None:
    content = '["x"]\n' if name == "S.jsonl" else "s\nx\n"
    program = tmp_path / "p.dl"
    program.write_text("\ufeff" + PROGRAM, encoding="utf-8")
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / name).write_text("\ufeff" + content, encoding="utf-8")
    for source in (program, "\ufeff" + PROGRAM):
        assert Database(source, facts=tmp_path / "facts").relation("AllS").rows() == [("x",)]


NO_FILES: dict[str, Callable[[Path], object]] = {
    "it is a folder": lambda path: path.mkdir(),
    "it is not a regular file": os.mkfifo,
    "it is not a regular file ": lambda path: path.symlink_to("/dev/zero"),
    "No such file or directory": lambda path: path.symlink_to("nowhere"),
    "Too many levels of symbolic links": lambda path: path.symlink_to(path.name),
}


@pytest.mark.parametrize("told", NO_FILES)
@pytest.mark.parametrize("name", ["S.csv", "S.jsonl", "S.parquet", "S.csv.gz"])
def test_an_input_that_cannot_be_read_is_not_empty(tmp_path: Path, told: str, name: str) -> None:
    NO_FILES[told](tmp_path / name)
    with pytest.raises(DataError, match=f"cannot read .*{name}: {told.strip()}"):
        Database(PROGRAM, facts=tmp_path)


def test_an_input_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "S.csv").write_text("x\n")

    def refuse(path: Path, *arguments: object, **more: object) -> None:  # root may read everything
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataError, match=r"cannot read .*S\.csv: Permission denied"):
        Database(PROGRAM, facts=tmp_path)
    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(UserError, match=r"cannot read .*: Permission denied"):
        Database(PROGRAM, facts=tmp_path)


def test_other_folders_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    assert Database(PROGRAM, facts=tmp_path).remarks.warnings == []


PAIRS = "input relation P(name: string, town: string)"


@pytest.mark.parametrize(
    ("name", "content", "suspected"),
    [
        ("P.csv", "Full Name,Home-town\nAda,London\n", True),
        ("P.csv", "Full Name,Home-town\n" + "Ada,London\n" * 40_000, True),
        ("P.tsv", "Full Name\tHome\nAda\tLondon\n", True),
        ("P.csv.gz", "Full Name,Home\nAda,London\n", True),
        ("P.csv", "name,town\nAda,London\n", False),  # it is one
        ("P.csv", "town,name\nLondon,Ada\n", False),  # this, too
        ("P.csv", "ada,byron\nbyron,john\n", False),  # occurs again
        ("P.csv", "Ada,London\n", False),  # nothing follows
        ("P.csv", "Ada,London\nBob,Rome\n", True),  # it might be one
        ("P.csv", "Ada,+44 20\nBob,Rome\n", False),  # no name
        ("P.csv", "x,x\nBob,Rome\n", False),  # not different
        ("P.facts", "Full Name\tHome\nAda\tLondon\n", False),  # headers are not usual
    ],
)
def test_a_first_line_that_looks_like_a_header_is_noted(
    tmp_path: Path, name: str, content: str, suspected: bool
) -> None:
    data = content.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    db = Database(PAIRS, facts=tmp_path)
    found = [note for note in db.remarks.notes if "looks like a header" in note]
    assert bool(found) == suspected
    rows = db.relation("P").count()
    without = Database(PAIRS, facts=tmp_path, header="no")
    assert without.remarks.notes == []
    if suspected:
        assert name in found[0]
        assert without.relation("P").count() == rows
        assert Database(PAIRS, facts=tmp_path, header="yes").relation("P").count() == rows - 1
        assert Database(PAIRS, facts=tmp_path, header="yes").remarks.notes == []


@pytest.mark.long(reason="many random files")
@pytest.mark.parametrize("repeated", [1, 40_000])
def test_header(tmp_path: Path, repeated: int) -> None:
    def read(content: str, header: Header) -> list[tuple[str, ...]]:
        (tmp_path / "P.csv").write_text(content)
        db = Database(PAIRS)
        load_facts(db, tmp_path, header=header)
        assert Database(PAIRS, facts=tmp_path, header=header).relation("P").rows() == db.relation("P").rows()
        return db.relation("P").rows()

    more = "London,Ada\n" * repeated
    assert read("town,name\n" + more, "yes") == read("town,name\n" + more, "auto") == [("Ada", "London")]
    assert read("town,name\n" + more, "no") == [("London", "Ada"), ("town", "name")]
    assert read("Town,Name\n" + more, "yes") == [("London", "Ada")]  # other names: columns in order
    assert read("\n" + "Town,Name\n" + more, "yes") == [("London", "Ada")]
    assert read('"To\nwn",Name\n' + more, "yes") == [("London", "Ada")]
    with pytest.raises(UserError, match="header: expected auto, yes or no, found 'maybe'"):
        read(more, "maybe")  # type: ignore[arg-type]


def test_a_header_of_a_relation_without_columns(tmp_path: Path) -> None:
    (tmp_path / "Go.csv").write_text("()\n")
    assert Database("input relation Go()", facts=tmp_path, header="yes").relation("Go").count() == 1
