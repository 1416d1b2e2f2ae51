"""The database of a version: in this process as long as its facts are few, else on Spark, started then."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tidelog.base.errors import MissingExtraError
from tidelog.base.extern import Externs
from tidelog.base.plain.plain import Plain
from tidelog.base.process.meter import memory_in_use
from tidelog.base.span import Source
from tidelog.base.tuning.table import Tuning
from tidelog.plan import nodes
from tidelog.run.contract.engine import NO_LIMITS, Limits
from tidelog.run.limits import tell
from tidelog.session.database import Database
from tidelog.session.pipeline.config import DRIVER_ROWS, Config
from tidelog.session.pipeline.facts import check_relations
from tidelog.session.pipeline.state.facts import FactTables, inputs
from tidelog.session.pipeline.state.versions import StateFolder, Version
from tidelog.session.program.static import plan_source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Databases:
    """Opens databases; `closing` stops a session that was started for them."""

    def __init__(
        self,
        config: Config,
        state: StateFolder,
        spark: SparkSession | None,
        externs: Externs | None,
        tuning: Tuning,
    ) -> None:
        self._config = config
        self._externs = externs
        self._tuning = tuning
        self._given = spark
        self._started: SparkSession | None = None
        self.closing = ExitStack()
        self.facts = FactTables(state, lambda: self.spark, tuning.pipelines)
        self.library = (config.program.parent, *config.library)
        self.here = True
        """Whether this process may evaluate at all; no longer, when something was too large for it."""

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
            self._started = start_session(self._config.cores, dict(self._config.spark))
            if self._started.sparkContext.uiWebUrl:
                tell(f"what Spark does is shown at {self._started.sparkContext.uiWebUrl}")
            if self._started is not running:  # one that others have started is theirs to stop
                self.closing.callback(stop_session, self._started)
        return self._started

    def close(self) -> None:
        """Stop the session, if it was started here."""
        self._started = None
        self.closing.close()

    def planned(self, text: str) -> nodes.Plan:
        """Return the plan of a program that has the relations of all sources and sinks."""
        plan = self.plan(text)
        check_relations(self._config, plan.relations)
        return plan

    def plan(self, text: str) -> nodes.Plan:
        """Return the plan of a program."""
        return plan_source(Source(str(self._config.program), text), self.library, self._externs)

    def stored(self, plan: nodes.Plan, version: Version, *, here: bool) -> dict[str, Any]:
        """Return the facts of a version that a program has relations for."""
        plain = Plain(plan.types)
        return {
            name: self.facts.read(relation, table, plain, here=here)
            for name, relation in inputs(plan).items()
            if (table := version.tables.get(name)) is not None
        }

    @property
    def here_rows(self) -> int:
        """How many rows of facts are evaluated in this process."""
        given = self._config.options.get(DRIVER_ROWS)
        return (self._tuning.pipelines.here_rows if given is None else int(given)) if self.here else -1

    def is_here(self, version: Version) -> bool:
        """Tell whether a version is evaluated in this process."""
        return version.engine != "spark" and sum(table.rows for table in version.tables.values()) <= self.here_rows

    def open(self, version: Version, text: str | None = None) -> Database:
        """Return a database with the facts of a version, and its program or another."""
        program, here = version.program if text is None else text, self.is_here(version)
        return self.load(program, self.stored(self.planned(program), version, here=here), here=here)

    def load(self, text: str, facts: Mapping[str, Any], *, here: bool) -> Database:
        """Return a database with a program and facts."""
        spark = None
        if not here:
            spark = self.spark
            if self._config.options:
                spark = spark.newSession()  # the user's own stays as it is
                for name, value in self._config.options.items():
                    spark.conf.set(name, value)
        return Database(
            Source(str(self._config.program), text),
            facts=facts,
            engine="columnar" if here else "spark",
            strategy=self._config.strategy,
            limits=_memory() if here else NO_LIMITS,
            externs=self._externs,
            library=self.library,
            spark=spark,
            tuning=self._tuning,
        )


def _memory() -> Limits:
    """Return limits for an evaluation in this process, where they can be kept: half of the machine's memory."""
    if not memory_in_use():
        return NO_LIMITS
    return Limits(memory=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
