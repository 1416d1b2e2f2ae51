"""Plans as text, JSON, DOT and Mermaid; the expected files are in `golden`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.plan.small import plan, rule
from tests.plan.trees import show_tree
from tidelog.plan.join.translate import translate
from tidelog.plan.nodes import Plan
from tidelog.plan.show.dot import show_dot
from tidelog.plan.show.json import plan_data, show_json
from tidelog.plan.show.mermaid import show_mermaid
from tidelog.plan.show.rule_graph import rule_label
from tidelog.plan.show.text import show_rule, show_text

GOLDEN = Path(__file__).parent / "golden"
PROGRAM = """
Open(a, b) :- Link(a, b, p), not Blocked(p, _).
Reach(a, b) :- Open(a, b).
#[hop] Reach(a, c) :- Reach(a, b), Open(b, c), c != a.
Count(b, n) :- n = count(a) by b of Reach(a, b).
Busy(b, v, 1) :- Count(b, n), Host(b), n > 3 and b < 9, m = n * 2, v in f(m), not Open(b, v).
"""
SHOW = {"plan.txt": show_text, "plan.json": show_json, "plan.dot": show_dot, "plan.mmd": show_mermaid}


@pytest.fixture(scope="module")
def small() -> Plan:
    return plan(PROGRAM)


@pytest.mark.parametrize("name", SHOW)
def test_golden(name: str, small: Plan) -> None:
    """To accept a change on purpose, write what `SHOW` gives into the file."""
    assert SHOW[name](small) == (GOLDEN / name).read_text(encoding="utf-8")


def test_json_is_complete_and_flat(small: Plan) -> None:
    data = json.loads(show_json(small))
    assert data == plan_data(small)
    rules = [rule for stratum in data["strata"] for rule in stratum["rules"]]
    assert len(rules) == sum(len(stratum.rules) for stratum in small.strata)
    assert all(rule["full"][-1]["op"] == "project" for rule in rules)


def test_without_variants(small: Plan) -> None:
    text = show_text(small, variants=False)
    assert "from scratch" in text
    assert "changes" not in text


def test_labels_are_escaped() -> None:
    tricky = plan("H(x) :- R(x), x < 3, x != 1.")
    assert 'label="H(x) :- R(x), x < 3, x != 1."' in show_dot(tricky)
    assert "x #60; 3" in show_mermaid(tricky)


def test_a_long_rule_is_cut_in_pictures() -> None:
    (planned,) = plan(f"H(x0) :- {', '.join(f'R(x{i}, x{i + 1})' for i in range(50))}.").strata[0].rules
    assert len(rule_label(planned)) == 60
    assert rule_label(planned).endswith("…")


def test_deep_trees_are_shown() -> None:
    text = f"H(x0) :- {', '.join(f'R(x{i}, x{i + 1})' for i in range(1500))}."
    planned = plan(text)
    assert show_tree(translate(rule(text))).count("\n") == 3000 - 1
    assert show_rule(planned.strata[0].rules[0], variants=False).count("\n") > 1500
