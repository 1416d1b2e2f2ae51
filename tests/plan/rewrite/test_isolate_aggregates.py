"""Aggregates stand in rules of their own."""

from __future__ import annotations

from dataclasses import replace

from tests.plan.small import plan, program, rule
from tidelog.plan.rewrite.isolate_aggregates import isolate_aggregates
from tidelog.plan.show.text import show_pipeline

TEXT = "H(k, n) :- P(k), n = count(v) by k of R(k, v), n > 3."


def test_an_aggregate_among_other_literals() -> None:
    aggregate, rest = (rule for stratum in plan(TEXT).strata for rule in stratum.rules)
    assert aggregate.aggregated == (True,)
    assert show_pipeline(aggregate.full.tree) == f"group R(k, v) by k with n = count(v)\ngive {aggregate.head}(k, n)"
    assert show_pipeline(rest.full.tree) == f"scan P(k)\njoin {aggregate.head}(k, n) on k\nselect n > 3\ngive H(k, n)"
    assert rest.origin.text == aggregate.origin.text == TEXT


def test_an_aggregate_alone_stays() -> None:
    given = program("H(k, n) :- n = count(v) by k of R(k, v).")
    assert isolate_aggregates(given) is given


def test_rules_of_one_text_share_equal_aggregates_only() -> None:
    given = program(f"{TEXT}\n{TEXT}")
    first, second = given.rules
    assert len(isolate_aggregates(given).relations) == len(given.relations) + 1
    other = rule(TEXT.replace("count", "sum"))
    changed = replace(given, rules=(first, replace(other, origin=second.origin)))
    assert len(isolate_aggregates(changed).relations) == len(given.relations) + 2
