"""The facts of a version in tables of the state: a base, and signed rows for what later versions changed.

A commit writes as many rows as it changed. When the files of changes are many they become one, and when they hold a
share of the base's rows the base is written anew. Small ones are written by the driver, large ones by executors without
leaving Spark; what was written is counted before it is committed.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from tidelog.base.errors import UserError
from tidelog.base.plain.plain import Plain
from tidelog.base.tuning.files import Pipelines
from tidelog.plan.nodes import Plan, Relation
from tidelog.plan.rewrite.separate_facts import stored_in
from tidelog.session.changes import Change, Changes
from tidelog.session.database import Database, plan_of
from tidelog.session.pipeline.places import executors
from tidelog.session.pipeline.places.data_file import DataFile
from tidelog.session.pipeline.state.cells import WEIGHT, added_up, cells, rows_of, schema_of, summed
from tidelog.session.pipeline.state.log import Log
from tidelog.session.pipeline.state.structured import in_cells_of, stays
from tidelog.session.pipeline.state.versions import StateFolder, Table

BASE, CHANGES = "base", "changes"


def inputs(plan: Plan) -> dict[str, Relation]:
    """Return the input relations."""
    relations = plan.relations
    return {name: found for name, found in relations.items() if found.role == "input" and not found.auxiliary}


class FactTables:
    """Reads and writes the tables of facts; `spark` starts or returns the session, which only large ones need."""

    def __init__(self, state: StateFolder, spark: Callable[[], Any], tuning: Pipelines) -> None:
        self._state = state
        self._spark = spark
        self._tuning = tuning

    # --- reading -----------------------------------------------------------------------------------------------------

    def read(self, relation: Relation, table: Table, plain: Plain, *, here: bool = True) -> Any:
        """Return the facts of a table, as a database takes them; those of many rows in Spark, if not `here`."""
        if table.version is None:
            return [()] * table.rows
        log = self._state.log(table.path)
        self._check_columns(relation, log)
        base, changes = _parts(log.files(table.version))
        if not here and not self._on_driver(relation, table.rows):
            return self._frame(log, relation, base, changes)
        schema = schema_of(relation.columns)
        rows = added_up(log.read(base, schema), log.read(changes, schema) if changes else None)
        if rows.num_rows != table.rows:
            raise UserError(f"{log.place.address} has {rows.num_rows} rows in place of {table.rows}: it was damaged")
        return rows_of(rows, relation, plain)

    def _check_columns(self, relation: Relation, log: Log) -> None:
        """Refuse a table of other columns: the program was edited."""
        if not log.exists():
            raise UserError(f"{log.place.address} is missing: the state was damaged from outside")
        stored, wanted = log.schema(), schema_of(relation.columns)
        if not stored.equals(wanted):
            names = [
                ", ".join(f"{one.name}: {one.type}" for one in schema if one.name != WEIGHT)
                for schema in (stored, wanted)
            ]
            raise UserError(
                f"{relation.name} has other columns now: ({names[1]}), its facts were stored as ({names[0]}); "
                "give the relation another name, or remove the state and run the pipeline anew"
            )

    def _frame(self, log: Log, relation: Relation, base: list[DataFile], changes: list[DataFile]) -> Any:
        from pyspark.sql import functions as f

        names = [f"`{column.name}`" for column in relation.columns]
        rows = executors.read(self._spark(), log.place, [*base, *changes], schema_of(relation.columns))
        if not changes:
            return in_cells_of(rows, relation)
        sums = rows.groupBy(*names).agg(f.sum(f"`{WEIGHT}`").alias(WEIGHT))
        return in_cells_of(sums.where(f.col(f"`{WEIGHT}`") > 0), relation)

    # --- writing -----------------------------------------------------------------------------------------------------

    def save(self, database: Database, earlier: Mapping[str, Table], changes: Changes | None) -> dict[str, Table]:
        """Write the facts of a database that differ from what is stored; return where each relation's are.

        `changes` are those since `earlier`; without them nothing is known of what was stored.
        """
        return {name: self._save(database, name, earlier.get(name), changes) for name in inputs(plan_of(database))}

    def _save(self, database: Database, name: str, earlier: Table | None, changes: Changes | None) -> Table:
        plan = plan_of(database)
        relation, stored = plan.relations[name], stored_in(name, plan.relations)
        rows = database.relation(stored).count()
        if not relation.columns:
            return Table("", None, rows)
        schema = schema_of(relation.columns)
        path = earlier.path if earlier is not None and earlier.path else f"facts/{name.replace('::', '.')}"
        path = self._state.free(path, schema)
        log = self._state.log(path)
        if earlier is not None and path == earlier.path and changes is not None and stored == name:
            gained, lost = changes[name].sizes
            if earlier.rows + gained - lost == rows:
                version = self._follow(log, database, earlier, changes[name]) if gained or lost else earlier.version
                return Table(path, version, rows)
        since = earlier.version if earlier is not None and path == earlier.path else None
        return Table(path, self._renew(log, database, name, rows, since), rows)

    def _follow(self, log: Log, database: Database, earlier: Table, change: Change) -> int:
        """Add signed rows to a table, or write it anew if there are many by then."""
        relation = plan_of(database).relations[change.relation]
        base, old = _parts(log.files(earlier.version))
        touched = sum(change.sizes) + sum(one.rows for one in old)
        if touched > self._tuning.change_share * sum(one.rows for one in base):
            rows = earlier.rows + change.sizes[0] - change.sizes[1]
            return self._renew(log, database, change.relation, rows, earlier.version)
        schema = schema_of(relation.columns)
        if database.engine == "spark" and not self._on_driver(relation, sum(change.sizes)):
            added = self._written(log, self._signed(change, relation, database), sum(change.sizes), CHANGES, schema)
            return log.commit(schema, earlier.version, added)
        plain = Plain(plan_of(database).types)
        gained, lost = change.raw_rows()
        signed = [cells(gained, relation.columns, plain), cells(lost, relation.columns, plain, -1)]
        many = len(old) >= self._tuning.change_files and touched <= self._tuning.driver_rows
        if many:
            signed = [summed(pa.concat_tables([*signed, log.read(old, schema)]))]
        added = [log.write(pa.concat_tables(signed), CHANGES)]
        return log.commit(schema, earlier.version, added, [one.path for one in old] if many else ())

    def _renew(self, log: Log, database: Database, name: str, rows: int, since: int | None) -> int:
        """Write all facts of a relation; the files that it had stay for earlier versions."""
        plan = plan_of(database)
        relation, view = plan.relations[name], database.relation(stored_in(name, plan.relations))
        schema = schema_of(relation.columns)
        old = log.files(since)
        if self._on_driver(relation, rows) or database.engine != "spark":
            added = [log.write(cells(view.raw_rows(), relation.columns, Plain(plan.types)), BASE)] if rows else []
        else:
            from pyspark.sql import functions as f

            frame = view.to_spark(text=True).withColumn(WEIGHT, f.lit(1).cast("long"))
            added = self._written(log, frame, rows, BASE, schema)
        return log.commit(schema, since, added, old)

    def _signed(self, change: Change, relation: Relation, database: Database) -> Any:
        from tidelog.run.spark.frames.frames import signed_frame  # noqa: PLC0415  (loads PySpark)

        types = plan_of(database).types
        return signed_frame(*change.raw_rows(), relation.columns, types, WEIGHT, self._spark())

    def _written(self, log: Log, frame: Any, rows: int, kind: str, schema: pa.Schema) -> list[DataFile]:
        """Let executors write rows, and count them before anybody knows of them."""
        added = executors.write(in_cells(frame, schema), log.place, f"{kind}/{uuid.uuid4()}", schema)
        there = {one.name: one.size for one in log.place.files(kind)} if log.place.is_local else None
        found = sum(one.rows for one in added if there is None or there.get(one.path) == one.size)
        if found != rows:
            raise UserError(
                f"{rows} rows were written to {log.place.address}, but {found} are there: the state must be in a "
                "folder that the driver and all machines of the cluster share, or in an object store"
            )
        return added

    def _on_driver(self, relation: Relation, rows: int) -> bool:
        return rows <= self._tuning.driver_rows or not stays(relation)


_SPARK = {
    pa.bool_(): "boolean",
    pa.string(): "string",
    pa.int64(): "long",
    pa.float64(): "double",
    pa.decimal128(20, 0): "decimal(20, 0)",
}


def in_cells(frame: Any, schema: pa.Schema) -> Any:
    """Return a DataFrame in the types of the state's tables."""
    from pyspark.sql import functions as f

    return frame.select(*[f.col(f"`{one.name}`").cast(_SPARK[one.type]).alias(one.name) for one in schema])


def _parts(files: Mapping[str, DataFile]) -> tuple[list[DataFile], list[DataFile]]:
    """Return the files of the base and those of changes."""
    base = [one for path, one in files.items() if path.startswith(f"{BASE}/")]
    return base, [one for path, one in files.items() if not path.startswith(f"{BASE}/")]
