"""The typed program of each text in `golden/`, as `print_program` writes it.

After a change that is meant, write the files anew and review the difference:
`python -c "from tests.logic.test_golden import accept; accept()"`.
"""

from pathlib import Path

import pytest

from tests.logic.printing import print_program
from tidelog.base.diagnostic import Report, render
from tidelog.base.span import Source
from tidelog.logic.passes import analyse

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.dl"))


def printed(path: Path) -> str:
    report = Report()
    program = analyse(Source(path.name, path.read_text()), report)
    assert program is not None, "\n".join(map(render, report.sorted()))
    return print_program(program)


def accept() -> None:
    for path in GOLDEN:
        path.with_suffix(".txt").write_text(printed(path))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_typed_program(path: Path) -> None:
    assert printed(path) == path.with_suffix(".txt").read_text()


def test_there_are_texts() -> None:
    assert GOLDEN
