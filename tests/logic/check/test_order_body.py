"""The order of a rule's clauses does not matter: the behaviour cases give the same relations with bodies shuffled."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.cases import case_name, externs_of, inside, program_cases
from tidelog import Database
from tidelog.base.diagnostic import Report
from tidelog.base.errors import EvaluationError, ProgramError
from tidelog.base.extern import Externs
from tidelog.base.span import Source
from tidelog.lang.format.format import format_module
from tidelog.lang.parse.parse import parse
from tidelog.lang.syntax import Declaration, RuleDef
from tidelog.logic.rewrite.rule_names import last_grouping
from tidelog.run.contract.engine import Row
from tidelog.session.exchange import load_facts, outputs

SEED = 1


def shuffled(text: str, random: Random) -> str:
    module = parse(Source("program.dl", text), Report())

    def shuffle(declaration: Declaration) -> Declaration:
        if not isinstance(declaration, RuleDef) or last_grouping(declaration.body) is not None:
            return declaration
        return replace(declaration, body=tuple(random.sample(declaration.body, len(declaration.body))))

    return format_module(replace(module, declarations=tuple(map(shuffle, module.declarations)), comments=()))


def results(program: Path | str, externs: Externs | None) -> dict[str, frozenset[Row]]:
    database = Database(program, engine="reference", externs=externs)
    if Path("facts").is_dir():
        load_facts(database, Path("facts"))
    return {view.name: frozenset(view.rows()) for view in outputs(database)}


@pytest.mark.parametrize("case", program_cases(), ids=case_name)
def test_shuffled_bodies(case: Path) -> None:
    externs = externs_of(case)
    with inside(case):
        try:
            found = results(shuffled(Path("program.dl").read_text(), Random(SEED)), externs)
        except ProgramError as refused:
            # `var x` says that x is new, so it cannot follow an atom that binds x; a text has no modules beside it.
            if {d.code for d in refused.diagnostics if d.severity == "error"} <= {"E0412", "E0250"}:
                return
            raise
        except EvaluationError:  # a test that kept an expression from failing may stand behind it now
            return
        assert found == results(Path("program.dl"), externs)
