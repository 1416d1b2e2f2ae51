"""Running a pipeline: each call makes a version from the last one, or leaves the last one as it is.

A version is made in four steps: the database of the last version is opened (or still open), one transaction brings in
the edited rules and the new facts, sinks are written, and the state folder gets the version. The first version's
database is opened with what its sources hold. Sinks come first, because
writing them again for the same version does no harm; so whatever fails, the next call starts from the last version.

`run` makes input relations equal to what their sources hold. A source whose files are those it was last read from is
not read again, so changes that came in another way stay.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tidelog.base.arguments import expect
from tidelog.base.errors import ExpectationError, LimitError, ProgramError, UserError
from tidelog.base.extern import Externs
from tidelog.base.record import record
from tidelog.base.span import Source
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.run.contract.engine import Work
from tidelog.run.limits import tell
from tidelog.session.changes import Changes
from tidelog.session.database import Database, plan_of
from tidelog.session.pipeline.config import FULL, MERGE, STREAM, Config, Expectation, Sink, SourceTable, read_config
from tidelog.session.pipeline.databases import Databases
from tidelog.session.pipeline.effect import CommitEffect, Effect, RebuildEffect, check_key, first_rows, whole
from tidelog.session.pipeline.facts import (
    Edit,
    FirstFacts,
    check_relations,
    fill_from_batch,
    fill_from_files,
    fill_from_sources,
)
from tidelog.session.pipeline.revise import Revision, revise
from tidelog.session.pipeline.sinks.output import Output
from tidelog.session.pipeline.sinks.staging import QUARANTINE, Sinks
from tidelog.session.pipeline.sources.files import folder_files
from tidelog.session.pipeline.state.carried import carry_over
from tidelog.session.pipeline.state.versions import Batch, StateFolder, Version, now
from tidelog.session.pipeline.told import told
from tidelog.session.program.sources import read_source
from tidelog.session.program.static import Plan
from tidelog.session.relation import RelationView

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession


@dataclass(slots=True)
class Outcome:
    """What a call did: the version it made, or the last one if nothing was new."""

    version: Version
    fresh: bool = True
    seconds: float = 0.0
    revision: Revision | None = None
    """The rules that changed; None if more than rules did."""
    work: tuple[Work, ...] = ()
    quarantined: dict[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


@record
class Preview:
    """What a call would do."""

    read: list[str]
    """The relations whose sources are new, or the files of changes."""
    changes: Mapping[str, tuple[int, int]]
    sinks: Mapping[str, int]
    """How many rows each sink would get."""
    quarantined: Mapping[str, int]
    engine: str
    warnings: list[str]


@record
class _Step:
    """What a version is made of: the database after it, what it was filled with, what that changed, and how."""

    database: Database
    edit: Edit
    effect: Effect
    text: str
    revision: Revision | None
    changes: Changes | None = None
    """What the transaction changed; None for the first facts."""
    work: tuple[Work, ...] = ()
    warnings: list[str] = field(default_factory=list)


class Pipeline:
    r"""A pipeline and its state folder; to be used in a `with` block, in which nobody else makes versions.

    `config` is the path of the file that describes it, and `parameters` are what `${NAME}` in it stands for. `spark` is
    the session to run on, which goes on afterwards; without one, the running one is taken, or one is started when it is
    needed and stopped at the end.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "p.dl").write_text("input relation R(x: u8)  output relation S(x: u8)  S(x) :- R(x).")
    ...     _ = Path(folder, "r.csv").write_text("x\n1\n2\n")
    ...     file = Path(folder, "p.toml")
    ...     _ = file.write_text('''
    ...         program = "p.dl"
    ...         state = "state"
    ...         source = [{ relation = "R", format = "csv", path = "r.csv" }]
    ...     ''')
    ...     with Pipeline(file) as pipeline:
    ...         (outcome,) = pipeline.run()
    ...         outcome.version.changes, pipeline.show("S").rows()
    ({'R': (2, 0), 'S': (2, 0)}, [(1,), (2,)])

    `tuning` has the thresholds by which it chooses among ways to compute the same; it is meant for tests.
    """

    def __init__(
        self,
        config: Config | str | Path,
        *,
        spark: SparkSession | None = None,
        externs: Externs | None = None,
        parameters: Mapping[str, str] | None = None,
        tuning: Tuning = DEFAULT,
    ) -> None:
        expect(config, (Config, str, Path), "config", "the path of a pipeline's file")
        config = config if isinstance(config, Config) else read_config(config, parameters)
        self.config = config
        self._tuning = tuning
        self.state = StateFolder(config.state)
        self._databases = Databases(self.config, self.state, spark, externs, tuning)
        self._sinks = Sinks(self.state, self.config.sinks, lambda: self.spark, tuning.pipelines)
        self._externs = externs
        self._database: Database | None = None
        self._at = 0
        self._text = ""

    def __enter__(self) -> Self:
        self._databases.closing.enter_context(self.state.locked())
        try:
            carry_over(self.state, self._databases.plan)
        except BaseException:
            self._databases.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._database = None
        self._databases.close()

    @property
    def spark(self) -> SparkSession:
        """The session, started when it is first needed."""
        return self._databases.spark

    @property
    def plan(self) -> Plan:
        """How the program in force is computed."""
        last = self.state.last()
        text = read_source(self.config.program).text
        return Plan(self._databases.planned(text)) if last is None else self._open(last).plan

    # --- what can be done --------------------------------------------------------------------------------------------

    def run(self, changes: str | Path | None = None) -> list[Outcome]:
        """Read the sources that are new; or apply the files of changes in a folder, after the sources if need be."""
        outcomes = []
        if changes is None or self.state.last() is None:
            outcomes.append(self._commit("run", self._fill))
        if changes is not None:
            outcomes.append(self.apply(folder_files(Path(changes)), "changes"))
        return outcomes

    def _fill(self, edit: Edit) -> None:
        fill_from_sources(edit, self.config, lambda: self.spark, self._tuning.pipelines)

    def apply(self, paths: Iterable[str], reason: str, batch: Batch | None = None, *, lenient: bool = False) -> Outcome:
        """Apply files of changes; a batch that was applied is answered from its version.

        With `lenient` a mistake in an edited program is a warning, and the rules in force stay.
        """
        known = self._known(batch) if batch is not None else None
        return known or self._commit(reason, self._fill_from([*paths]), batch, lenient=lenient)

    def _fill_from(self, files: list[str]) -> Callable[[Edit], None]:
        return lambda edit: fill_from_files(edit, self.config, lambda: self.spark, files, self._tuning.pipelines)

    def rollback(self, number: int) -> Outcome:
        """Make a version with the facts and the program of an earlier one."""
        target = self.state.version(number)

        def fill(edit: Edit) -> None:
            for name, rows in self._databases.stored(edit.plan, target, here=edit.here).items():
                edit.tx.clear(name)
                edit.tx.insert(name, rows)

        return self._commit(f"rollback to {number}", fill, text=target.program)

    def preview(self, changes: Path | None = None) -> Preview:
        """Return what `run` would do; nothing is written."""
        last, text = self.state.last(), read_source(self.config.program).text
        files = folder_files(changes) if changes is not None and last is not None else None
        try:
            step = self._step(self._fill if files is None else self._fill_from(files), text, last, lenient=False)
            sources = dict(last.sources) if last is not None else {}
            read = [name for name, mark in step.edit.sources.items() if sources.get(name) != mark]
            going = self._outgoing(step, first=last is None, everything=files is None)
            return Preview(
                read if files is None else files,
                step.effect.counts,
                {str(sink): output.rows for sink, output in going},
                {name: output.rows for name, output in step.edit.refused.items()},
                step.database.engine,
                [*step.warnings, *step.edit.warnings, *self._unexpected(step.database).values()],
            )
        finally:
            self._database = None

    def check(self) -> dict[Expectation, str]:
        """Return the expectations that the last version does not meet, and what is wrong."""
        last = self.state.last()
        return {} if last is None else self._unexpected(self._open(last))

    def show(self, relation: str, version: int | None = None) -> RelationView:
        """Return a relation as it is, or as it was in a version: its facts, and what its program derives from them."""
        return self._shown(version).relation(relation)

    def first_rows(self, relation: str, version: int | None = None, most: int = 20) -> tuple[pa.Table, int]:
        """Return some rows of a relation as a table, and how many it has."""
        database = self._shown(version)
        count = database.relation(relation).count()
        return first_rows(database, relation, most), count

    def _shown(self, version: int | None) -> Database:
        last = self.state.last()
        found = last if version is None else self.state.version(version)
        if found is None:
            raise UserError(f"{self.config.state.address} has no version yet")
        return self._open(found) if last is not None and found.number == last.number else self._databases.open(found)

    def vacuum(self, keep: int | None = None) -> tuple[list[int], int]:
        """Forget all versions but the last `keep`, and delete the files that no version has.

        Returns the versions that are gone, and how many files.
        """
        self._sinks.settle()
        gone = self.state.forget(keep) if keep is not None else []
        return gone, len(self.state.vacuum())

    def watch(
        self,
        folder: Path | None,
        tell: Callable[[Outcome], None],
        *,
        once: bool = False,
        streams: Mapping[str, DataFrame] | None = None,
    ) -> None:
        """Apply what arrives: files of changes in a folder, the streams of the pipeline's file; `tell` gets versions.

        `streams` are more of these, streaming DataFrames by relation. They have its columns, and may have a column
        `op`, which is `insert` or `delete`, or `weight`. With `once` only what is there by now is applied.
        """
        if folder is not None and not folder.is_dir():
            raise UserError(f"there is no folder {folder} to follow")
        given = {name: SourceTable(name, STREAM, None, is_stream=True) for name in streams or ()}
        if self.state.last() is None:
            for outcome in self.run():
                tell(outcome)
        every = (*self.config.streams, *given.values())
        if (last := self.state.last()) is not None and every:
            check_relations(replace(self.config, streams=every), plan_of(self._open(last)).relations)
        session = self.spark
        from tidelog.session.pipeline.sources import watch  # noqa: PLC0415  (loads PySpark)

        followed = []
        if folder is not None:
            followed.append(watch.files_of(session, folder, lambda paths, batch: tell(self._apply_batch(paths, batch))))
        followed += [watch.rows_of(session, one, self._taking(one, tell)) for one in self.config.streams]
        followed += [
            watch.of_frame(given[name], frame, self._taking(given[name], tell))
            for name, frame in (streams or {}).items()
        ]
        if not followed:
            raise UserError(f"{self.config.file} has nothing to follow: a folder `changes`, or [[stream]]")
        watch.follow(followed, self.state, once=once)

    def _apply_batch(self, paths: list[str], batch: Batch) -> Outcome:
        return self.apply(paths, "batch", batch, lenient=True)

    def _taking(self, stream: SourceTable, tell: Callable[[Outcome], None]) -> Callable[[DataFrame, Batch], None]:
        """Return what applies a batch of a stream."""

        def take(frame: DataFrame, batch: Batch) -> None:
            def fill(edit: Edit) -> None:
                fill_from_batch(edit, stream, frame, self._tuning.pipelines)

            frame.persist()  # it is looked at more than once, and may be others the second time
            try:
                tell(self._known(batch) or self._commit("batch", fill, batch, lenient=True))
            finally:
                frame.unpersist()

        return take

    def _known(self, batch: Batch) -> Outcome | None:
        """Return the version that a batch has made, if it has."""
        known = self.state.find(batch)
        if known is None:
            return None
        self._sinks.settle()
        return Outcome(known, fresh=False)

    # --- the database of a version -----------------------------------------------------------------------------------

    def _open(self, last: Version) -> Database:
        if self._database is None or self._at != last.number:
            self._database = self._databases.open(last)
            self._at, self._text = last.number, last.program
        return self._database

    # --- making a version --------------------------------------------------------------------------------------------

    def _commit(
        self,
        reason: str,
        fill: Callable[[Edit], None],
        batch: Batch | None = None,
        text: str | None = None,
        *,
        lenient: bool = False,
    ) -> Outcome:
        started = time.perf_counter()
        self._sinks.settle()
        last = self.state.last()
        wanted = read_source(self.config.program).text if text is None else text
        step = self._step(fill, wanted, last, lenient=lenient)
        unexpected = self._unexpected(step.database)
        self._refuse(unexpected)
        self._database = None  # until the version is there, so that a failure starts from the last one
        database, edit, effect, wanted = step.database, step.edit, step.effect, step.text
        refused = {name: output.rows for name, output in edit.refused.items()}
        quiet = last is not None and batch is None and not effect.counts and not refused
        going = self._outgoing(step, first=last is None, everything=reason == "run")
        if quiet and last is not None and last.program == wanted and dict(last.sources) == edit.sources:
            version, fresh = last, False
            entry = self._sinks.stage(going, last.number, last.at)
            self._sinks.confirm(entry)
        else:
            number, at = last.number + 1 if last else 1, now()
            entry = self._sinks.stage([*going, *self._quarantine(edit)], number, at)
            made = Version(number, wanted, {}, at, reason, effect.counts, batch, edit.sources)
            version, fresh = self._save(replace(made, engine=database.engine, journal=entry.id), step, last), True
        self._database, self._at, self._text = database, version.number, wanted
        self._sinks.publish(entry)
        seconds = time.perf_counter() - started
        warnings = [*step.warnings, *edit.warnings, *unexpected.values()]
        return Outcome(version, fresh, seconds, step.revision, step.work, refused, warnings)

    def _unexpected(self, database: Database) -> dict[Expectation, str]:
        """Return the relations that have rows, but are to have none, and the first of these."""
        found = {}
        for one in self.config.expectations:
            view = database.relation(one.relation)
            if view.count():
                row = first_rows(database, one.relation, 1).to_pylist()[0]
                rows = f"{view.count():,} row{'' if view.count() == 1 else 's'}"
                found[one] = f"{one.relation} is expected to be empty, and has {rows}, such as {row}"
        return found

    def _refuse(self, unexpected: Mapping[Expectation, str]) -> None:
        refused = [told for one, told in unexpected.items() if one.on_rows == "fail"]
        if refused:
            self._database = None
            raise ExpectationError(f"{'; '.join(refused)}: no version was made")

    def _step(self, fill: Callable[[Edit], None], wanted: str, last: Version | None, *, lenient: bool) -> _Step:
        """Compute a version; what is too large for this process goes on in Spark."""
        try:
            return self._begin(fill, wanted) if last is None else self._continue(fill, wanted, last, lenient=lenient)
        except LimitError as error:
            if not self._databases.here:
                raise
            tell(f"this is too large for one process ({error}): it goes on in Spark")
            self._databases.here, self._database = False, None
            return self._step(fill, wanted, last, lenient=lenient)

    def _begin(self, fill: Callable[[Edit], None], wanted: str) -> _Step:
        """Open the first database, with the facts of the first version."""
        facts = FirstFacts()
        edit = Edit(self._databases.planned(wanted), facts, {}, here=self._databases.here_rows > 0)
        fill(edit)
        in_spark = any(hasattr(rows, "sparkSession") for rows in facts.rows.values())
        here = edit.here and not in_spark and sum(map(len, facts.rows.values())) <= self._databases.here_rows
        database = self._databases.load(wanted, facts.rows, here=here)
        effect = RebuildEffect(None, database, lambda: self.spark)
        return _Step(database, edit, effect, wanted, Revision(), None, database.opening)

    def _continue(self, fill: Callable[[Edit], None], wanted: str, last: Version, *, lenient: bool) -> _Step:
        """Change the database of the last version, or one with the edited program."""
        old = self._open(last)
        warnings: list[str] = []
        try:
            database, revision = self._revised(old, last, wanted)
        except ProgramError as error:
            if not lenient:
                raise
            warnings.append(f"{self.config.program} is not applied, the rules in force stay:\n{error}")
            database, revision, wanted = old, Revision(), self._text
        with database.transaction() as tx:
            here = database.engine != "spark"
            edit = Edit(plan_of(database), tx, dict(last.sources), database, here=here)
            for rule in revision.removed if revision else ():
                tx.remove_rules(rule)
            if revision and revision.added:
                tx.add_rules("\n".join(revision.added))
            fill(edit)
        rebuilt = database is not old
        effect = (
            RebuildEffect(old, database, lambda: self.spark)
            if rebuilt
            else CommitEffect(tx.result, database, lambda: self.spark)
        )
        return _Step(database, edit, effect, wanted, revision, tx.result.changes, tx.result.profile, warnings)

    def _revised(self, old: Database, last: Version, wanted: str) -> tuple[Database, Revision | None]:
        """Return the database to go on with, and the rules that are to change in it; None if it is a new one."""
        if wanted == self._text:
            return old, Revision()
        source = Source(str(self.config.program), wanted)
        revision = revise(old, self._text, source, self._databases.library, self._externs)
        if revision is not None:
            return old, revision
        return self._databases.open(last, wanted), None

    def _save(self, version: Version, step: _Step, last: Version | None) -> Version:
        with told(f"cannot write version {version.number}"):
            tables = self._databases.facts.save(step.database, last.tables if last else {}, step.changes)
            return self.state.commit(replace(version, tables=tables))

    def _outgoing(self, step: _Step, *, first: bool, everything: bool) -> Iterator[tuple[Sink, Output]]:
        """Return what each sink is to get."""
        for sink in self.config.sinks:
            changed = any(step.effect.counts.get(sink.relation, ()))
            fresh = sink.mode == MERGE and (changed or first) and not self._sinks.is_known(sink)
            if fresh or (sink.mode == FULL and (changed or everything or first)):
                yield sink, whole(step.database, sink.relation)
            elif sink.mode != FULL and changed:
                output = step.effect.output(sink.relation)
                if sink.mode == MERGE:
                    check_key(step.database, sink, output)
                yield sink, output

    def _quarantine(self, edit: Edit) -> Iterator[tuple[Sink, Output]]:
        for relation, output in edit.refused.items():
            place = self.state.place.below("quarantine", relation.replace("::", "."))
            storage = None if place.is_local else place.options
            yield Sink(relation, "parquet", place.address, mode=QUARANTINE, storage=storage), output
