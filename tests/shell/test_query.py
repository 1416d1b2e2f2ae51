import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from tests.engines import IN_PROCESS
from tests.shell.conftest import Tidelog
from tidelog.shell.main import main

QUERY = ("query", "reach.dl")
FACTS = ("--facts", "facts")


@pytest.mark.parametrize("engine", IN_PROCESS)
def test_table(tidelog: Tidelog, reach: Path, engine: str) -> None:
    ended = tidelog(*QUERY, "Reach(1, x), not Edge(1, x)", *FACTS, "--engine", engine)
    assert (ended.status, ended.out, ended.err) == (0, "1 row\n x\n--\n10\n", "")


def test_goals_without_variables(tidelog: Tidelog, reach: Path) -> None:
    assert tidelog(*QUERY, "Reach(1, 10)", *FACTS).out == "true\n"
    assert tidelog(*QUERY, "Reach(10, 1)", *FACTS).out == "false\n"
    assert tidelog(*QUERY, "Reach(1, 10)", *FACTS, "--count").out == "1\n"
    assert tidelog(*QUERY, "Reach(1, 10)", *FACTS, "--format", "csv").out == "()\n"


def test_limit_and_count(tidelog: Tidelog, reach: Path) -> None:
    assert tidelog(*QUERY, "Reach(x, y)", *FACTS, "--limit", "1").out == "1 of 3 rows\nx  y\n-  -\n1  2\n"
    assert tidelog(*QUERY, "Reach(x, y)", *FACTS, "--limit", "0").out == "0 of 3 rows\n"
    assert tidelog(*QUERY, "Reach(x, y)", *FACTS, "--limit", "9").out.startswith("3 rows\n")
    assert tidelog(*QUERY, "Reach(x, y)", *FACTS, "--count").out == "3\n"
    assert tidelog(*QUERY, "Reach(x, y)", "--count").out == "0\n"


def test_formats(tidelog: Tidelog, reach: Path) -> None:
    goal = 'Reach(x, y), var t = "${x},${y}"'
    assert tidelog(*QUERY, goal, *FACTS, "--format", "csv", "--limit", "2").out == ('x,y,t\n1,2,"1,2"\n1,10,"1,10"\n')
    assert json.loads(tidelog(*QUERY, goal, *FACTS, "--format", "json", "--limit", "1").out) == {
        "columns": {"x": "bit<32>", "y": "bit<32>", "t": "string"},
        "rows": [[1, 2, "1,2"]],
    }
    written = CliRunner().invoke(main, [*QUERY, goal, *FACTS, "--format", "parquet"]).stdout_bytes
    (reach / "answers.parquet").write_bytes(written)
    assert pq.read_table(reach / "answers.parquet").sort_by("y").to_pydict()["t"][0] == "1,2"


def test_mistakes(tidelog: Tidelog, reach: Path) -> None:
    ended = tidelog(*QUERY, "Rech(1, x)", *FACTS)
    assert (ended.status, ended.out) == (1, "")
    assert "unknown relation `Rech`" in ended.err
    assert "<goal>:1:1" in ended.err
    assert "for which no value is given" in tidelog(*QUERY, "Reach($a, x)").err
    assert "has no columns" in tidelog(*QUERY, "Reach(1, 2)", *FACTS, "--format", "parquet").err
    for more in (("--limit", "1"), ("--format", "csv")):
        assert "--count prints a number" in tidelog(*QUERY, "Reach(x, y)", "--count", *more).err


def test_parameters(tidelog: Tidelog, reach: Path) -> None:
    assert tidelog(*QUERY, "Reach($from, x)", *FACTS, "--set", "from=1", "--format", "csv").out == "x\n2\n10\n"
    goal = "Reach(x, _), var t = ($text: string), ($a: Option<string>) != None"
    ended = tidelog(*QUERY, goal, *FACTS, "--set", 'text=a, "b"=c', "--set", 'a=Some{"q"}', "--format", "json")
    assert json.loads(ended.out)["rows"] == [[1, 'a, "b"=c'], [2, 'a, "b"=c']]
    assert "parameter `from`: " in (wrong := tidelog(*QUERY, "Reach($from, x)", "--set", "from=one")).err
    assert wrong.status == 1
    assert "expected NAME=VALUE" in tidelog(*QUERY, "Reach($from, x)", "--set", "from").err
    assert (
        "no parameter `$form`; did you mean `from`"
        in tidelog(*QUERY, "Reach($from, x)", "--set", "from=1", "--set", "form=1").err
    )


def test_limits_hold(tidelog: Tidelog, reach: Path) -> None:
    ended = tidelog(*QUERY, "Reach(_, x), Reach(_, y), Reach(_, z)", *FACTS, "--max-tuples", "4")
    assert (ended.status, ended.out) == (1, "")
    assert "tuples" in ended.err
