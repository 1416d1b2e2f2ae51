"""The grounding kit of a program as text."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

import tidelog
from tests.generate.pipeline import plan_text
from tidelog.run.dbsp.show import show_kit
from tidelog.shell.main import main

PROGRAM = """
input relation Link(a: string, b: string, port: u16)
input relation Tags(a: string, tags: Vec<string>)
output relation Open(a: string, b: string)
Open(a, b) :- Link(a, b, port), port > 1024.
Open(a, c) :- Link(a, b, port), port > 1024, not Link(b, "app", 80), Open(b, c).
output relation Tag(a: string, tag: string)
Tag(a, tag) :- Tags(a, tags), var tag = FlatMap(tags).
output relation Count(a: string, n: u64)
Count(a, 2 * n) :- Open(a, b), var n = b.group_by(a).count().
Count("all", n) :- Tag(t, x), var n = t.group_by(()).count().
"""
KIT = """level 0
  Open(a, b) :- Link(a, b, port), port > 1024.
    0 -> 1  Link(a, b, port), port > 1024  keep a, b
    1 =>    Open(a, b)
  Open(a, c) :- Link(a, b, port), port > 1024, not Link(b, "app", 80), Open(b, c).
    0 -> 2  Link(a, b, port), port > 1024  keep a, b
    2 -> 3  not Link(b, "app", 80)  keep a, b
    3 -> 4  Open(b, c)  keep a, c
    4 =>    Open(a, c)
  Tag(a, tag) :- Tags(a, tags), var tag = FlatMap(tags).
    0 -> 5  Tags(a, tags), var tag in tags  keep a, tag
    5 =>    Tag(a, tag)
level 1
  Count(a, 2 * n) :- Open(a, b), var n = b.group_by(a).count().
    groups of Open by a
      =>    Count(a, 2 * n)
  Count("all", n) :- Tag(t, x), var n = t.group_by(()).count().
    all of Tag
      =>    Count("all", n)
join orders
  Link
  Link by a, b, port
  Open by a
  Tag
  Tags
"""


def test_the_kit() -> None:
    assert show_kit(plan_text(PROGRAM)) == KIT


@pytest.mark.parametrize("indexed", [True, False])
def test_the_option(indexed: bool) -> None:
    db = tidelog.Database(PROGRAM, strategy="dbsp", indexed=indexed)
    with db.transaction() as tx:
        tx.insert("Link", [("a", "b", 2000), ("b", "c", 2000), ("c", "app", 80)])
    assert db["Open"].rows() == [("a", "b"), ("a", "c"), ("b", "c")]
    with pytest.raises(TypeError, match="indexed: expected True or False"):
        tidelog.Database(PROGRAM, strategy="dbsp", indexed="yes")  # type: ignore[arg-type]


def test_on_the_command_line() -> None:
    done = CliRunner().invoke(main, ["plan", "examples/network/network.dl", "--strategy", "dbsp"])
    assert done.exit_code == 0
    assert "join orders" in done.output
