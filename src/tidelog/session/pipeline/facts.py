"""Filling a transaction: from the sources that are new, or from files of changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import DataError, UserError
from tidelog.base.plain.plain import Plain
from tidelog.base.tuning.files import Pipelines
from tidelog.base.tuning.table import DEFAULT
from tidelog.plan.nodes import Plan, Relation
from tidelog.session.database import Database
from tidelog.session.frames.arrow import read_table
from tidelog.session.pipeline.config import Config, Expectation, Sink, SourceTable
from tidelog.session.pipeline.paths import TABLE
from tidelog.session.pipeline.places.addresses import is_local
from tidelog.session.pipeline.places.objects import found_at, is_stored
from tidelog.session.pipeline.sinks.output import Output
from tidelog.session.pipeline.sinks.shapes import OWN
from tidelog.session.pipeline.sources.adding import Signed, add_up
from tidelog.session.pipeline.sources.files import change_files
from tidelog.session.pipeline.sources.reading_here import read_here
from tidelog.session.pipeline.sources.triples_here import ending_of, read_triples
from tidelog.session.pipeline.state.facts import inputs
from tidelog.session.pipeline.state.structured import in_cells_of
from tidelog.session.pipeline.told import told

FED = "+"
"""What follows the mark of a source whose relation files of changes have changed since."""


class Writer(Protocol):
    """What is asked of a transaction."""

    def insert(self, relation: str, rows: Any) -> None: ...
    def delete(self, relation: str, rows: Any) -> None: ...
    def clear(self, relation: str) -> None: ...


@dataclass(slots=True)
class FirstFacts:
    """In place of a transaction, the facts that a database is to open with: there is nothing to delete yet."""

    rows: dict[str, Any] = field(default_factory=dict)

    def insert(self, relation: str, rows: Any) -> None:
        """Let a relation, which is filled once, have these rows."""
        assert relation not in self.rows, f"{relation} is filled twice"
        self.rows[relation] = rows

    def delete(self, relation: str, rows: Any) -> None:
        """Change nothing."""

    def clear(self, relation: str) -> None:
        """Change nothing."""


@dataclass(slots=True)
class Edit:
    """A transaction that is being filled, or the first facts, and what is to be remembered of it."""

    plan: Plan
    tx: Writer
    sources: dict[str, str]
    database: Database | None = None
    """The database, if there is one."""
    refused: dict[str, Output] = field(default_factory=dict)
    """What goes to the quarantine."""
    warnings: list[str] = field(default_factory=list)
    here: bool = False
    """Whether all facts are to be on the driver."""

    def refuse(self, name: str, output: Output | None) -> None:
        """Remember rows for the quarantine."""
        if output is not None and output.rows:
            self.refused[name] = self.refused[name] + output if name in self.refused else output


def fill_from_sources(
    edit: Edit, config: Config, spark: Callable[[], Any], tuning: Pipelines = DEFAULT.pipelines
) -> None:
    """Let input relations hold what their sources hold, where these are new."""
    for source in config.sources:
        mark = fingerprint(source)
        if not _is_to_be_read(edit, source, mark):
            continue
        relation, plain = edit.plan.relations[source.relation], Plain(edit.plan.types)
        rows = _read_here(source, relation, plain, tuning)
        if rows is None:
            from tidelog.session.pipeline.sources.reading import load  # noqa: PLC0415  (loads PySpark)

            loaded = load(spark(), source, relation, plain, tuning.here_rows if edit.here else tuning.driver_rows)
            edit.refuse(source.relation, loaded.refused)
            rows = loaded.rows
        with _naming(source):
            replace_rows(edit, source.relation, rows)
        edit.sources[source.relation] = mark


def _read_here(source: SourceTable, relation: Relation, plain: Plain, tuning: Pipelines) -> Any:
    """Return what a source holds if the driver reads it, else None."""
    if ending_of(source) is not None:
        return read_triples(source, relation, tuning)
    table = read_here(source, relation, tuning)
    if table is None:
        return None
    with told(source):
        return read_table(table, relation, plain)


def fill_from_files(
    edit: Edit, config: Config, spark: Callable[[], Any], paths: Iterable[str], tuning: Pipelines = DEFAULT.pipelines
) -> None:
    """Apply the signed rows of files; the rows of all files of a relation add up."""
    known = inputs(edit.plan)
    found: list[tuple[str, Signed]] = []
    for file in change_files(paths, config, known):
        relation = known[file.relation]
        table = read_here(file.source, relation, tuning, signed=True)
        if table is not None:
            loaded = Signed(file.source, table.num_rows, lambda table=table: table)  # type: ignore[misc]
        else:
            from tidelog.session.pipeline.sources.reading import load_changes  # noqa: PLC0415  (loads PySpark)

            loaded = load_changes(spark(), file.source, relation)
        found.append((file.relation, loaded))
    _apply_signed(edit, found, tuning)


def fill_from_batch(edit: Edit, stream: SourceTable, frame: Any, tuning: Pipelines = DEFAULT.pipelines) -> None:
    """Apply the signed rows of a batch of a stream."""
    from tidelog.session.pipeline.sources.reading import load_batch  # noqa: PLC0415  (loads PySpark)

    relation = inputs(edit.plan)[stream.relation]
    _apply_signed(edit, [(stream.relation, load_batch(frame, stream, relation))], tuning)


def _apply_signed(edit: Edit, found: Iterable[tuple[str, Signed]], tuning: Pipelines) -> None:
    """Apply signed rows, which add up."""
    known, files = inputs(edit.plan), dict[str, list[Signed]]()
    for name, one in found:
        edit.refuse(name, one.refused)
        files.setdefault(name, []).append(one)
    plain = Plain(edit.plan.types)
    for name, signed in files.items():
        most = tuning.here_rows if edit.here else tuning.driver_rows
        gone, come = add_up(signed, known[name], plain, most)
        with _naming(f"changes of {name}"):  # deletions first: an insertion may take over their key
            edit.tx.delete(name, gone)
            edit.tx.insert(name, come)
        if name in edit.sources and (len_of(gone) or len_of(come)):
            edit.sources[name] = edit.sources[name].removesuffix(FED) + FED


def _is_to_be_read(edit: Edit, source: SourceTable, mark: str) -> bool:
    """Tell whether a source is new; one that would undo what files of changes did is refused, unless it owns it."""
    before = edit.sources.get(source.relation)
    if before is None:
        return True
    if source.owner == "feed" or (mark and before.removesuffix(FED) == mark):
        return False
    if before.endswith(FED) and not source.owner:
        raise UserError(
            f"{source}: files of changes have changed {source.relation} since it was read, and to read it again would "
            'undo that; set owner = "source" if the source has all of it by now, or owner = "feed" if it was only the '
            "beginning"
        )
    if before.endswith(FED):
        edit.warnings.append(f"{source} was read again, in place of what files of changes had made of it")
    return True


def len_of(rows: Any) -> int:
    """Return a number that is 0 if there are no rows; those in Spark are not counted."""
    return len(rows) if hasattr(rows, "__len__") else 1


def replace_rows(edit: Edit, name: str, rows: Any) -> None:
    """Let a relation hold exactly these rows: a DataFrame, or rows on the driver."""
    view = edit.database.relation(name) if edit.database is not None else None
    in_spark = hasattr(rows, "subtract")
    if in_spark and edit.database is not None and edit.database.engine != "spark":
        rows, in_spark = rows.toArrow(), False
    if view is not None and view.count():
        if in_spark:
            stored, relation = view.to_spark(text=True), edit.plan.relations[name]
            edit.tx.delete(name, in_cells_of(stored.subtract(rows), relation))
            edit.tx.insert(name, in_cells_of(rows.subtract(stored), relation))
            return
        edit.tx.clear(name)
    edit.tx.insert(name, rows)


@contextmanager
def _naming(what: object) -> Iterator[None]:
    try:
        yield
    except DataError as error:
        raise DataError(f"{what}: {error}") from None


def fingerprint(source: SourceTable) -> str:
    """Return what tells a source's files from others: names, sizes and times; nothing if only Spark reaches them."""
    if source.path is None or source.format == TABLE:
        return ""
    if source.storage is not None and is_stored(source.path, source.storage):
        with told(source):
            objects = [(one.name, one.size, one.stamp) for one in found_at(source.path, source.storage)[1]]
        if not objects:
            raise DataError(f"{source}: there is nothing at this address")
        return _mark(source, objects)
    if not is_local(source.path):
        return ""
    path = Path(source.path)
    root = next(parent for parent in (path, *path.parents) if not set(str(parent)) & set("*?[{"))
    found = sorted(root.rglob("*")) if root.is_dir() else [root]
    files = [(str(one), one.stat().st_size, one.stat().st_mtime_ns) for one in found if one.is_file()]
    return _mark(source, files)


