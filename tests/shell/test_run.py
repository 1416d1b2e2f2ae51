import gzip
import json
from pathlib import Path

import pytest

from tests.engines import IN_PROCESS
from tests.shell.conftest import Tidelog


def test_tables(tidelog: Tidelog, reach: Path) -> None:
    ended = tidelog("run", "reach.dl", "--facts", "facts")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == "Reach: 3 rows\na   b\n-  --\n1   2\n1  10\n2  10\n"


def test_tables_are_aligned_and_escaped(tidelog: Tidelog, tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(
        "output relation A(text: string, n: signed<32>, v: Vec<string>)\n"
        'A("two\\nlines", -5, ["x"]).\nA("\\u{1b}[31mred", 100, []).\n'
        "output relation Empty(x: u8)\noutput relation Go()\nGo().\n"
    )
    ended = tidelog("run", "p.dl")
    assert ended.err == ""
    assert ended.out.split("\n") == [
        "A: 2 rows",
        "text           n  v",
        "-----------  ---  -----",
        "\\x1b[31mred  100  []",
        'two\\nlines    -5  ["x"]',
        "",
        "Empty: 0 rows",
        "",
        "Go: 1 row",
        "",
    ]


@pytest.mark.parametrize("engine", IN_PROCESS)
def test_out(tidelog: Tidelog, reach: Path, engine: str) -> None:
    ended = tidelog("run", "reach.dl", "--facts", "facts", "--out", "out", "--engine", engine)
    assert (ended.status, ended.out, ended.err) == (0, "wrote out/Reach.csv (3 rows)\n", "")
    assert (reach / "out" / "Reach.csv").read_text() == "a,b\n1,2\n1,10\n2,10\n"
    assert tidelog("run", "reach.dl", "--facts", "facts", "--out", "out", "--quiet").out == ""


def test_json(tidelog: Tidelog, tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(
        "typedef Shape = Dot | Circle{r: double}\n"
        "output relation A(s: Shape, o: Option<u8>, m: Map<string, bigint>)\n"
        'A(Dot, None, ["x" -> 100000000000000000000000]).\nA(Circle{1.0 / 0.0}, Some{1}, map_empty()).\n'
    )
    ended = tidelog("run", "p.dl", "--json")
    assert ended.err == ""
    assert json.loads(ended.out) == {
        "relations": {
            "A": [
                [{"tag": "Dot"}, None, [["x", 100000000000000000000000]]],
                [{"tag": "Circle", "r": "Infinity"}, 1, []],
            ]
        }
    }


def test_remarks_go_to_standard_error(tidelog: Tidelog, reach: Path) -> None:
    (reach / "facts" / "Edge.csv").rename(reach / "facts" / "Egde.csv")
    ended = tidelog("run", "reach.dl", "--facts", "facts")
    assert (ended.status, ended.out) == (0, "Reach: 0 rows\n")
    assert ended.err == (
        "warning: facts/Egde.csv is not read: there is no input relation `Egde`; did you mean `Edge`?\n"
        "note: facts has no file for Edge: it is empty\n"
    )
    assert tidelog("run", "reach.dl", "--facts", "facts", "--quiet").err == ""


def test_malformed_rows(tidelog: Tidelog, reach: Path) -> None:
    (reach / "facts" / "Edge.csv").write_text("1,2\n2,x\n3\n")
    ended = tidelog("run", "reach.dl", "--facts", "facts", "--out", "out")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err == (
        "error: facts/Edge.csv:2: column `b`: expected bit<32>, found 'x'\n"
        "error: facts/Edge.csv:3: expected 2 cells (a, b), found 1: '3'\n"
    )
    assert not (reach / "out").exists()


def test_compressed_facts(tidelog: Tidelog, reach: Path) -> None:
    (reach / "facts" / "Edge.csv").unlink()
    (reach / "facts" / "Edge.facts.gz").write_bytes(gzip.compress(b"1\t2\n"))
    assert tidelog("run", "reach.dl", "--facts", "facts").out == "Reach: 1 row\na  b\n-  -\n1  2\n"


def test_mistakes_of_the_program(tidelog: Tidelog, tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text("output relation R(x: u8)\nR(x) :- Q(x).\n")
    ended = tidelog("run", "p.dl")
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith("error[E0201]:")
    assert "R(x) :- Q(x)." in ended.err


def test_errors_while_running(tidelog: Tidelog, tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text("output relation R(x: u8)\nrelation Q(x: u8)\nQ(0).\nR(1 / x) :- Q(x).\n")
    ended = tidelog("run", "p.dl")
    assert (ended.status, ended.out) == (1, "")
    assert "R(1 / x) :- Q(x)." in ended.err


def test_externs(tidelog: Tidelog, tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(
        'extern function shout(x: string): string\noutput relation R(x: string)\nR(shout("tide")).\n'
    )
    (tmp_path / "e.py").write_text(
        "from tidelog import Externs\nexterns = Externs()\n"
        "@externs.register('shout')\ndef shout(x):\n    return x.upper()\n"
    )
    assert "TIDE" in tidelog("run", "p.dl", "--externs", "e.py").out
    assert tidelog("run", "p.dl").status == 1
    (tmp_path / "e.py").write_text("externs = 1\n")
    assert "does not define `externs`" in tidelog("run", "p.dl", "--externs", "e.py").err
    (tmp_path / "e.py").write_text("1 / 0\n")
    ended = tidelog("run", "p.dl", "--externs", "e.py")
    assert (ended.status, ended.err) == (1, "error: e.py cannot be run: ZeroDivisionError: division by zero\n")
    assert "there is no file none.py" in tidelog("run", "p.dl", "--externs", "none.py").err


def test_libraries(tidelog: Tidelog, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "lib.dl").write_text("output relation L(x: u8)\nL(1).\n")
    (tmp_path / "p.dl").write_text("import lib\n")
    assert tidelog("run", "p.dl").status == 1
    ended = tidelog("run", "p.dl", "-L", "shared", "--out", "out")
    assert (ended.status, ended.out) == (0, "wrote out/lib.L.csv (1 row)\n")


def test_the_program_may_come_from_standard_input(tidelog: Tidelog) -> None:
    assert tidelog("run", "-", stdin="output relation R(x: u8)\nR(7).\n").out == "R: 1 row\nx\n-\n7\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.dl",), "error: cannot read none.dl: No such file or directory\n"),
        (("reach.dl", "--facts", "none"), "error: there is no folder none\n"),
        (("reach.dl", "--engine", "colmnar"), "error: there is no engine `colmnar`; there are"),
        (("reach.dl", "--fact", "x"), "Usage: "),
        ((), "Usage: "),
    ],
)
def test_wrong_command_lines(tidelog: Tidelog, reach: Path, arguments: tuple[str, ...], message: str) -> None:
    ended = tidelog("run", *arguments)
    assert (ended.status, ended.out) == (1, "")
    assert ended.err.startswith(message)


@pytest.mark.parametrize("engine", IN_PROCESS)
def test_the_first_evaluation_is_with_the_facts(tidelog: Tidelog, tmp_path: Path, engine: str) -> None:
    (tmp_path / "p.dl").write_text(
        "input relation Size(n: u32)\noutput relation UpTo(n: u32)\nUpTo(1).\nUpTo(x + 1) :- UpTo(x), not Size(x).\n"
    )
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "Size.csv").write_text("3\n")
    ended = tidelog("run", "p.dl", "--facts", "facts", "--engine", engine, "--max-tuples", "1000")
    assert (ended.status, ended.err, ended.out) == (0, "", "UpTo: 3 rows\nn\n-\n1\n2\n3\n")


def test_json_cannot_command_a_terminal(tidelog: Tidelog, tmp_path: Path) -> None:
    text = "a\x1b[31m\x7f\x9b\u202eb\u2066c\u061cd\u2028e\té🙂\\"
    (tmp_path / "p.dl").write_text("input relation R(s: string)\noutput relation Q(s: string)\nQ(s) :- R(s).\n")
    (tmp_path / "R.jsonl").write_text(json.dumps([text]) + "\n")
    ended = tidelog("run", "p.dl", "--facts", ".", "--json")
    assert json.loads(ended.out) == {"relations": {"Q": [[text]]}}
    assert ended.out == (
        '{"relations": {"Q": [["a\\u001b[31m\\u007f\\u009b\\u202eb\\u2066c\\u061cd\\u2028e\\té🙂\\\\"]]}}\n'
    )
