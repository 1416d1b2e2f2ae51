"""Antrea's controller runs as it is, and changes what DDlog's command line says that it changes."""

import itertools

import pytest
from click.testing import CliRunner

from tests.ddlog.sources import DDLOG
from tidelog.shell.main import main

FOLDER = DDLOG / "test" / "antrea"


@pytest.mark.skipif(not FOLDER.exists(), reason="DDlog's sources are not on this machine")
@pytest.mark.long(reason="126 transactions with 16,512 changes")
def test_all_changes() -> None:
    program, script = FOLDER / "networkpolicy_controller.dl", (FOLDER / "antrea.dat").read_text()
    ended = CliRunner().invoke(main, ["shell", str(program)], input=script.removesuffix("profile;\n"))
    expected = (FOLDER / "antrea.dump.expected").read_text().splitlines()
    assert ended.stdout.splitlines() == list(itertools.takewhile(lambda line: line != "Profile:", expected))
