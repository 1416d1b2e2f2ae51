"""Every function of the standard library type-checks, and the Python side offers exactly what the modules declare."""

from __future__ import annotations

import time

import pytest

from tidelog.base.diagnostic import Report, render
from tidelog.base.span import Source
from tidelog.lang.parse.parse import parse
from tidelog.lang.syntax import FunctionDef, TransformerDef
from tidelog.logic.check.functions import Functions
from tidelog.logic.names.declare import declare
from tidelog.logic.names.modules import SHIPPED, load_modules
from tidelog.logic.std.externs import EXTERNS

MODULES = sorted("::".join(path.relative_to(SHIPPED).with_suffix("").parts) for path in SHIPPED.rglob("*.dl"))


@pytest.mark.parametrize("module", MODULES)
def test_every_function_checks(module: str) -> None:
    report = Report()
    modules = load_modules(Source("main", f"import {module}\n" if module != "std" else ""), report)
    declarations = declare(modules.by_path, report, ())
    functions = Functions(declarations, (EXTERNS,), report)
    functions.check()
    assert [render(d) for d in report.sorted()] == []


def declared_externs() -> set[str]:
    found = set()
    for module in MODULES:
        file = SHIPPED.joinpath(*module.split("::")).with_suffix(".dl")
        tree = parse(Source(module, file.read_text(encoding="utf-8")), Report())
        for d in tree.declarations:
            if isinstance(d, TransformerDef) or (isinstance(d, FunctionDef) and d.body is None):
                found.add(f"{module}::{d.name}")
    return found


def test_python_offers_what_the_modules_declare() -> None:
    assert declared_externs() == set(EXTERNS)
    assert all(EXTERNS[name].trusted for name in EXTERNS)


def test_the_prelude_is_quick_to_parse() -> None:
    text = (SHIPPED / "std.dl").read_text(encoding="utf-8")
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        parse(Source("std.dl", text), Report())
        best = min(best, time.process_time() - start)
    assert best < 0.1, "it took 0.006 s of processor time when this was written"
