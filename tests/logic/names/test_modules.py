"""Imports: where modules are found, and what they may be called."""

from pathlib import Path

import pytest

from tidelog.base.diagnostic import Report, render
from tidelog.base.span import Source
from tidelog.logic.names.modules import load_modules
from tidelog.logic.passes import analyse
from tidelog.logic.print import print_rule
from tidelog.logic.program import Program


def write(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        path = folder / (name.replace("__", "/") + ".dl")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "main.dl"


def check(main: Path | Source, *library: Path) -> Program:
    report = Report()
    source = main if isinstance(main, Source) else Source(str(main), main.read_text())
    program = analyse(source, report, library=library)
    assert program is not None, "\n".join(map(render, report.sorted()))
    return program


def test_a_module_is_found_beside_the_program(tmp_path: Path) -> None:
    main = write(tmp_path, main="import a::b\nR(x) :- S(x).\nrelation R(x: u8)", a__b="relation S(x: u8)\nS(1).")
    program = check(main)
    assert [print_rule(rule) for rule in program.rules] == ["R(x) :- a::b::S(x).", "a::b::S(1)."]
    assert list(program.relations)[:2] == ["R", "a::b::S"]


def test_library_folders_are_searched_in_order(tmp_path: Path) -> None:
    write(tmp_path / "one", m="function f(): u8 { 1 }")
    write(tmp_path / "two", m="function f(): u8 { 2 }")
    source = Source("<text>", "import m as n\nrelation R(x: u8)\nR(n::f()).")
    first = check(source, tmp_path / "one", tmp_path / "two")
    assert print_rule(first.rules[0]) == "R(m::f())."
    assert str(first.functions["m::f"].span.source.name).endswith("one/m.dl")


def test_a_module_of_the_program_goes_before_a_shipped_one(tmp_path: Path) -> None:
    main = write(tmp_path, main="import vec", vec="typedef Mine = Mine")
    report = Report()
    modules = load_modules(Source(str(main), main.read_text()), report)
    assert modules.library == {("std",), ("internment",)}


def test_the_prelude_cannot_be_replaced(tmp_path: Path) -> None:
    main = write(tmp_path, main="relation R(x: Option<u8>)", std="typedef Option<'A> = Nothing")
    assert len(check(main).types["std::Option"].constructors) == 2


def test_two_modules_may_import_the_same_one(tmp_path: Path) -> None:
    main = write(
        tmp_path,
        main="import a\nimport b\nrelation R(x: t)\nR(x) :- A(x), B(x).",
        a="import c\nrelation A(x: t)",
        b="import c\nrelation B(x: t)",
        c="typedef t = u8",
    )
    report = Report()
    assert analyse(Source(str(main), main.read_text()), report) is None
    assert [d.message for d in report.errors] == ["unknown type `t`"]  # imports are not passed on
    main.write_text("import c\n" + main.read_text())
    check(main)


def test_mistakes_of_a_module_name_its_file(tmp_path: Path) -> None:
    main = write(tmp_path, main="import a", a="relation R(x: nosuch)")
    report = Report()
    assert analyse(Source(str(main), main.read_text()), report) is None
    (mistake,) = report.errors
    assert str(mistake.span) == f"{tmp_path / 'a.dl'}:1:15"


@pytest.mark.parametrize("name", ["<text>", "a\0b", "x" * 5000])
def test_a_text_needs_no_file_name(name: str) -> None:
    check(Source(name, "relation R(x: u8)"))
