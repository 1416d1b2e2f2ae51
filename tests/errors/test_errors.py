"""Every diagnostic is told as expected, and every code has a case."""

import re
from pathlib import Path

import pytest

from tests.cases import case_name, check_case, error_cases

CASES = error_cases()
ROOT = Path(__file__).parents[2]
CODES = set(re.findall(r"^\| ([EW]\d{4}) \| .+ \|$", (ROOT / "docs/diagnostics.md").read_text(), re.MULTILINE))


def code_of(case: Path) -> str:
    return case.name.partition("_")[0]


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_check_tells(case: Path) -> None:
    printed = check_case(case)
    assert printed.err == (case / "expected.txt").read_text()
    assert f"[{code_of(case)}]" in printed.err, "a case shows the code it is named after"
    assert printed.status == (0 if code_of(case).startswith("W") else 1)


def test_every_code_is_described() -> None:
    """The page has the codes that the modules report, and no others."""
    texts = (path.read_text() for path in (ROOT / "src" / "tidelog").rglob("*.py"))
    assert {code for text in texts for code in re.findall(r'"([EW]\d{4})"', text)} == CODES


@pytest.mark.parametrize("code", sorted(CODES))
def test_code_has_a_case(code: str) -> None:
    assert any(code_of(case) == code for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_case_has_a_code(case: Path) -> None:
    assert code_of(case) in CODES
