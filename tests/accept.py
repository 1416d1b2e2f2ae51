"""Writes the expected files of cases from what their programs do now; see tests/cases.py. Review the difference.

Arguments are parts of cases' names; without any, all cases are written.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from tests.cases import TESTS, case_name, check_case, error_cases, program_cases, run_case


def accept_program(case: Path) -> str:
    """Write what the reference engine gives; return what stood in the way."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        printed = run_case(case, out, "reference")
        if printed.status != 0:
            return printed.err
        shutil.rmtree(case / "expected", ignore_errors=True)
        shutil.copytree(out, case / "expected")
    return printed.err


def accept_error(case: Path) -> str:
    """Write what the check prints; return what stood in the way."""
    printed = check_case(case)
    (case / "expected.txt").write_text(printed.err)
    return "" if printed.err else "the check prints nothing"


def main(words: list[str]) -> int:
    failed = 0
    for accept, cases in ((accept_program, program_cases()), (accept_error, error_cases())):
        for case in cases:
            if not words or any(word.rstrip("/") in str(case.relative_to(TESTS.parent)) for word in words):
                problem = accept(case)
                print(f"{'FAILED ' if problem else ''}{case_name(case)}")  # noqa: T201
                if problem:
                    failed += 1
                    print(problem, file=sys.stderr)  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
