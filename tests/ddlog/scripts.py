"""The scripts of DDlog's own test suite: programs, commands and what its command line printed.

`python -m tests.ddlog.scripts` runs all of them, or those that are named, and says which print the same, byte for byte.
Tests of the library have one program that imports all of them; DDlog's `test-libs.sh` says which these are.
"""

import difflib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from tests.ddlog.sources import DDLOG
from tidelog.shell.main import main

FOLDER = DDLOG / "test" / "datalog_tests"
EXTERNS = Path(__file__).with_name("externs.py")
LIBRARY = re.compile(r"^(test_lib|test_nofb_lib) (\w+)$", re.MULTILINE)
FLAGS = re.compile(r'^extraflags\[(\w+)\]="([^"]*)"$', re.MULTILINE)
REFERENCE = {"modules", "simple"}
"""Programs with groups in recursion."""
PROGRAMS = {"test_lib": "lib_test.dl", "test_nofb_lib": "lib_test_no_flatbuf.dl"}


@dataclass(frozen=True)
class Script:
    """A script, its program, and options of the command line."""

    name: str
    program: Path
    options: tuple[str, ...] = ()

    def run(self) -> tuple[str, str]:
        """Return what the shell prints, and its mistakes."""
        arguments = ["shell", str(self.program), "--ddlog", "--externs", str(EXTERNS), *self.options]
        ended = CliRunner().invoke(main, arguments, input=(FOLDER / f"{self.name}.dat").read_text())
        if ended.exception is not None and not isinstance(ended.exception, SystemExit):
            raise ended.exception
        return ended.stdout, ended.stderr

    @property
    def expected(self) -> str:
        """What DDlog's command line printed."""
        return (FOLDER / f"{self.name}.dump.expected").read_text()


def scripts() -> list[Script]:
    """Return the scripts that DDlog's sources have commands and an expected dump of; none if there are no sources."""
    return [_script(path.stem) for path in sorted(FOLDER.glob("*.dat")) if path.with_suffix(".dump.expected").exists()]


def _script(name: str) -> Script:
    for kind, tested in LIBRARY.findall((FOLDER / "test-libs.sh").read_text()):
        if tested == name:
            return Script(name, FOLDER / PROGRAMS[kind], ("--no-init-snapshot",))
    flags = dict(FLAGS.findall((FOLDER / "run-tests.sh").read_text()))
    engine = ("--engine", "reference") if name in REFERENCE else ()
    return Script(name, FOLDER / f"{name}.dl", (*flags.get(name, "").split(), *engine))


def _report(names: list[str]) -> Iterator[str]:
    same = 0
    chosen = [script for script in scripts() if not names or script.name in names]
    for script in chosen:
        printed, mistakes = script.run()
        expected = script.expected
        if printed == expected:
            same += 1
            yield f"{script.name}: the same"
            continue
        lines = list(difflib.unified_diff(expected.splitlines(), printed.splitlines(), "DDlog", "Tidelog", n=0))
        different = sum(line[0] in "+-" for line in lines[2:])
        yield f"{script.name}: {different} lines differ" + "".join(f"\n  {x}" for x in mistakes.splitlines() if names)
        yield from lines if names else ()
    yield f"{same} of {len(chosen)} scripts print the same"


if __name__ == "__main__":
    for text in _report(sys.argv[1:]):
        print(text)  # noqa: T201  (its result is what it prints)
