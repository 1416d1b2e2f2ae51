"""Closures of a part of a relation are modules beside all other rules."""

from __future__ import annotations

import pytest

from tests.generate.pipeline import plan_text
from tidelog.logic.print import print_rule
from tidelog.plan.closures.recognise import Kind
from tidelog.plan.closures.replace_equals import ReplacingRule
from tidelog.plan.closures.split_modules import ClosureRule
from tidelog.plan.closures.split_parts import parts, split_parts
from tidelog.plan.closures.tell_modules import tell_modules
from tidelog.plan.nodes import Plan

TRIPLES = """
input relation W(s: u32, p: string, o: u32)
input relation G(p: string)
input relation Sub(p: string, q: string)
output relation P(s: u32, p: string, o: u32)
P(s, p, o) :- W(s, p, o).
P(s, q, o) :- P(s, p, o), Sub(p, q).
"""
IN = 'P(x, "in", z) :- P(x, "in", y), P(y, "in", z).\n'


def split(rules: str, earlier: Plan | None = None) -> Plan:
    return split_parts(plan_text(TRIPLES + rules), lambda *_: True, earlier)


def closing(plan: Plan) -> list[ClosureRule]:
    return [rule for stratum in plan.strata for rule in stratum.rules if isinstance(rule, ClosureRule)]


def test_a_property_by_name() -> None:
    (rule,) = closing(split(IN))
    assert rule.closure is not None
    assert (rule.closure.kind, [(column, const.value) for column, const in rule.closure.constants]) == (
        Kind.TRANSITIVE,
        [(1, "in")],
    )
    reads = {rule.head: rule.reads for stratum in split(IN).strata for rule in stratum.rules}
    assert reads[rule.external] == ("P",)


def test_a_symmetric_property() -> None:
    (rule,) = closing(split(IN + 'P(y, "in", x) :- P(x, "in", y).\nP(y, "of", x) :- P(x, "in", y).'))
    assert rule.closure is not None
    assert rule.closure.kind is Kind.SYMMETRIC_TRANSITIVE


@pytest.mark.parametrize(
    "rule",
    [
        "P(x, p, z) :- G(p), P(x, p, y), P(y, p, z).",
        "P(x, p, z) :- P(x, p, y), G(p), P(y, p, z), not Sub(p, p).",
        'P(x, p, z) :- P(y, p, z), P(x, p, y), P(_, "is", 3), Sub(p, "transitive").',
    ],
)
def test_properties_that_facts_name(rule: str) -> None:
    (found,) = closing(split(rule))
    assert found.closure is not None
    assert (found.closure.partition, found.closure.constants) == ((1,), ())


def test_parts_that_are_closed_alike_are_one_module() -> None:
    rules = IN + IN.replace("in", "of") + "P(x, p, z) :- G(p), P(x, p, y), P(y, p, z)."
    plan = split(rules)
    (found,) = closing(plan)
    assert found.closure is not None
    assert (found.closure.partition, found.closure.constants) == ((1,), ())
    assert len([rule for stratum in plan.strata for rule in stratum.rules if rule.head == found.external]) == 3
    assert len(closing(split(rules + 'P(y, "of", x) :- P(x, "of", y).'))) == 2


@pytest.mark.parametrize(
    "rule",
    [
        "P(x, p, z) :- P(x, p, y), P(y, p, z), Sub(p, p), W(x, p, _).",
        "P(x, p, z) :- P(x, p, y), P(y, q, z), Sub(p, q).",
        "P(x, p, z) :- P(x, p, y), P(y, p, z), x != z.",
        'P(x, "in", z) :- P(x, "in", y), P(y, "of", z).',
    ],
)
def test_what_asks_for_more_is_no_part(rule: str) -> None:
    assert not closing(split(rule))


SAME = """
P(y, "same", x) :- P(x, "same", y).
P(x, "same", z) :- P(x, "same", y), x != y, P(y, "same", z).
"""


def test_a_step_from_a_node_to_itself_may_be_left_out() -> None:
    (rule,) = closing(split(SAME))
    assert rule.closure is not None
    assert rule.closure.kind is Kind.SYMMETRIC_TRANSITIVE


