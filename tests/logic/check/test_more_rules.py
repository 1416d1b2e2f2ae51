"""Checking rules that come later gives what checking the whole text gives."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.cases import case_name, externs_of, inside, program_cases
from tests.logic.printing import print_program
from tidelog.base.diagnostic import Report
from tidelog.base.span import Source
from tidelog.lang.parse.parse import parse
from tidelog.lang.syntax import ImperativeRule, RuleDef
from tidelog.logic.passes import Analysis, analyse, analyse_openly
from tidelog.logic.print import print_rule
from tidelog.logic.program import Program

BASE = """
input relation A(x: u8, y: u8)
output relation Out(x: u8)
function twice(x: 'A): ('A, 'A) { (x, x) }
#[name = "first"]
Out(x) :- A(x, _).
"""


def opened(text: str = BASE) -> Analysis:
    analysis = analyse_openly(Source("base", text), Report())
    assert analysis is not None
    return analysis


def added(analysis: Analysis, program: Program, text: str) -> Program:
    report = Report()
    more = analysis.with_rules(program, Source("more", text), report)
    assert more is not None, report.errors
    return more


def mistakes(text: str) -> list[str]:
    report = Report()
    analysis = opened()
    assert analysis.with_rules(analysis.program, Source("more", text), report) is None
    return [d.code for d in report.errors]


@pytest.mark.parametrize("case", program_cases(), ids=case_name)
def test_the_last_rule_comes_later(case: Path) -> None:
    externs = externs_of(case)
    text = (case / "program.dl").read_text()
    rules = [d for d in parse(Source("", text), Report()).declarations if isinstance(d, RuleDef | ImperativeRule)]
    if not rules:
        return
    start = min((a.span.start for a in rules[-1].attributes), default=rules[-1].span.start + 2) - 2  # before the `#[`
    base, last, rest = text[:start], text[start : rules[-1].span.end], text[rules[-1].span.end :]
    with inside(case):
        whole = analyse(Source("program.dl", f"{base}{rest}\n{last}"), Report(), externs=externs)
        analysis = analyse_openly(Source("program.dl", base + rest), Report(), externs=externs)
    assert whole is not None
    assert analysis is not None
    more = added(analysis, analysis.program, last)
    # Rules of imported modules stand before an added one, but after those of the main text.
    assert sorted(print_program(more).splitlines()) == sorted(print_program(whole).splitlines())
    assert more.functions == whole.functions


def test_each_addition_starts_from_the_program_it_is_given() -> None:
    analysis = opened()
    one = added(analysis, analysis.program, "Out(p.0) :- A(_, y), var p = twice(y).")
    two = added(analysis, analysis.program, 'Out(x) :- A(x, x), "${twice(x).0}" != "3".')
    assert [len(program.rules) for program in (analysis.program, one, two)] == [1, 2, 2]
    both = added(analysis, one, 'Out(x) :- A(x, x), "${twice(x).0}" != "3".')
    assert [print_rule(rule) for rule in both.rules] == [
        "Out(x) :- A(x, _).",
        "Out(p.0) :- A(_, y), p := twice<bit<8>>(y).",
        'Out(x) :- A(x, x), string(twice<bit<8>>(x).0) != "3".',
    ]


def test_auxiliary_relations_of_equal_rules_stay_apart() -> None:
    analysis = opened()
    text = "Out(n as u8) :- A(x, y), A(y, _), var n = x.group_by(y).count()."
    twice = added(analysis, added(analysis, analysis.program, text), text)
    assert len([relation for relation in twice.relations.values() if relation.auxiliary]) == 2


def test_mistakes_of_the_new_rules_are_told() -> None:
    assert mistakes("Out(y) :- A(x, _).") == ["E0402"]
    assert mistakes('#[name = "first"] Out(1).') == ["E0418"]
    assert mistakes("relation B(x: u8)") != []


def test_the_name_of_a_removed_rule_is_free() -> None:
    analysis = opened()
    without = replace(analysis.program, rules=())
    assert len(added(analysis, without, '#[name = "first"] Out(1).').rules) == 1
