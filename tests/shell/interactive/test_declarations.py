"""Declarations and facts that come and go in the shell."""

from pathlib import Path

from tests.shell.conftest import Tidelog

SCRIPT = """\
start;
:add input relation Age(name: string, years: u8)
:add typedef Kind = Young |
  Old{years: u8}
:add function kind(years: u8): Kind {
  if (years > 30) { Old{years} } else { Young }
}
:add output relation Known(name: string, kind: Kind)
:add Known(n, k) :- Age(n, y),
  var k = kind(y).
insert Age("ada", 36), insert Age("bo", 20);
:preview
commit;
dump Known;
:save saved
:remove Age
"""
OUTPUT = """\
Known:
Known{.name = "ada", .kind = Old{.years = 36}}: +1
Known{.name = "bo", .kind = Young{}}: +1
Known{.name = "ada", .kind = Old{.years = 36}}
Known{.name = "bo", .kind = Young{}}
saved/Edge.csv: 0 rows
saved/Age.csv: 2 rows
"""
LOADED = """\
:add input relation Age(name: string, years: u8)
:load saved
:save more
"""


def test_declarations(tidelog: Tidelog, reach: Path) -> None:
    ended = tidelog("shell", "reach.dl", "--no-init-snapshot", stdin=SCRIPT)
    assert ended.out == OUTPUT
    assert "the relation `Age` is in use by the rule" in ended.err
    assert ended.status == 1
    again = tidelog("shell", "reach.dl", "--no-init-snapshot", stdin=LOADED)
    assert (again.status, again.out) == (0, "more/Edge.csv: 0 rows\nmore/Age.csv: 2 rows\n")
    assert (reach / "more/Age.csv").read_text() == (reach / "saved/Age.csv").read_text()


def test_facts_at_the_beginning(tidelog: Tidelog, reach: Path) -> None:
    assert "Reach{.a = 1, .b = 2}" in tidelog("shell", "reach.dl", "--facts", "facts", stdin="").out
    (reach / "more.dl").write_text("output relation Loop(a: u32)\nLoop(x) :- Reach(x, x).\n")
    assert tidelog("shell", "reach.dl", "--no-init-snapshot", stdin=":load more.dl\ndump Loop;\n").status == 0
    assert "is followed by a folder" in tidelog("shell", "reach.dl", stdin=":load\n").err
    assert "is followed by a folder" in tidelog("shell", "reach.dl", stdin=":save\n").err