def _mark(source: SourceTable, files: list[tuple[str, int, int]]) -> str:
    shown = repr((source.format, source.path, sorted(source.options.items()), sorted(source.columns.items()), files))
    return hashlib.sha256(shown.encode()).hexdigest()[:16]


def check_relations(config: Config, relations: Mapping[str, Relation]) -> None:
    """Refuse a source or a sink of a relation that the program does not have, and columns that it has not."""
    for relation in relations.values():
        if relation.kind == "multiset":
            raise UserError(f"{config.program}: a pipeline keeps facts as sets, so it has no multiset {relation.name}")
        if relation.kind == "stream" or relation.past is not None:
            what = (
                f"the stream {relation.name}" if relation.past is None else f"{relation.name}, a relation of the past"
            )
            raise UserError(f"{config.program}: a pipeline has no transactions for {what} to count by")
    shown = {name: found for name, found in relations.items() if not found.auxiliary}
    tables = (*config.sources, *config.streams)
    entries: list[SourceTable | Sink | Expectation] = [*tables, *config.sinks, *config.expectations]
    for entry in entries:
        name = entry.relation
        if name not in shown:
            hint = did_you_mean(name, shown)
            missing = f"{config.file}: {entry}: {config.program.name} has no relation `{name}`"
            raise UserError(missing + (f"; {hint}" if hint else ""))
    for sink in config.sinks:
        _check_columns(config, sink, [column.name for column in shown[sink.relation].columns])
    for source in tables:
        relation = shown[source.relation]
        if relation.role != "input":
            raise UserError(f"{config.file}: {source}: {relation.name} is an {relation.role} relation, not an input")
        names = [column.name for column in relation.columns]
        for name in source.columns:
            if name not in names:
                hint = did_you_mean(name, names)
                there = f"{relation.name} has the columns {', '.join(names)}" + (f"; {hint}" if hint else "")
                raise UserError(f"{config.file}: {source}: `columns.{name}`: {there}")


def _check_columns(config: Config, sink: Sink, names: list[str]) -> None:
    """Refuse a sink whose own columns are the relation's, too, or whose key is not of its columns."""
    for name in names:
        if name in OWN.get(sink.mode, ()):
            raise UserError(
                f"{config.file}: {sink}: {sink.mode} have a column `{name}` of their own, and so has "
                f"{sink.relation}: write a relation with another name for it"
            )
    for name in sink.key:
        if name not in names:
            hint = did_you_mean(name, names)
            there = f"{sink.relation} has the columns {', '.join(names)}" + (f"; {hint}" if hint else "")
            raise UserError(f"{config.file}: {sink}: `key`: there is no column `{name}`; {there}")
