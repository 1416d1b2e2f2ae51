"""Commands that are recorded and replayed, and scripts that go on after a mistake."""

from pathlib import Path

import pytest

from tests.shell.conftest import Tidelog

PROGRAM = """\
input relation Stock(item: string, count: u8) primary key (s) s.item
output relation Few(item: string, left: u8)
Few(item, 100 / count) :- Stock(item, count), count < 10.
"""
SCRIPT = """\
start;
insert Stock("tea", 3),
insert Stock("ink", 4);
strat;
insert Stock("oil", 900); insert Stock("pen", 5);
insert Stock("a", 1), insert Stock("b", 1),
insert Stock("tea", 7);
commit dump_changes;
# a comment
start; insert Stock("nil", 0); commit;
start; delete_key Stock "ink"; commit; dump;
insert Stock("x", 1);
exit;
"""
PRINTED = """\
Few:
Few{.item = "ink", .left = 25}: +1
Few{.item = "pen", .left = 20}: +1
Few{.item = "tea", .left = 33}: +1
Few:
Few{.item = "pen", .left = 20}
Few{.item = "tea", .left = 33}

"""
SAME_KEY = (
    'error: line 7: Stock{.item = "tea", .count = 7} has the same primary key as Stock{.item = "tea", .count = 3};'
    " upsert replaces it"
)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.dl").write_text(PROGRAM)


@pytest.mark.usefixtures("program")
def test_what_was_executed_is_recorded_and_does_the_same_again(tidelog: Tidelog) -> None:
    ended = tidelog("shell", "p.dl", "--keep-going", "--record", "log.dat", stdin=SCRIPT)
    assert (ended.status, ended.out) == (1, PRINTED)
    assert [line for line in ended.err.splitlines() if line.startswith("error: line")] == [
        "error: line 4: expected a command (`:help` lists them), found `strat;`",
        "error: line 5: expected a bit<8>, between 0 and 255, found 900",
        SAME_KEY,
        "error: line 10: 100 / 0: division by zero, with count = 0",
        "error: line 12: insert: no transaction is in progress: `start;` begins one",
    ]  # fmt: skip
    recorded = Path("log.dat").read_text()
    assert "rollback;" in recorded
    assert "strat" not in recorded
    again = tidelog("shell", "p.dl", stdin=recorded)
    assert (again.status, again.out, again.err) == (0, PRINTED, "")


@pytest.mark.usefixtures("program")
def test_a_script_without_mistakes(tidelog: Tidelog) -> None:
    ended = tidelog("shell", "p.dl", "--keep-going", stdin="echo one; exit; echo two;")
    assert (ended.status, ended.out, ended.err) == (0, "one\n", "")


@pytest.mark.usefixtures("program")
def test_a_file_that_cannot_be_written(tidelog: Tidelog) -> None:
    ended = tidelog("shell", "p.dl", "--record", "no/log.dat", stdin="")
    assert (ended.status, ended.err) == (1, "error: cannot write no/log.dat: No such file or directory\n")
