"""The tables of a version: input facts as Parquet, small ones by Arrow, large ones by Spark without leaving it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tidelog.base.errors import UserError
from tidelog.base.tuning.files import Pipelines
from tidelog.base.tuning.table import DEFAULT
from tidelog.plan.nodes import Plan, Relation
from tidelog.plan.rewrite.separate_facts import stored_in
from tidelog.session.database import Database, plan_of
from tidelog.session.frames.arrow import is_simple
from tidelog.session.pipeline.state import Table


def inputs(plan: Plan) -> dict[str, Relation]:
    """Return the input relations."""
    relations = plan.relations
    return {name: found for name, found in relations.items() if found.role == "input" and not found.auxiliary}


def plan_tables(
    database: Database, earlier: Mapping[str, Table], changed: Callable[[str], bool], folder: str
) -> dict[str, Table]:
    """Return where the facts of each input relation are to be: where they are, or in the folder of a new version."""
    planned: dict[str, Table] = {}
    for number, name in enumerate(inputs(plan_of(database))):
        stored = stored_in(name, plan_of(database).relations)
        if name in earlier and stored == name and not changed(name):
            planned[name] = earlier[name]
        else:
            planned[name] = Table(f"{folder}/{number:03d}-{name.replace('::', '.')}", database.relation(stored).count())
    return planned


def write_table(database: Database, name: str, table: Table, folder: Path) -> None:
    """Write the stored facts of a relation."""
    if not table.rows or not plan_of(database).relations[name].columns:
        return  # the number of rows says it all
    view = database.relation(stored_in(name, plan_of(database).relations))
    if _on_driver(plan_of(database).relations[name], table, database.tuning.pipelines):
        folder.mkdir()
        pq.write_table(view.to_arrow(), folder / "rows.parquet")
    else:
        view.to_spark(text=True).write.parquet(str(folder))


def read_stored(
    relation: Relation, table: Table, path: Path, spark: Callable[[], Any], tuning: Pipelines = DEFAULT.pipelines
) -> Any:
    """Return the facts of a table, as a transaction takes them."""
    if not table.rows:
        return []
    if not relation.columns:
        return [()]
    if not path.is_dir():
        raise UserError(f"{path} is missing: the state was damaged from outside")
    return pq.read_table(path) if _on_driver(relation, table, tuning) else spark().read.parquet(str(path))


def _on_driver(relation: Relation, table: Table, tuning: Pipelines) -> bool:
    return table.rows <= tuning.driver_rows or not all(is_simple(column.type) for column in relation.columns)
