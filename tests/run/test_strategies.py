"""All strategies side by side: on random histories all agree with the reference engine, on state and on changes.

What is compared comes from the table of engines (`session.engines`), so that a strategy takes part by being registered.
Each history is followed by every strategy there is. The engines in process that have the strategy take turns, and so do
the choices that an engine offers beside it, such as its index. TIDELOG_STRATEGIES sets the number of histories.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from tests.generate.pipeline import answers, plan_text
from tidelog.plan.nodes import Plan
from tidelog.run.contract import engine as contract
from tidelog.run.contract.engine import Delta, Engine, Fallback
from tidelog.session.engines import CHOICES, ENGINES, STRATEGY, StrategyName, available, make_engine
from tidelog.session.soak.histories import History, Step, random_history
from tidelog.session.soak.spec import Program

HISTORIES = int(os.environ.get("TIDELOG_STRATEGIES", "200"))
LENGTH = 2
BLOCKS = 8
IN_PROCESS = [name for name in available() if name not in ("reference", "spark")]
Told = dict[str, tuple[frozenset[Any], frozenset[Any]]]


def test_the_strategies_of_the_papers_are_there() -> None:
    for name in ("columnar", "tuples"):
        assert {"auto", "ranked", "dred", "dred-c", "elastic", "modular", "recompute"} <= set(ENGINES[name].strategies)
    assert "dbsp" in ENGINES["columnar"].strategies


@pytest.mark.long(reason="random histories")
@pytest.mark.parametrize("block", range(BLOCKS))
def test_all_agree_with_the_reference_engine(block: int) -> None:
    for seed in range(block, HISTORIES, BLOCKS):
        random = Random(seed)
        compare(random_history(random, LENGTH), random)


def engines(plan: Plan, random: Random) -> Mapping[str, Engine]:
    """Every strategy for a plan, on one of its engines. None refuses a program without side effects."""
    found: dict[str, Engine] = {}
    for strategy in dict.fromkeys(strategy for name in IN_PROCESS for strategy in ENGINES[name].strategies):
        name = random.choice([name for name in IN_PROCESS if strategy in ENGINES[name].strategies])
        offered = [option for option in ENGINES[name].options if STRATEGY.get(option, strategy) == strategy]
        choices = {**CHOICES, "parallel": (1, 2)}
        options: Any = {option: random.choice(choices[option]) for option in offered if option in choices}
        found[f"{name} {strategy} {options}"] = make_engine(name, plan, strategy, **options)
    return found


def compare(history: History, random: Random) -> None:
    """Let all engines follow a history; state and changes of each must be those of the reference engine."""
    plan = plan_text(str(history.start))
    reference, others = make_engine("reference", plan), engines(plan, random)
    for step, program in history.programs():
        facts, after = given(step, program)
        told, state = shown(reference.update(facts, after)), answers(reference)
        for name, engine in others.items():
            found = shown(engine.update(facts, after))
            if answers(engine) != state or any(found.get(relation) != told.get(relation) for relation in state):
                pytest.fail(f"{name} differs at {step} of\n{program}\n{program.facts}")


def given(step: Step, program: Program) -> tuple[dict[str, Delta], Plan | None]:
    """What an engine is given in a step: changes of facts, and the plan of the program after it if its rules change."""
    facts = {
        name: Delta(step.inserted.get(name, ()), step.deleted.get(name, ()))
        for name in step.inserted.keys() | step.deleted.keys()
    }
    return facts, plan_text(str(program)) if step.rules_added or step.rules_removed else None


def shown(update: contract.Update) -> Told:
    """What changed, by relation."""
    return {name: (frozenset(c.inserted), frozenset(c.deleted)) for name, c in update.changes.items() if c}


@pytest.mark.parametrize("strategy", ["ranked", "dred", "elastic"])
def test_engines_do_the_same_work(strategy: StrategyName) -> None:
    """An algorithm is written once: on every engine it takes as many rounds and finds as many derivations.

    Strata in which nothing is found are left out: an engine that can tell so at once has not looked at them. Nothing is
    given up, since that depends on what operations cost in an engine.
    """
    for seed in range(1_000, 1_008):
        history = random_history(Random(seed), LENGTH)
        plan = plan_text(str(history.start))
        never = Fallback(math.inf)
        both = [make_engine(name, plan, strategy, fallback=never) for name in ("columnar", "tuples")]
        for step, program in history.programs():
            facts, after = given(step, program)
            one, other = (
                [
                    (w.relations, w.strategy, w.rounds, w.derivations)
                    for w in engine.update(facts, after).work
                    if w.derivations
                ]
                for engine in both
            )
            assert one == other, f"{step} of\n{program}\n{program.facts}"
