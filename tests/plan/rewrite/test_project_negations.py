"""Negated atoms lose their wildcards."""

from __future__ import annotations

from tests.plan.small import plan, program
from tidelog.plan.join.spine import spine
from tidelog.plan.nodes import AntiJoin
from tidelog.plan.rewrite.project_negations import project_negations
from tidelog.plan.show.text import show_pipeline


def test_a_program_without_wildcards_stays_the_same_object() -> None:
    given = program("H(x) :- R(x, _), not S(x).")
    assert project_negations(given) is given


def test_rules_share_the_auxiliary_relation() -> None:
    planned = plan("H(x) :- R(x), not S(x, _, 1).\nG(x) :- R(x), not S(x, _, x), not S(_, _, _), not S(_, 2, _).")
    made = {name: r for name, r in planned.relations.items() if r.auxiliary}
    assert list(made) == ["S#a.c", "S#_", "S#b"]
    assert [column.name for column in made["S#a.c"].columns] == ["a", "c"]
    rules = {rule.head: rule for stratum in planned.strata for rule in stratum.rules}
    assert rules["S#a.c"].origin.text == "S#a.c(a, c) :- S(a, _, c)."
    assert show_pipeline(rules["S#_"].full.tree) == "scan S(_, _, _)\ngive S#_()"
    assert show_pipeline(rules["H"].full.tree) == "scan R(x)\nwithout S#a.c(x, 1) on x\ngive H(x)"
    assert rules["H"].origin.text == "H(x) :- R(x), not S(x, _, 1)."


def test_no_antijoin_drops_a_column() -> None:
    planned = plan("H(x) :- R(x, y), not S(y, _), not T(_, x, 3).")
    antijoins = [
        node
        for stratum in planned.strata
        for rule in stratum.rules
        for variant in (rule.full, *rule.variants)
        for node in spine(variant.tree)
        if isinstance(node, AntiJoin)
    ]
    assert antijoins
    assert all(None not in node.right.terms for node in antijoins)
