"""docs/library.md says what the modules say, and the modules say whether an aggregate sees values or derivations."""

from __future__ import annotations

import re

from tests.std.library_page import ORDER, PAGE, page
from tests.std.test_library_checks import MODULES
from tidelog.logic.names.modules import SHIPPED


def test_the_page_is_in_step() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.std.library_page"


def test_every_module_is_described() -> None:
    assert set(MODULES) == set(ORDER)


def test_every_aggregate_says_what_it_sees() -> None:
    text = (SHIPPED / "std.dl").read_text(encoding="utf-8")
    group = text[text.index("// # Group") :]
    comment = ""
    for line in group.split("\n"):
        if line.startswith("//"):
            comment = line
        elif re.search(r"function \w+\(g: Group", line) and "group_key" not in line and " key(" not in line:
            assert "Sees distinct values." in comment or "Sees derivations." in comment, line
