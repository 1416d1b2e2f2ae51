"""Every diagnostic is told as expected, and every code has a case."""

from importlib import import_module
from pathlib import Path

import pytest

from tests.cases import case_name, check_case, error_cases

CASES = error_cases()
CODES = {code for folder in ("lang", "logic", "plan") for code in import_module(f"tidelog.{folder}.codes").CODES}


def code_of(case: Path) -> str:
    return case.name.partition("_")[0]


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_check_tells(case: Path) -> None:
    printed = check_case(case)
    assert printed.err == (case / "expected.txt").read_text()
    assert f"[{code_of(case)}]" in printed.err, "a case shows the code it is named after"
    assert printed.status == (0 if code_of(case).startswith("W") else 1)


@pytest.mark.parametrize("code", sorted(CODES))
def test_code_has_a_case(code: str) -> None:
    assert any(code_of(case) == code for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_case_has_a_code(case: Path) -> None:
    assert code_of(case) in CODES
