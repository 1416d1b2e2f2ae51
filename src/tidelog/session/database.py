"""A living database: a program, its facts, and every consequence, kept true by transactions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, Unpack, get_args

from tidelog.base.arguments import brief, expect
from tidelog.base.diagnostic import Diagnostic
from tidelog.base.errors import UserError
from tidelog.base.extern import Externs
from tidelog.base.process.meter import within
from tidelog.base.span import Source
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.plan import nodes
from tidelog.plan.demand.choose_demanded import Extent
from tidelog.run.contract.engine import NO_LIMITS, Fallback, Limits, Row, Rows, Work
from tidelog.session.engines import Dialect, EngineName, Options, StrategyName
from tidelog.session.formats.remarks import Header, Remarks
from tidelog.session.frames.rows import GivenRows
from tidelog.session.live import View
from tidelog.session.program.rules import Rule, RuleBase
from tidelog.session.program.sources import program_source
from tidelog.session.queries.answers import Answers
from tidelog.session.queries.index import IndexView
from tidelog.session.relation import RelationView
from tidelog.session.store import Store
from tidelog.session.subscriptions import Callback, Subscription
from tidelog.session.transaction import Transaction

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidelog.session.program.static import Plan


class Database:
    """A program and its facts; derived relations follow every change of either.

    `program` is a text, or the path of a file: a `Path`, or a string that ends in `.dl`. `facts` are what input
    relations hold at the beginning: a mapping from names of relations to rows, in any form that
    `Transaction.insert` takes, or the path of a folder of files, as `tidelog run` reads them; `header` says whether
    the first line of text files is one: `yes`, `no`, or `auto`, if it has the names of the columns. The first
    evaluation is with the facts, and is not a commit. `engine` is one of `tidelog.engines()`, by default the
    fastest. `externs` has the Python functions that the program declares, and `library` folders in which it may
    find modules to import. `spark` is the session that the engine `spark` runs on; by default the one that is
    running, or a new local one. `limits` bound each evaluation: when one is exceeded, a `LimitError` is raised and
    nothing has changed. `strategy` says how derived relations follow changes, and `fallback` when an update of some
    is given up for an evaluation from scratch; `evaluator`, `index` and `parallel` say how the engine `tuples`
    works, `rediscovery` how the strategy `elastic` does, `indexed` how `dbsp` does; docs/strategies.md explains
    them all. With `demand` derived relations are computed only as far as goals ask for them, as those declared with
    `#[demand]` always are (docs/queries.md). In the dialect `ddlog` the library does what DDlog's does where the two
    differ (docs/ddlog.md).
    `tuning` has the thresholds by which an engine chooses among ways to compute the same; it is meant for tests.
    Raises `ProgramError` with all mistakes of the program, and `DataError` with those of the facts.

    >>> import tidelog
    >>> db = tidelog.Database('''
    ...     input relation Parent(child: string, parent: string)
    ...     output relation Ancestor(of: string, who: string)
    ...     Ancestor(c, p) :- Parent(c, p).
    ...     Ancestor(c, a) :- Parent(c, p), Ancestor(p, a).
    ... ''')
    >>> with db.transaction() as tx:
    ...     tx.insert("Parent", [("ada", "byron"), {"child": "byron", "parent": "john"}])
    >>> db.relation("Ancestor").rows()
    [('ada', 'byron'), ('ada', 'john'), ('byron', 'john')]
    >>> db
    <Database relations=2 rules=2 engine=columnar commits=1>
    """

    def __init__(  # noqa: PLR0913  (each is a choice of its own)
        self,
        program: str | Path | Source,
        *,
        facts: str | Path | Mapping[str, GivenRows] | None = None,
        header: Header = "auto",
        engine: EngineName | None = None,
        strategy: StrategyName = "auto",
        fallback: Fallback | None = None,
        limits: Limits = NO_LIMITS,
        externs: Externs | None = None,
        library: Sequence[str | Path] = (),
        spark: SparkSession | None = None,
        demand: bool = False,
        dialect: Dialect = "tidelog",
        **options: Unpack[Options],
    ) -> None:
        self._check(externs, library, limits, facts, options)
        if dialect not in get_args(Dialect):
            raise UserError(f"there is no dialect {brief(dialect)}: there are {', '.join(get_args(Dialect))}")
        planning = options.get("tuning", DEFAULT).planning
        expect(demand, bool, "demand", "True or False")
        extent: Extent = "everything" if demand else "declared"
        rules = RuleBase.load(program_source(program), tuple(map(Path, library)), externs, planning, extent, dialect)
        self._store = Store(rules, engine, strategy, spark, fallback, **options)
        self._limits = limits
        self._remarks = Remarks()
        given = within(limits.seconds, limits.memory, lambda: self._given(facts, header))
        self._opening = self._store.open(given, limits)

    @staticmethod
    def _check(externs: object, library: object, limits: object, facts: object, options: Mapping[str, Any]) -> None:
        """Refuse arguments of the wrong kind that nobody else would notice, or too late."""
        expect(externs, (Externs, NoneType), "externs", "tidelog.Externs")
        expect(limits, Limits, "limits", "tidelog.Limits")
        expect(facts, (str, Path, Mapping, NoneType), "facts", "a folder, or rows by the name of a relation")
        expect(library, (list, tuple), "library", "a list of folders")
        for folder in library if isinstance(library, list | tuple) else ():
            expect(folder, (str, Path), "library", "a list of folders")
        for name in options:
            if name not in Options.__annotations__:
                raise TypeError(f"Database has no option `{name}`; there are {', '.join(Options.__annotations__)}")
        expect(options.get("tuning", DEFAULT), Tuning, "tuning", "tidelog.base.tuning.table.Tuning")

    def _given(self, facts: str | Path | Mapping[str, GivenRows] | None, header: Header) -> Mapping[str, GivenRows]:
        if facts is None or isinstance(facts, Mapping):
            return facts or {}
        from tidelog.session.formats.files import read_facts  # noqa: PLC0415  (most databases read none)

        found = read_facts(Path(facts), self._store.plan.relations, self._store.plain, self.tuning, header)
        self._remarks = found.remarks
        return found.rows

    def __repr__(self) -> str:
        rules = sum(rule.active for rule in self.rules())
        relations = len(self.relations())
        return f"<Database relations={relations} rules={rules} engine={self.engine} commits={self.commit_number}>"

    @property
    def engine(self) -> str:
        """The name of the engine."""
        return self._store.state.engine.name

    @property
    def strategy(self) -> StrategyName:
        """How derived relations follow changes; `auto` leaves that to the engine, change by change."""
        return self._store.state.strategy

    @property
    def fallback(self) -> Fallback | None:
        """When an update is given up for an evaluation from scratch; None leaves that to the strategy."""
        return self._store.state.fallback

    def set_strategy(self, strategy: StrategyName, fallback: Fallback | None = None) -> None:
        """Go over to another strategy; costs an evaluation from scratch within the limits, and changes nothing else."""
        expect(fallback, (Fallback, NoneType), "fallback", "tidelog.Fallback")
        self._store.set_strategy(strategy, fallback)

    @property
    def tuning(self) -> Tuning:
        """The thresholds by which it chooses among ways to compute the same."""
        return self._store.tuning

    @property
    def commit_number(self) -> int:
        """The number of the last commit; 0 before the first."""
        return self._store.state.number

    @property
    def plan(self) -> Plan:
        """How the rules in force are computed: print it, or have it drawn.

        >>> print(Database("relation R(x: u8)  R(1).").plan)
        stratum 0: R
          R(1).
            from scratch
              give R(1)
        """
        from tidelog.session.program.static import Plan  # noqa: PLC0415  (few databases show theirs)

        return Plan(self._store.plan)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What is doubtful in the program."""
        return self._store.state.rules.warnings

    @property
    def remarks(self) -> Remarks:
        """What is worth knowing about the folder that was given as `facts`: files that were not read, for instance."""
        return self._remarks

    @property
    def opening(self) -> tuple[Work, ...]:
        """The work of the first evaluation, by stratum; that of later ones is in each `Commit.profile`."""
        return self._opening

    def relation(self, name: str) -> RelationView:
        """Return a view of a relation; those of an imported module are called like `lib::Edge`."""
        return RelationView(self._store.relation(name), self._store)

    def __getitem__(self, name: str) -> RelationView:
        """Return a view of a relation."""
        return self.relation(name)

    def query(self, goal: str, parameters: Mapping[str, Any] | None = None, *, limits: Limits | None = None) -> Answers:
        """Return the answers to a goal as of the last commit: a row for each way to make its variables true.

        A goal is written like the body of a rule; docs/queries.md says more. `$name` stands for the value that
        `parameters` has for the name. `limits` bound the evaluation, in place of the database's.

        >>> db = Database("input relation Edge(a: u8, b: u8)", facts={"Edge": [(1, 2), (1, 3), (2, 3)]})
        >>> db.query("Edge($from, x), not Edge(x, _)", {"from": 1}).rows()
        [(3,)]
        """
        expect(limits, (Limits, NoneType), "limits", "tidelog.Limits")
        return self._store.answers(goal, parameters or {}, self._limits if limits is None else limits)

    def relations(self) -> list[RelationView]:
        """Return views of all relations, in order of declaration."""
        return [self.relation(name) for name, found in self._store.plan.relations.items() if not found.auxiliary]

    def rules(self) -> list[Rule]:
        """Return the rules in force in order, then those of the program that were removed.

        >>> Database("relation R(x: u8)  R(1).").rules()
        [Rule(text='R(1).', name=None, origin='<program>:1:20', active=True)]
        """
        return self._store.state.rules.rules()

    def index(self, name: str) -> IndexView:
        """Return what an index of the program is: the relation, and the parameters in order.

        >>> Database("input relation Edge(a: u8, b: u8)  index from_a(a: u8) on Edge(a, _)").index("from_a")
        IndexView(name='from_a', relation='Edge', parameters={'a': 'bit<8>'})
        """
        return self._store.index(name).view()

    def query_index(self, index: str, *key: Any) -> list[Row]:
        """Return the rows that an index of the program has for a key, in order; one value for each parameter.

        >>> db = Database("input relation Edge(a: u8, b: u8)  index from_a(a: u8) on Edge(a, _)")
        >>> with db.transaction() as tx:
        ...     tx.insert("Edge", [(1, 2), (1, 3), (2, 3)])
        >>> db.query_index("from_a", 1)
        [(1, 2), (1, 3)]
        """
        return self._store.index(index).find(key, self._store.look_up)

    def dump_index(self, index: str) -> list[Row]:
        """Return all rows that an index of the program can find, in order."""
        found = self._store.index(index)
        return found.all(self._store.rows(found.declared.relation))

    def transaction(self, limits: Limits | None = None) -> Transaction:
        """Return a transaction, to be used in a `with` block. `limits` bound its commit, in place of the database's.

        One transaction is open at a time: another thread waits, the same thread gets a `UserError`.
        """
        expect(limits, (Limits, NoneType), "limits", "tidelog.Limits")
        return Transaction(self._store, self._limits if limits is None else limits)

    def subscribe(self, relation: str, callback: Callback, *, snapshot: bool = False) -> Subscription:
        """Call `callback` with the `Change` of a relation after each commit that changes it, until it is cancelled.

        With `snapshot` it is first called with the present rows as insertions. Calls come after the commit, in order
        of commits; a callback may open transactions. An error that it raises does not undo the commit: it is in
        `Commit.failures` and told as a `SubscriptionWarning`.

        >>> db = Database("input relation Edge(a: u8, b: u8)")
        >>> subscription = db.subscribe("Edge", lambda change: print(change.commit, [*change]))
        >>> with db.transaction() as tx:
        ...     tx.insert("Edge", [(1, 2)])
        1 [((1, 2), 1)]
        >>> subscription.cancel()
        """
        found = self._store.relation(relation)
        self._store.check_whole(relation)
        if not callable(callback):
            raise TypeError(f"callback: expected a function of one `Change`, found {brief(callback)}")
        return self._store.subscriptions.add(relation, callback, lambda: self._store.as_change(found, rows=snapshot))

    def watch(
        self,
        goal: str,
        parameters: Mapping[str, Any] | None = None,
        callback: Callback | None = None,
    ) -> View:
        """Keep the answers to a goal: a view with its rows as of the last commit, and exact changes with each commit.

        `callback` is called with the `Change` of each later commit that changes the answers, as those of `subscribe`
        are; `View.changes` gives them to whoever iterates. Close the view, or use it in a `with` block: what is watched
        is kept up to date. All who watch the same goal share its rules, whatever they give for its parameters.

        >>> db = Database("input relation Edge(a: u8, b: u8)", facts={"Edge": [(1, 2)]})
        >>> view = db.watch("Edge($from, x)", {"from": 1})
        >>> with db.transaction() as tx:
        ...     tx.insert("Edge", [(1, 3)])
        >>> view.rows()
        [(2,), (3,)]
        """
        if callback is not None and not callable(callback):
            raise TypeError(f"callback: expected a function of one `Change`, found {brief(callback)}")
        return View(self._store, goal, parameters or {}, callback)

    def verify(self) -> None:
        """Compute everything from scratch within the limits and compare; raise `VerificationError` on a difference."""
        self._store.verify()


def plan_of(database: Database) -> nodes.Plan:
    """Return the nodes of a database's plan, for other modules of Tidelog: they are no part of what users have."""
    return database._store.plan  # noqa: SLF001  (this module's own class)


def facts_of(database: Database, relation: str) -> Rows:
    """Return the facts of an input relation that were given, without those that the program states."""
    return database._store.stored(relation)  # noqa: SLF001  (this module's own class)
