"""Programs that are right and fail on their facts: every engine stops with the same message, and writes nothing.

A case is a folder with `program.dl`, `facts/`, `externs.py` if needed, and `expected.txt`, what `tidelog run` prints.
"""

from pathlib import Path

import pytest

from tests.cases import case_name, run_case
from tests.engines import IN_PROCESS

CASES = sorted(path.parent for path in Path(__file__).parent.glob("*/program.dl"))


@pytest.mark.parametrize("engine", IN_PROCESS)
@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_run_fails(case: Path, engine: str, tmp_path: Path) -> None:
    printed = run_case(case, tmp_path / "out", engine)
    assert printed.err == (case / "expected.txt").read_text()
    assert printed.status == 1
    assert not (tmp_path / "out").exists()
