"""The facts of every case come and go in several updates; after each, an engine has what they give from scratch.

An engine also tells what changed: exactly the difference between the states before and after.
"""

from pathlib import Path
from random import Random

import pytest

from tests.cases import case_name, externs_of, inside, program_cases
from tests.engines import IN_PROCESS
from tidelog import Database
from tidelog.base.plain.plain import Plain
from tidelog.plan.nodes import Plan
from tidelog.run.contract.engine import Delta, Engine, Row
from tidelog.run.reference.engine import ReferenceEngine
from tidelog.session.database import plan_of
from tidelog.session.engines import EngineName, make_engine
from tidelog.session.facts.pending import copies
from tidelog.session.formats.files import read_facts

ENGINES = [name for name in IN_PROCESS if name != "reference"]
CASES = [case for case in program_cases() if (case / "facts").is_dir()]
Facts = dict[str, set[Row]]


def planned(case: Path) -> Plan:
    externs = externs_of(case)
    with inside(case):
        return plan_of(Database(Path("program.dl"), engine="reference", externs=externs))


def history(facts: Facts, random: Random) -> list[Facts]:
    """States of the facts: some, others, all, all but one, none of one relation, and all again."""
    some = {name: {row for row in rows if random.random() < 0.5} for name, rows in facts.items()}
    others = {
        name: {row for row in rows if row not in some[name] or random.random() < 0.3} for name, rows in facts.items()
    }
    states = [some, others, facts]
    present = [name for name, rows in facts.items() if rows]
    if present:
        name = random.choice(present)
        lost = random.choice(sorted(facts[name], key=repr))
        states += [{**facts, name: facts[name] - {lost}}, {**facts, random.choice(present): set()}, facts]
    return states


def state(engine: Engine, plan: Plan) -> dict[str, set[Row]]:
    return {name: set(engine.rows(name)) for name, relation in plan.relations.items() if not relation.auxiliary}


@pytest.mark.parametrize("engine_name", ENGINES)
@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_facts_come_and_go(case: Path, engine_name: EngineName) -> None:
    plan = planned(case)
    read = dict(read_facts(case / "facts", plan.relations, Plain(plan.types)).rows)
    for name, rows in read.items():
        if plan.relations[name].kind == "multiset":
            read[name] = copies(rows)
    engine = make_engine(engine_name, plan)
    now: Facts = {name: set() for name in read}
    before = state(engine, plan)
    for then in history({name: set(rows) for name, rows in read.items()}, Random(case_name(case))):
        update = engine.update({name: Delta(then[name] - now[name], now[name] - then[name]) for name in now})
        scratch = ReferenceEngine(plan)
        scratch.update({name: Delta(rows) for name, rows in then.items()})
        after = state(engine, plan)
        assert after == state(scratch, plan)
        assert {name: engine.count(name) for name in after} == {name: len(rows) for name, rows in after.items()}
        told = {name: (set(c.inserted), set(c.deleted)) for name, c in update.changes.items() if name in after and c}
        differences = {name: (rows - before[name], before[name] - rows) for name, rows in after.items()}
        assert told == {name: difference for name, difference in differences.items() if any(difference)}
        now, before = then, after
