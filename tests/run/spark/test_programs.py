"""Cases of tests/programs on Spark by the distributed paths: the round loop, and the decomposed job where it applies.

A selection of every topic; TIDELOG_SPARK_CASES=all runs them all, and takes every other fact of each away again.
"""

from __future__ import annotations

import os
import runpy
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.cases import PROGRAMS, case_name, inside, program_cases
from tests.run.spark.test_engine import alike
from tidelog import Database
from tidelog.plan.decompose import decompose
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract import Change
from tidelog.run.spark.engine import SparkEngine
from tidelog.session.exchange import load_facts

pytestmark = pytest.mark.spark

CHOSEN = {
    "aggregates": (
        "count_sees_derivations",
        "group_by_unit",
        "min_of_other_types",
        "sum_wraps",
        "to_map",
        "two_groups_in_one_body",
        "over_recursive_relation",
        "no_rows_no_group",
    ),
    "expressions": (
        "division_by_zero_guarded",
        "lazy_operators",
        "comparisons_of_every_type",
        "interpolation_of_user_types",
    ),
    "flatmap": (
        "map",
        "nested",
    ),
    "functions": (
        "extern",
        "extern_type",
        "function_returning_function",
        "functions_in_relations",
        "mut_parameters",
    ),
    "imperative": ("match_binds_for_inner_loops",),
    "keys": ("computed",),
    "library": ("regex_captures",),
    "modules": ("json_library",),
    "negation": (
        "all_columns_wild",
        "negated_nullary",
        "of_recursive_relation",
        "wildcard_in_negated_atom",
    ),
    "programs": (
        "shortest_paths",
        "points_to",
    ),
    "recursion": (
        "builds_vectors",
        "mutual_with_different_arity",
        "same_generation",
        "transitive_closure_non_linear",
    ),
    "relations": (
        "nullary_input",
        "two_relations_one_row_type",
    ),
    "rules": (
        "cartesian_product",
        "repeated_variable_in_patterns",
        "self_join",
    ),
    "types": (
        "bigint_beyond_64_bits",
        "bit_64_wraps",
        "double_nan",
        "interned_structs",
        "recursive_type_through_ref",
        "references_as_columns",
        "set_of_tuples",
        "unit",
    ),
}

CHOSEN_CASES = [PROGRAMS / topic / name for topic, names in CHOSEN.items() for name in names]
ALL = os.environ.get("TIDELOG_SPARK_CASES") == "all"
CASES = program_cases() if ALL else CHOSEN_CASES
CHOSEN_DECOMPOSED = [
    *(PROGRAMS / "programs" / name for name in ("bill_of_materials", "network_reachability", "shortest_paths")),
    PROGRAMS / "recursion" / "structures_as_nodes",
    PROGRAMS / "recursion" / "transitive_closure_right_linear",
]


def load(case: Path) -> Database:
    externs = runpy.run_path(str(case / "externs.py"))["externs"] if (case / "externs.py").exists() else None
    with inside(case):
        database = Database(Path("program.dl"), engine="columnar", externs=externs)
        if Path("facts").is_dir():
            load_facts(database, Path("facts"))
    return database


def check(database: Database, engine: SparkEngine) -> None:
    """Give an engine the facts of a database, and expect its rows and its changes."""
    columnar = ColumnarEngine(database.plan)
    given = {view.name: list(view.rows()) for view in database.relations() if view.role == "input" and view.count()}
    steps = [{name: Change(rows) for name, rows in given.items()}]
    if ALL:
        steps.append({name: Change((), rows[::2]) for name, rows in given.items()})
    for facts in steps:
        update, expected = engine.update(facts), columnar.update(facts)
        for view in database.relations():
            assert alike(update.changes.get(view.name), expected.changes.get(view.name)), view.name
            assert set(engine.rows(view.name)) == set(columnar.rows(view.name)), view.name
            assert engine.count(view.name) == columnar.count(view.name)


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_round_loop(case: Path, spark: SparkSession) -> None:
    database = load(case)
    check(database, SparkEngine(database.plan, spark=spark, partitions=2, driver_rows=0, replicate_rows=0))


def decomposes(case: Path) -> bool:
    """Whether a stratum of a program is evaluated in one job."""
    return any(decompose(stratum) for stratum in load(case).plan.strata if stratum.recursive)


@pytest.mark.parametrize("case", [*filter(decomposes, CASES)] if ALL else CHOSEN_DECOMPOSED, ids=case_name)
def test_decomposed(case: Path, spark: SparkSession) -> None:
    assert decomposes(case)
    database = load(case)
    check(database, SparkEngine(database.plan, spark=spark, partitions=2, driver_rows=0))
