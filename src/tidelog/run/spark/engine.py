"""The engine on Spark: relations are DataFrames in the executors, kept up to date stratum by stratum.

`run.maintain.commit` drives an update; how each stratum is brought up to date is decided by `choose_way` and done by
`follow`. The exact change of each relation stays in the executors until it is looked at. DataFrames never change, so a
snapshot is the state itself. On a cluster a commit is saved in files (`saved`), which is where the next update starts
from if executors were lost.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, TypeVar

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidelog.base.errors import LimitError
from tidelog.base.record import record
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.plan.nodes import EMPTY_PLAN, Plan
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import NO_LIMITS, Delta, Limits, Row, Rows, Update, refuse_bounds
from tidelog.run.limits import Watch, tell
from tidelog.run.maintain.choose import Earlier
from tidelog.run.maintain.commit import Committed, commit, kept_relations
from tidelog.run.phases import AFTER
from tidelog.run.spark.choose_way import Chooser, are_grouped, loading, most_alone
from tidelog.run.spark.cluster.jobs import one_group
from tidelog.run.spark.cluster.session import THRESHOLDS, engine_session, is_local, settings_of, start_session
from tidelog.run.spark.durability.saved import Archive, archive_of
from tidelog.run.spark.fit import Size, partitions_for
from tidelog.run.spark.follow import Follower
from tidelog.run.spark.frames.checkpoint import collect, gathered, settle, united
from tidelog.run.spark.frames.encode import Cells
from tidelog.run.spark.frames.frames import adopt, are_simple, given_out, taken_in
from tidelog.run.spark.frames.internals import internals_of
from tidelog.run.spark.frames.named import integer, named, rows_of
from tidelog.run.spark.frames.recovery import attempted, keepers
from tidelog.run.spark.frames.relation import SUPPORT, TIMES, Relation
from tidelog.run.spark.frames.rows import SimpleRows, SparkRows, arrow_frame, frame_of, size_given
from tidelog.run.spark.partitions.local import held
from tidelog.run.spark.store import Frames, Store

_WHOSE = "whose"
_DISTRIBUTED = "the engine `spark`, once it has more than its driver holds,"
_SMALLER = "raise `spark.tidelog.driverRows`, so that the driver does everything, or use the engine `columnar`"
T = TypeVar("T")


@record
class State:
    """A program and its relations: all there is to remember."""

    committed: Committed[Relation]
    keepers: frozenset[str] = frozenset()
    """Who holds the rows, on a cluster; if one of them is gone, rows may be gone, too."""


class SparkEngine:
    """The state of one program on a Spark cluster.

    `spark` is the session to run on; without one, the running session or a new local one. `strategy` is `auto`,
    `ranked` or `recompute`. `partitions` is how many pieces relations are cut into (see `engine_session` if not given).
    Up to `driver_rows` tuples in all (10 million, if they are small) the columnar engine does everything on the driver,
    and no session is started.
    Relations of at most `broadcast_rows` are sent whole to where they are joined, those of at most `replicate_rows` to
    where a stratum that decomposes is evaluated. Numbers that are not given are the session's `spark.tidelog.*`.
    `limits` bound the first evaluation. `tuning` has the thresholds by which it chooses among ways to compute the same.
    """

    name = "spark"

    def __init__(  # noqa: PLR0913 -- what a user, a test, or a session of Spark may choose
        self,
        plan: Plan,
        *,
        spark: SparkSession | None = None,
        strategy: str = "auto",
        partitions: int | None = None,
        driver_rows: int | None = None,
        broadcast_rows: int | None = None,
        replicate_rows: int | None = None,
        limits: Limits = NO_LIMITS,
        tuning: Tuning = DEFAULT,
    ) -> None:
        settings = settings_of(spark)
        self._given = spark
        self._partitions = settings.get("partitions") if partitions is None else partitions
        self._strategy = strategy
        told = {THRESHOLDS[name]: number for name, number in settings.items() if name in THRESHOLDS}
        given = {"driver_rows": driver_rows, "broadcast_rows": broadcast_rows, "replicate_rows": replicate_rows}
        told |= {name: number for name, number in given.items() if number is not None}
        if "driver_rows" in told:
            told["alone_rows"] = told["driver_rows"]
        self._tuning = tuning = replace(tuning, spark=replace(tuning.spark, **told))
        self._state = State(Committed.nothing())
        self._driver: ColumnarEngine | None = None
        self._facts = Size()
        """All facts that the driver was ever given."""
        self._grouped = EMPTY_PLAN, False
        """A program, and whether Spark would keep a relation of it as groups."""
        if tuning.spark.driver_rows and tuning.spark.alone_rows:
            # Spark goes on with the support of what the driver held, and closures have none.
            closures = strategy == "recompute"
            self._driver = ColumnarEngine(plan, strategy=strategy, limits=limits, closures=closures, tuning=tuning)
        elif plan is not EMPTY_PLAN:
            refuse_bounds(plan, _DISTRIBUTED, _SMALLER)
            with Watch(limits) as watch:
                self._update({}, plan, watch)

    @property
    def plan(self) -> Plan:
        """The program whose consequences the state holds."""
        return self._driver.plan if self._driver else self._state.committed.given

    @property
    def spark(self) -> SparkSession:
        """The session that the engine works in, started when it is first needed."""
        return self._frames.spark

    @cached_property
    def _frames(self) -> Frames:
        session = engine_session(self._given or start_session(), self._partitions, self._tuning.spark)
        return Frames(session, self._tuning)

    def update(self, facts: Mapping[str, Delta], plan: Plan | None = None, limits: Limits = NO_LIMITS) -> Update:
        """Change stored facts and the program; after an error nothing has changed."""
        if self._driver is not None:
            done = self._update_on_driver(self._driver, facts, plan, limits)
            if done is not None:
                return done
        refuse_bounds(plan or self.plan, _DISTRIBUTED, _SMALLER)
        with Watch(limits) as watch:
            return self._update(facts, plan or self.plan, watch)

    def rows(self, relation: str) -> Rows:
        """Return the tuples of a relation."""
        if self._driver is not None:
            return self._driver.rows(relation)
        found, saved = self._relation(relation), self._archive
        again = None if saved is None else lambda: saved.read(found).frame(AFTER)
        cells = Cells(self.plan.types)
        return SparkRows(partial(found.frame, AFTER), found.size(AFTER), found.types, cells, again)

    def count(self, relation: str) -> int:
        """Return the number of tuples of a relation."""
        return self._driver.count(relation) if self._driver else self._relation(relation).size(AFTER)

    def contains(self, relation: str, row: Row) -> bool:
        """Tell whether a tuple is in a relation."""
        if self._driver is not None:
            return self._driver.contains(relation, row)
        return row in self.rows(relation)

    def frame(self, relation: str) -> DataFrame:
        """Return a relation as a DataFrame with its columns."""
        columns = self.plan.relations[relation].columns
        types = [column.type for column in columns]
        rows = self.rows(relation)
        cells = rows.frame if isinstance(rows, SparkRows) else frame_of(rows, types, Cells(self.plan.types), self.spark)
        return given_out(cells, columns)

    def take_frame(self, relation: str, rows: object, plan: Plan | None = None) -> Rows | None:
        """Return a DataFrame given as facts as rows that stay in Spark; None for anything else.

        `plan` is the program that has the relation, if that is not in force yet.
        """
        if not isinstance(rows, DataFrame):
            return None
        plan = plan or self.plan
        columns = plan.relations[relation].columns
        found = taken_in(adopt(rows, self.spark), relation, columns)
        if found is None:
            return None
        cells, count, width = found
        types = [column.type for column in columns]
        taken = (SimpleRows if are_simple(types) else SparkRows)(cells, count, types, Cells(plan.types))
        taken.width = width
        return taken

    def verify(self) -> Sequence[str]:
        """Check that tuples are distinct and have support; return what is wrong."""
        if self._driver is not None:
            return self._driver.verify()
        return self._safely(lambda: _problems(list(self._last().committed.relations.values())))

    def snapshot(self) -> Any:
        """Return the current state."""
        return self._state, self._driver, self._driver.snapshot() if self._driver else None

    def restore(self, token: Any) -> None:
        """Go back to the state of a snapshot."""
        self._state, self._driver, held = token
        if self._driver is not None:
            self._driver.restore(held)

    def _relation(self, name: str) -> Relation:
        found = self._last().committed.relations.get(name)
        if found is None:
            columns = self.plan.relations[name].columns
            return self._frames.relation(name, [column.type for column in columns])
        return found

    # --- on the driver -----------------------------------------------------------------------------------------------

    def _update_on_driver(
        self, driver: ColumnarEngine, facts: Mapping[str, Delta], plan: Plan | None, limits: Limits
    ) -> Update | None:
        """Update while everything fits on the driver; otherwise hand the state over to Spark and return None."""
        given = [change.inserted for change in facts.values()]
        held = sum(map(driver.count, driver.plan.relations)) + sum(map(len, given))
        room = self._most_alone(plan or driver.plan, given) - held
        if room >= 0:
            fits = limits if limits.tuples is not None and limits.tuples <= room else replace(limits, tuples=room)
            try:
                update = driver.update(facts, plan, fits)
            except LimitError:
                if fits is limits or "new tuples" not in str(sys.exception()):
                    raise
            else:
                work = (replace(one, reason="small: on the driver") for one in update.work)
                return Update(update.changes, tuple(work))
        refuse_bounds(plan or self.plan, _DISTRIBUTED, _SMALLER)
        self._safely(lambda: self._hand_over(driver))
        return None

    def _most_alone(self, plan: Plan, given: Sequence[Rows]) -> int:
        """Return how many tuples the driver may hold in all, once it has the facts given."""
        tuning = self._tuning.spark
        self._facts = sum((Size(len(rows), size_given(rows)) for rows in given), self._facts)
        if self._grouped[0] is not plan:
            self._grouped = plan, are_grouped(plan)
        # rows that are no Arrow columns become objects of Python, one by one
        few = self._grouped[1] or any(
            isinstance(rows, SparkRows) and not isinstance(rows, SimpleRows) for rows in given
        )
        most = most_alone(plan, self._facts, tuning)
        return min(most, tuning.driver_rows) if few else most

    def _hand_over(self, driver: ColumnarEngine) -> None:
        """Distribute what the driver holds, with ranks and support, so that Spark can go on from it."""
        there, relations = self._keepers(), dict[str, Relation]()
        for name, relation in driver.plan.relations.items():
            types = [column.type for column in relation.columns]
            relations[name] = self._frames.relation(name, types)
            relations[name].counted = driver.coded(name)[0].counted
            if driver.count(name):
                table = held(driver, name, driver.plan.types)
                rows = arrow_frame(self.spark, table)
                relations[name].weigh(table.num_rows, table.nbytes)
                placed, _ = settle(rows.repartition(self._frames.partitions, *relations[name].columns))
                relations[name].settled = (placed,)
            if self._archive is not None:
                self._archive.save(relations[name], relations[name])
        committed = Committed(driver.plan, Earlier(driver.plan), relations, {})
        self._state = State(committed, there | self._keepers())
        self._driver = None

    # --- what may be lost with an executor ---------------------------------------------------------------------------

    @cached_property
    def _archive(self) -> Archive | None:
        return archive_of(self.spark)

    def _keepers(self) -> frozenset[str]:
        return frozenset() if self._archive is None else keepers(self.spark)

    def _last(self) -> State:
        """Return the last commit; if some who held its rows are gone, they are read from files."""
        there = self._keepers()
        if self._archive is not None and not self._state.keepers <= there:
            tell("an executor is gone: reading the last commit from files")
            committed = self._state.committed
            relations = {name: self._archive.read(relation) for name, relation in committed.relations.items()}
            self._state = State(replace(committed, relations=relations), there | self._keepers())
        return self._state

    def _doubt(self) -> None:
        """Let the last commit be read from files before anything else is done."""
        self._state = replace(self._state, keepers=frozenset(("nobody",)))

    def _safely(self, work: Callable[[], T]) -> T:
        """Do some work on the last commit, again if rows are lost on the way."""
        return work() if is_local(self.spark) else attempted(work, self._doubt, self._relieve, self._gone)

    def _gone(self) -> str:
        internals = internals_of(self.spark)
        return "" if internals is None else internals.gone()

    def _relieve(self) -> str:
        self._frames.relieve()
        return f"{self._frames.partitions:,} partitions, and joins that can spill"

    # --- updating ----------------------------------------------------------------------------------------------------

    def _update(self, facts: Mapping[str, Delta], plan: Plan, watch: Watch) -> Update:
        with one_group(self.spark, watch):
            return self._safely(lambda: self._updated(facts, plan, watch))

    def _updated(self, facts: Mapping[str, Delta], plan: Plan, watch: Watch) -> Update:
        watch.restart()
        before, there = self._last().committed.towards(plan), self._keepers()
        if self._partitions is None:
            self._frames.cut(self._pieces(before.relations, facts))
        load_of = loading(plan, self._strategy, self._frames)
        store = Store(plan, self._frames, kept_relations(before, plan), before, watch, load_of)
        follower = Follower(store, Chooser(store, before.earlier, self._strategy))
        update, committed = commit(store, before, plan, facts, follower.follow)
        if self._archive is not None:
            for name in store.touched.keys() & committed.relations.keys():
                self._archive.save(store.touched[name], committed.relations[name])
        self._state = State(committed, there | self._keepers())
        return update

    def _pieces(self, relations: Mapping[str, Relation], facts: Mapping[str, Delta]) -> int:
        """Return into how many partitions the largest relation is to be cut, with what it is given."""
        held = [relation.bytes for relation in relations.values()]
        given = [size_given(change.inserted) for change in facts.values()]
        return partitions_for(max([0, *held, *given]), self._tuning.spark)


def _problems(relations: Sequence[Relation]) -> list[str]:
    """Return which relations have wrong tuples, and how many; found by one job."""
    held = [relation for relation in relations if relation.settled]
    if not held:
        return []
    frames = []
    for number, relation in enumerate(held):
        rows = gathered(relation.settled).groupBy(*map(named, relation.columns))
        tuples = rows.agg(rows_of(TIMES), f.min(SUPPORT).alias(SUPPORT))
        wrong = tuples.where((named(TIMES) > 1) | (named(SUPPORT) < 1))
        frames.append(wrong.select(integer(number, _WHOSE), TIMES, SUPPORT))
    repeated, unsupported = (f.count_if(f.col(TIMES) > 1), f.count_if(f.col(SUPPORT) < 1))
    found = united(frames).groupBy(_WHOSE).agg(repeated.alias("repeated"), unsupported.alias("unsupported"))
    return [
        f"{held[told[_WHOSE]].name} has {told[kind]} {kind} tuples"
        for told in sorted(collect(found).to_pylist(), key=lambda told: told[_WHOSE])
        for kind in ("repeated", "unsupported")
        if told[kind]
    ]
