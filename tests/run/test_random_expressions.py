"""Random expressions of all scalar types: the columnar engine gives what the reference engine gives."""

from __future__ import annotations

import os
from random import Random

import pytest

from tests.generate.expressions import expression_program
from tests.generate.pipeline import answers, plan_text
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta
from tidelog.run.reference.engine import ReferenceEngine

PROGRAMS = int(os.environ.get("TIDELOG_PROGRAMS", "24"))


@pytest.mark.parametrize("block", range(4))
def test_engines_agree_on_expressions(block: int) -> None:
    for seed in range(block, PROGRAMS, 4):
        text, facts = expression_program(Random(seed))
        plan = plan_text(text)
        found = []
        for make in (ReferenceEngine, ColumnarEngine):
            engine = make(plan)
            engine.update({name: Delta(rows) for name, rows in facts.items()})
            found.append(answers(engine))
        for relation, rows in found[0].items():
            assert found[1][relation] == rows, f"seed {seed}, {relation}\n{text}"