@pytest.mark.parametrize(
    ("rule", "columns"),
    [
        ('P(y, p, o) :- P(x, "same", y), x != y, P(x, p, o).', (0,)),
        ('P(s, p, y) :- P(x, "same", y), P(s, p, x).', (2,)),
        ('P(s, p, y) :- P(x, "same", y), P(s, p, x). P(y, p, o) :- P(y, "same", x), P(x, p, o).', (0, 2)),
    ],
)
def test_replacing_equals_is_a_module(rule: str, columns: tuple[int, ...]) -> None:
    plan = split(SAME + rule)
    (found,) = [one for one in closing(plan) if isinstance(one, ReplacingRule)]
    assert found.columns == columns
    rules = [rule for stratum in plan.strata for rule in stratum.rules]
    fed = [print_rule(rule.source) for rule in rules if rule.head == found.external and rule.source is not None]
    assert len(fed) == len(columns)
    assert all('p != "same"' in text for text in fed)


@pytest.mark.parametrize(
    ("rule", "narrowed"),
    [
        ('P(s, p, y) :- P(s, p, x), P(y, "same", x), s != x.', True),
        ('P(s, p, y) :- P(x, "same", y), P(s, p, x), G(p).', True),
        ('P(s, p, y) :- P(x, "of", y), P(s, p, x).', False),
        ('P(s, p, y) :- P(x, "same", y), P(x, p, s).', False),
    ],
)
def test_equals_replaced_by_equals_are_closed_already(rule: str, narrowed: bool) -> None:
    plan = split(SAME + rule)
    assert not any(isinstance(one, ReplacingRule) for one in closing(plan))
    stratum = next(stratum for stratum in plan.strata if stratum.recursive)
    sources = [rule.source for rule in stratum.rules if rule.head == "P" and rule.source is not None]
    assert any('p != "same"' in print_rule(source) for source in sources) is narrowed


def test_what_is_equal_in_one_graph_is_replaced_in_others() -> None:
    """Of two columns that say what is equal, a tuple that differs in one is not closed already."""
    rules = SAME.replace('"same",', '"same", "g",') + 'P(s, p, g, y) :- P(x, "same", "g", y), P(s, p, g, x).'
    quads = TRIPLES.replace("p: string, o", "p: string, g: string, o").replace("p, o)", "p, g, o)")
    plan = split_parts(plan_text(quads.replace("q, o)", "q, g, o)") + rules), lambda *_: True)
    assert closing(plan)
    assert not any("!=" in print_rule(r.source) for s in plan.strata for r in s.rules if r.source and r.head == "P")


def test_a_closure_that_is_all_of_its_stratum_is_none() -> None:
    plan = plan_text(TRIPLES.replace("P(s, q, o) :- P(s, p, o), Sub(p, q).", "") + IN)
    assert not [part for stratum in plan.strata for part in parts(stratum)]


def test_rules_that_stay_are_the_same_objects() -> None:
    before = split(IN)
    after = split(IN + "P(y, p, x) :- P(x, p, y), G(p).", before)
    assert closing(before)[0] is closing(after)[0]
    made = [{id(r) for s in plan.strata for r in s.rules if "#" in r.head + r.identity} for plan in (before, after)]
    assert len(made[0]) == 3
    assert made[0] == made[1]


def test_a_plan_says_which_parts() -> None:
    (said,) = tell_modules(plan_text(TRIPLES + IN)).values()
    assert said == [
        'module of a part of P: transitive closure, column 1 is "in"',
        "module of all other rules: semi-naive",
    ]


def test_a_plan_says_where_equals_are_replaced() -> None:
    (said,) = tell_modules(plan_text(TRIPLES + SAME + 'P(s, p, y) :- P(x, "same", y), P(s, p, x).')).values()
    assert said == [
        'module of a part of P: symmetric-transitive closure, column 1 is "same"',
        'module of P: equals in place of each other in column 2, column 1 is "same"',
        "module of all other rules: semi-naive",
    ]
