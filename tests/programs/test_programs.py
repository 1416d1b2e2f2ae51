"""Every case of this folder gives the expected relations on every engine, by the command line and by the Python API."""

from pathlib import Path

import pytest

from tests.cases import case_name, externs_of, inside, program_cases, run_case
from tests.engines import IN_PROCESS
from tidelog import Database
from tidelog.base.plain.plain import Plain
from tidelog.session.database import plan_of
from tidelog.session.engines import EngineName
from tidelog.session.exchange import load_facts, outputs
from tidelog.session.formats.delimited import COMMA, read_delimited
from tidelog.session.formats.files import file_stem

CASES = program_cases()


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("engine", IN_PROCESS)
@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_command_line(case: Path, engine: EngineName, tmp_path: Path) -> None:
    printed = run_case(case, tmp_path / "out", engine)
    assert (printed.status, printed.err) == (0, ""), printed.err
    assert contents(tmp_path / "out") == contents(case / "expected")


@pytest.mark.parametrize("engine", IN_PROCESS)
@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_python_api(case: Path, engine: EngineName) -> None:
    externs = externs_of(case)
    with inside(case):
        database = Database(Path("program.dl"), engine=engine, externs=externs)
        if Path("facts").is_dir():
            load_facts(database, Path("facts"))
    plain = Plain(plan_of(database).types)
    for view in outputs(database):
        relation = plan_of(database).relations[view.name]
        expected = read_delimited(case / "expected" / f"{file_stem(view.name)}.csv", relation, plain, COMMA)
        assert set(view.rows()) == set(expected), view.name
        assert view.count() == len(expected)
    database.verify()


def test_there_are_cases() -> None:
    assert CASES
