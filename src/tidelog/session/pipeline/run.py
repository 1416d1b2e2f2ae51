"""Running a pipeline: each call makes a version from the last one, or leaves the last one as it is.

A version is made in four steps: the database of the last version is opened (or still open), one transaction brings in
the edited rules and the new facts, sinks are written, and the state folder gets the version. The first version's
database is opened with what its sources hold. Sinks come first, because
writing them again for the same version does no harm; so whatever fails, the next call starts from the last version.

`run` makes input relations equal to what their sources hold. A source whose files are those it was last read from is
not read again, so changes that came in another way stay.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tidelog.base.errors import LimitError, MissingExtraError, ProgramError, UserError
from tidelog.base.extern import Externs
from tidelog.base.process.meter import memory_in_use
from tidelog.base.record import record
from tidelog.base.span import Source
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.plan import nodes
from tidelog.run.contract.engine import NO_LIMITS, Limits, Work
from tidelog.run.limits import tell
from tidelog.session.changes import Changes
from tidelog.session.database import Database, plan_of
from tidelog.session.frames.plain import Plain
from tidelog.session.pipeline.config import DRIVER_ROWS, Config, Sink
from tidelog.session.pipeline.effect import CommitEffect, Effect, RebuildEffect, whole
from tidelog.session.pipeline.facts import Edit, FirstFacts, check_relations, fill_from_files, fill_from_sources
from tidelog.session.pipeline.files import folder_files
from tidelog.session.pipeline.revise import Revision, revise
from tidelog.session.pipeline.sinks.output import Output
from tidelog.session.pipeline.sinks.staging import QUARANTINE, Sinks
from tidelog.session.pipeline.state.carried import carry_over
from tidelog.session.pipeline.state.facts import FactTables, inputs
from tidelog.session.pipeline.state.versions import Batch, StateFolder, Version
from tidelog.session.pipeline.told import told
from tidelog.session.program.sources import read_source
from tidelog.session.program.static import Plan, plan_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
    """A pipeline and its state folder; to be used in a `with` block, in which nobody else makes versions.

    `spark` is the session to run on; without one, a local one is started when it is needed and stopped at the end.
    `tuning` has the thresholds by which it chooses among ways to compute the same; it is meant for tests.
    """

    def __init__(
        self,
        config: Config,
        spark: SparkSession | None = None,
        externs: Externs | None = None,
        tuning: Tuning = DEFAULT,
    ) -> None:
        self.config = config
        self._tuning = tuning
        self.state = StateFolder(config.state)
        self._facts = FactTables(self.state, lambda: self.spark, tuning.pipelines)
        self._sinks = Sinks(self.state, config.sinks, lambda: self.spark, tuning.pipelines)
        self._here = True
        self._externs = externs
        self._given = spark
        self._started: SparkSession | None = None
        self._database: Database | None = None
        self._at = 0
        self._text = ""
        self._closing = ExitStack()

    def __enter__(self) -> Self:
        self._closing.enter_context(self.state.locked())
        try:
            carry_over(self.state, self._plan)
        except BaseException:
            self._closing.close()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._database = None
        self._started = None
        self._closing.close()

    @property
    def spark(self) -> SparkSession:
        """The session, started when it is first needed."""
        if self._given is not None:
            return self._given
        if self._started is None:
            if find_spec("pyspark") is None:
                raise MissingExtraError("pyspark", "spark")
            from tidelog.run.spark.cluster.session import (  # noqa: PLC0415  (loads PySpark)
                running_session,
                start_session,
                stop_session,
            )

            running = running_session()
            self._started = start_session(self.config.cores, dict(self.config.spark))
            if self._started is not running:  # one that others have started is theirs to stop
                self._closing.callback(stop_session, self._started)
        return self._started

    @property
    def plan(self) -> Plan:
        """How the program in force is computed."""
        last = self.state.last()
        text = read_source(self.config.program).text
        return Plan(self._planned(text)) if last is None else self._open(last).plan

    # --- what can be done --------------------------------------------------------------------------------------------

    def run(self, changes: Path | None = None) -> list[Outcome]:
        """Read the sources that are new; or apply the files of changes in a folder, after the sources if need be."""
        outcomes = []
        if changes is None or self.state.last() is None:
            outcomes.append(self._commit("run", self._fill))
        if changes is not None:
            outcomes.append(self.apply(folder_files(changes), "changes"))
        return outcomes

    def _fill(self, edit: Edit) -> None:
        fill_from_sources(edit, self.config, lambda: self.spark, self._tuning.pipelines)

    def apply(self, paths: Iterable[str], reason: str, batch: Batch | None = None, *, lenient: bool = False) -> Outcome:
        """Apply files of changes; a batch that was applied is answered from its version.

        With `lenient` a mistake in an edited program is a warning, and the rules in force stay.
        """
        known = self.state.find(batch) if batch is not None else None
        if known is not None:
            self._sinks.settle()
            return Outcome(known, fresh=False)
        files = [*paths]

        def fill(edit: Edit) -> None:
            fill_from_files(edit, self.config, lambda: self.spark, files, self._tuning.pipelines)

        return self._commit(reason, fill, batch, lenient=lenient)

    def rollback(self, number: int) -> Outcome:
        """Make a version with the facts and the program of an earlier one."""
        target = self.state.version(number)

        def fill(edit: Edit) -> None:
            for name, rows in self._stored(edit.plan, target).items():
                edit.tx.clear(name)
                edit.tx.insert(name, rows)

        return self._commit(f"rollback to {number}", fill, text=target.program)

    def watch(self, folder: Path, tell: Callable[[Outcome], None], *, once: bool = False) -> None:
        """Apply the files of changes that are in a folder and arrive in it; `tell` gets each version."""
        if not folder.is_dir():
            raise UserError(f"there is no folder {folder} to follow")
        if self.state.last() is None:
            for outcome in self.run():
                tell(outcome)
        session = self.spark
        from tidelog.session.pipeline.watch import follow  # noqa: PLC0415  (loads PySpark)

        follow(session, folder, self.state, lambda paths, batch: tell(self._apply_batch(paths, batch)), once=once)

    def _apply_batch(self, paths: list[str], batch: Batch) -> Outcome:
        return self.apply(paths, "batch", batch, lenient=True)

    # --- the database of a version -----------------------------------------------------------------------------------

    def _open(self, last: Version) -> Database:
        if self._database is None or self._at != last.number:
            stored = self._stored(self._planned(last.program), last)
            self._database = self._load(last.program, stored, here=self._is_here(last))
            self._at, self._text = last.number, last.program
        return self._database

    def _planned(self, text: str) -> nodes.Plan:
        """Return the plan of a program that has the relations of all sources and sinks."""
        plan = self._plan(text)
        check_relations(self.config, plan.relations)
        return plan

    def _plan(self, text: str) -> nodes.Plan:
        return plan_source(Source(str(self.config.program), text), self._library, self._externs)

    @property
    def _library(self) -> tuple[Path, ...]:
        return (self.config.program.parent, *self.config.library)

    def _stored(self, plan: nodes.Plan, version: Version) -> dict[str, Any]:
        """Return the facts of a version that a program has relations for."""
        plain = Plain(plan.types)
        here = self._is_here(version)
        return {
            name: self._facts.read(relation, table, plain, here=here)
            for name, relation in inputs(plan).items()
            if (table := version.tables.get(name)) is not None
        }

    @property
    def _here_rows(self) -> int:
        """How many rows of facts are evaluated in this process."""
        given = self.config.options.get(DRIVER_ROWS)
        return self._tuning.pipelines.here_rows if given is None else int(given)

    def _is_here(self, version: Version) -> bool:
        """Tell whether a version is evaluated in this process."""
        rows = sum(table.rows for table in version.tables.values())
        return self._here and version.engine != "spark" and rows <= self._here_rows

    def _load(self, text: str, facts: Mapping[str, Any], *, here: bool) -> Database:
        """Return a database with a program and facts: in this process, or on Spark."""
        spark = None
        if not here:
            spark = self.spark
            if self.config.options:
                spark = spark.newSession()  # the user's own stays as it is
                for name, value in self.config.options.items():
                    spark.conf.set(name, value)
        return Database(
            Source(str(self.config.program), text),
            facts=facts,
            engine="columnar" if here else "spark",
            strategy=self.config.strategy,
            limits=_memory() if here else NO_LIMITS,
            externs=self._externs,
            library=self._library,
            spark=spark,
            tuning=self._tuning,
        )

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
        self._database = None  # until the version is there, so that a failure starts from the last one
        database, edit, effect, wanted = step.database, step.edit, step.effect, step.text
        refused = {name: output.rows for name, output in edit.refused.items()}
        quiet = last is not None and batch is None and not effect.counts and not refused
        going = self._outgoing(step, first=last is None, everything=reason == "run")
        if quiet and last is not None and last.program == wanted and dict(last.sources) == edit.sources:
            version, fresh = last, False
            entry = self._sinks.stage(going, last.number)
            self._sinks.confirm(entry)
        else:
            number = last.number + 1 if last else 1
            entry = self._sinks.stage([*going, *self._quarantine(edit)], number)
            made = Version(number, wanted, {}, reason=reason, changes=effect.counts, batch=batch, sources=edit.sources)
            version, fresh = self._save(replace(made, engine=database.engine, journal=entry.id), step, last), True
        self._database, self._at, self._text = database, version.number, wanted
        self._sinks.publish(entry)
        seconds = time.perf_counter() - started
        return Outcome(version, fresh, seconds, step.revision, step.work, refused, step.warnings)

    def _step(self, fill: Callable[[Edit], None], wanted: str, last: Version | None, *, lenient: bool) -> _Step:
        """Compute a version; what is too large for this process goes on in Spark."""
        try:
            return self._begin(fill, wanted) if last is None else self._continue(fill, wanted, last, lenient=lenient)
        except LimitError as error:
            if not self._here:
                raise
            tell(f"this is too large for one process ({error}): it goes on in Spark")
            self._here, self._database = False, None
            return self._step(fill, wanted, last, lenient=lenient)

    def _begin(self, fill: Callable[[Edit], None], wanted: str) -> _Step:
        """Open the first database, with the facts of the first version."""
        facts = FirstFacts()
        edit = Edit(self._planned(wanted), facts, {}, here=self._here and self._here_rows > 0)
        fill(edit)
        in_spark = any(hasattr(rows, "sparkSession") for rows in facts.rows.values())
        here = edit.here and not in_spark and sum(map(len, facts.rows.values())) <= self._here_rows
        database = self._load(wanted, facts.rows, here=here)
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
        revision = revise(old, self._text, source, self._library, self._externs)
        if revision is not None:
            return old, revision
        stored = self._stored(self._planned(wanted), last)
        return self._load(wanted, stored, here=self._is_here(last)), None

    def _save(self, version: Version, step: _Step, last: Version | None) -> Version:
        with told(f"cannot write version {version.number}"):
            tables = self._facts.save(step.database, last.tables if last else {}, step.changes)
            return self.state.commit(replace(version, tables=tables))

    def _outgoing(self, step: _Step, *, first: bool, everything: bool) -> Iterator[tuple[Sink, Output]]:
        """Return what each sink is to get."""
        for sink in self.config.sinks:
            changed = any(step.effect.counts.get(sink.relation, ()))
            if sink.mode == "full" and (changed or everything or first):
                yield sink, whole(step.database, sink.relation)
            elif sink.mode == "changes" and changed:
                yield sink, step.effect.output(sink.relation)

    def _quarantine(self, edit: Edit) -> Iterator[tuple[Sink, Output]]:
        for relation, output in edit.refused.items():
            path = self.state.folder / "quarantine" / relation.replace("::", ".")
            yield Sink(relation, "parquet", str(path), mode=QUARANTINE), output


def _memory() -> Limits:
    """Return limits for an evaluation in this process, where they can be kept: half of the machine's memory."""
    if not memory_in_use():
        return NO_LIMITS
    return Limits(memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
