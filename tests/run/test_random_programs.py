"""The reference engine against brute force and clingo, and every form of a program against every other.

The number of programs is small by default; TIDELOG_PROGRAMS sets it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings

from tests.generate.checking import follow
from tests.generate.pipeline import answers, evaluate, plan_text, reference_answers
from tests.generate.strategies import histories, programs
from tidelog.base.diagnostic import Report
from tidelog.base.span import Source
from tidelog.lang.format.format import format_module
from tidelog.lang.parse.parse import parse
from tidelog.plan.nodes import Plan, Project, Rule, Scan, Version
from tidelog.run.contract.engine import Delta
from tidelog.run.reference.algebra import Algebra
from tidelog.run.reference.engine import ReferenceEngine
from tidelog.run.reference.evaluate import Evaluator
from tidelog.session.soak.brute import brute_force
from tidelog.session.soak.draw.grow import grow
from tidelog.session.soak.histories import History, random_history
from tidelog.session.soak.spec import Program, Row

PROGRAMS = int(os.environ.get("TIDELOG_PROGRAMS", "60"))
State = dict[str, frozenset[Row]]
Bag = Counter[Row]


@pytest.mark.parametrize("block", range(10))
def test_the_reference_agrees_with_brute_force(block: int) -> None:
    for seed in range(block, PROGRAMS, 10):
        program = grow(Random(seed))
        assert evaluate(program) == brute_force(program), f"seed {seed}\n{program}"


@settings(max_examples=20)
@given(programs())
def test_the_reference_agrees_with_brute_force_and_shrinks(program: Program) -> None:
    assert evaluate(program) == brute_force(program)


def test_programs_are_worth_running() -> None:
    grown = [grow(Random(seed)) for seed in range(40)]
    results = [brute_force(program) for program in grown]
    text = "\n".join(map(str, grown))
    assert sum(len(p.rules) for p in grown) > 200
    assert sum(bool(rows) for result in results for rows in result.values()) > 0.8 * sum(map(len, results))
    for feature in ("not ", "group_by", "FlatMap", "; ", "Some{", "()", "_", "min(", "output relation D3"):
        assert feature in text


@pytest.mark.parametrize("seed", range(0, PROGRAMS, 4))
def test_formatting_keeps_the_meaning(seed: int) -> None:
    program = grow(Random(seed))
    report = Report()
    tree = parse(Source("random.dl", str(program)), report)
    formatted = format_module(tree)
    assert parse(Source("random.dl", formatted), report) == tree
    assert not report.diagnostics
    assert reference_answers(formatted, program.facts) == evaluate(program)


@pytest.mark.parametrize("seed", range(0, PROGRAMS, 6))
def test_histories_on_the_reference(seed: int) -> None:
    follow(random_history(Random(seed), 6), ReferenceEngine)


@pytest.mark.parametrize("seed", range(0, PROGRAMS, 6))
def test_folding_constants_keeps_the_meaning(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    program = grow(Random(seed))
    folded = evaluate(program)
    monkeypatch.setattr("tidelog.logic.passes.fold_constants", lambda rule: rule)
    assert evaluate(program) == folded


def rules_of(plan: Plan) -> Iterator[Rule]:
    for stratum in plan.strata:
        yield from stratum.rules


def bag(plan: Plan, tree: Project, versions: dict[Version, State]) -> Bag:
    """The derivations of a tree, each version of the relations being as given."""

    def read(scan: Scan) -> frozenset[Row]:
        return versions[scan.version].get(scan.relation, frozenset())

    return Counter(Algebra(Evaluator(plan.functions, plan.types), read).derivations(tree))


def state_of(engine: ReferenceEngine) -> State:
    return {name: frozenset(engine.rows(name)) for name in engine.plan.relations}


@pytest.mark.parametrize("seed", range(0, PROGRAMS, 2))
def test_optimised_trees_derive_the_same(seed: int) -> None:
    program = grow(Random(seed))
    engine = ReferenceEngine(plan_text(str(program)))
    engine.update({name: Delta(rows) for name, rows in program.facts.items()})
    everything = {Version.ALL: state_of(engine)}
    for rule in rules_of(engine.plan):
        assert bag(engine.plan, rule.full.tree, everything) == bag(engine.plan, rule.body, everything), rule.identity


def signed_change(plan: Plan, rule: Rule, old: State, new: State) -> Bag:
    """What the delta variants of a rule say about its derivations: gained ones count 1, lost ones -1."""
    inserted = {name: new[name] - old[name] for name in new}
    deleted = {name: old[name] - new[name] for name in new}
    total: Bag = Counter()
    for variant in rule.variants:
        for delta, sign in ((inserted, 1), (deleted, -1)):
            versions = {Version.OLD: old, Version.DELTA: delta, Version.NEW: new, Version.ALL: new}
            for row, weight in bag(plan, variant.tree, versions).items():
                total[row] += -sign * weight if variant.negative else sign * weight
    return total


@pytest.mark.parametrize("seed", range(0, PROGRAMS, 2))
def test_delta_variants_find_each_changed_derivation_once(seed: int) -> None:
    history = random_history(Random(seed), 5, rule_changes=False)
    engine = ReferenceEngine(plan_text(str(history.start)))
    for step in history.steps:
        old = state_of(engine)
        engine.update(
            {
                name: Delta(step.inserted.get(name, ()), step.deleted.get(name, ()))
                for name in step.inserted.keys() | step.deleted.keys()
            }
        )
        new = state_of(engine)
        for rule in rules_of(engine.plan):
            if any(rule.aggregated):
                continue
            gained = bag(engine.plan, rule.body, {Version.ALL: new})
            gained.subtract(bag(engine.plan, rule.body, {Version.ALL: old}))
            change = signed_change(engine.plan, rule, old, new)
            assert {r: w for r, w in change.items() if w} == {r: w for r, w in gained.items() if w}, rule.identity


@settings(max_examples=5)
@given(histories(4))
def test_histories_that_shrink(history: History) -> None:
    engine = follow(history, ReferenceEngine)
    assert answers(engine) == evaluate(list(history.programs())[-1][1])
