"""Behaviour as files: the cases under tests/programs and tests/errors, and how they are run.

A case of tests/programs is a folder `<topic>/<case>` with `program.dl`, facts in `facts/`, and the content of every
output relation in `expected/R.csv`, written as `tidelog run --out` does. A case of tests/errors is a folder
`<CODE>_<slug>` with `program.dl` and `expected.txt`, what `tidelog check program.dl` prints. Either may have
`externs.py`, which defines `externs`. Modules to import stand beside `program.dl`. With `rules.dl`, a case of
tests/errors shows what adding those rules to a database of the program gives.

`scripts/accept` writes expected files from what the programs do now, for review.
"""

import os
import runpy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from tidelog import Database, Externs, ProgramError
from tidelog.shell.main import main

TESTS = Path(__file__).parent
PROGRAMS = TESTS / "programs"
ERRORS = TESTS / "errors"


def program_cases() -> list[Path]:
    return sorted(path.parent for path in PROGRAMS.glob("*/*/program.dl"))


def error_cases() -> list[Path]:
    return sorted(path.parent for path in ERRORS.glob("*/program.dl"))


def case_name(case: Path) -> str:
    return "/".join(case.relative_to(TESTS).parts[1:])


def externs_of(case: Path) -> Externs | None:
    """The Python functions that a case brings with it."""
    path = case / "externs.py"
    externs: Externs | None = runpy.run_path(str(path))["externs"] if path.exists() else None
    return externs


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str


def tidelog(case: Path, *arguments: str) -> Printed:
    """Run the command line in this process, inside a case's folder and with its extern functions."""
    externs = ["--externs", "externs.py"] if (case / "externs.py").exists() else []
    with inside(case):
        result = CliRunner().invoke(main, [*arguments, *externs])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Printed(result.exit_code, result.stdout, result.stderr)


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def run_case(case: Path, out: Path, engine: str) -> Printed:
    """Evaluate a case's program on its facts by the command line."""
    facts = ["--facts", "facts"] if (case / "facts").is_dir() else []
    return tidelog(case, "run", "program.dl", *facts, "--out", str(out), "--engine", engine, "--quiet")


def check_case(case: Path) -> Printed:
    """Check a case's program by the command line; with `rules.dl`, add those rules to a database of the program."""
    if (case / "rules.dl").exists():
        return _add_rules(case)
    return tidelog(case, "check", "program.dl")


def _add_rules(case: Path) -> Printed:
    with inside(case):
        tx = Database(Path("program.dl"), engine="reference").transaction().begin()
        try:
            tx.add_rules(Path("rules.dl").read_text())
            tx.preview()
        except ProgramError as error:
            return Printed(1, "", f"{error}\n")
        finally:
            tx.rollback()
    return Printed(0, "", "")
