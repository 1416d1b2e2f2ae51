"""A transaction: changes to facts and rules that happen together or not at all.

Operations are checked as they are given and collected; nothing reaches the engine before the commit. Leaving the
`with` block commits, an exception in it rolls back, and so does a refused commit.

A transaction is open while it holds the lock of writers (`base.process.lock`), which ends with the `with` block, with
the call of `commit` or `rollback`, with the transaction object, or with its thread, whichever comes first. So whatever
interrupts a transaction, at whatever line, it is over. The commit is made or not, by a single assignment, which
`Database.commit_number` and `result` tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from weakref import ref

from tidelog.base.arguments import expect
from tidelog.base.errors import DataError, UserError
from tidelog.base.process.lock import Hold, Life, ending
from tidelog.logic.program import Program
from tidelog.run.contract.engine import Delta, Limits, Rows
from tidelog.session.changes import Changes, Commit
from tidelog.session.facts.pending import Pending, PendingCopies, PendingKeyed
from tidelog.session.facts.reading import Reading
from tidelog.session.formats.remarks import Header
from tidelog.session.frames.rows import GivenRows
from tidelog.session.program.rules import RuleBase
from tidelog.session.queries.answers import Answers
from tidelog.session.state import Outcome
from tidelog.session.store import Store

if TYPE_CHECKING:
    from tidelog.session.formats.files import Facts


class Transaction:
    """An open transaction of a database; see `Database.transaction`.

    >>> import tidelog
    >>> db = tidelog.Database('''
    ...     input relation Edge(a: u32, b: u32)
    ...     output relation Reach(a: u32, b: u32)
    ...     Reach(a, b) :- Edge(a, b).
    ...     Reach(a, c) :- Reach(a, b), Edge(b, c).
    ... ''')
    >>> with db.transaction() as tx:
    ...     tx.insert("Edge", [(1, 2), (2, 3)])
    >>> tx.result.changes["Reach"].inserted
    [(1, 2), (1, 3), (2, 3)]
    """

    def __init__(self, store: Store, limits: Limits) -> None:
        self._store = store
        self._limits = limits
        self._facts: dict[str, Pending] = {}
        self._rules: RuleBase | None = None
        self._dropped: set[str] = set()
        """The names of relations that were removed."""
        self._hold: Hold | None = None
        self._outcome = Outcome()
        self.block: Life = lambda: None

    # --- facts -------------------------------------------------------------------------------------------------------

    def insert(self, relation: str, rows: GivenRows) -> None:
        """Let rows of an input relation be true; rows that are true already change nothing.

        Rows are tuples, mappings or objects by column name, or a frame: Arrow, pandas, polars, or anything else with
        `__arrow_c_stream__`. A row whose primary key another row has is refused.
        """
        self._pending(relation).insert(self._read(relation, rows))

    def delete(self, relation: str, rows: GivenRows) -> None:
        """Let rows of an input relation be false; rows that are false already change nothing."""
        self._pending(relation).delete(self._read(relation, rows))

    def upsert(self, relation: str, rows: GivenRows) -> None:
        """Let rows be true in place of those with the same primary key."""
        self._keyed(relation).upsert(self._read(relation, rows))

    def delete_keys(self, relation: str, keys: Iterable[Any]) -> None:
        """Delete the rows with these primary keys; a key that no row has changes nothing."""
        self._keyed(relation).delete_keys(self._reading.keys(relation, keys))

    def modify(self, relation: str, key: Any, changes: Mapping[str, Any]) -> None:
        """Change some columns of the row with a primary key, which must exist.

        `changes` has for each such column its new value, or a function from the old value to the new one.

        >>> import tidelog
        >>> db = tidelog.Database("input relation Stock(item: string, count: u32) primary key (s) s.item")
        >>> with db.transaction() as tx:
        ...     tx.insert("Stock", [("tea", 5)])
        ...     tx.modify("Stock", "tea", {"count": lambda count: count - 1})
        >>> db.relation("Stock").rows()
        [('tea', 4)]
        """
        pending = self._keyed(relation)
        reading = self._reading
        (proper,) = reading.keys(relation, [key])
        pending.modify(proper, lambda row: reading.revised(relation, row, changes))

    def load(self, folder: str | Path, *, header: Header = "auto") -> Facts:
        """Insert the facts of a folder's files, and return them with remarks; see `tidelog.load_facts`."""
        self._check_open()
        expect(folder, (str, Path), "folder", "the path of a folder")
        from tidelog.session.formats.files import read_facts  # noqa: PLC0415  (few transactions read files)

        reading = self._reading
        facts = read_facts(Path(folder), reading.program.relations, reading.plain, self._store.tuning, header)
        for relation, rows in facts.rows.items():
            self.insert(relation, rows)
        return facts

    def clear(self, relation: str) -> None:
        """Delete all rows of an input relation, also those that this transaction has inserted so far.

        Facts that the program states stay: they go with their rules.
        """
        pending = self._pending(relation)
        stored = self._store.stored(relation)
        pending.clear([row[:-1] for row in stored] if isinstance(pending, PendingCopies) else stored)

    def _pending(self, relation: str) -> Pending:
        self._check_open()
        expect(relation, str, "relation", "the name of a relation")
        if relation not in self._facts:
            self._facts[relation] = self._store.pending(relation, self._now)
        return self._facts[relation]

    def _read(self, relation: str, rows: GivenRows) -> Rows:
        return self._store.read(relation, rows, self._now)

    @property
    def _reading(self) -> Reading:
        return self._store.reading(self._now)

    @property
    def _now(self) -> RuleBase:
        """The rules as a commit would leave them."""
        return self._rules or self._store.state.rules

    def _keyed(self, relation: str) -> PendingKeyed:
        pending = self._pending(relation)
        if isinstance(pending, PendingKeyed):
            return pending
        raise DataError(f"{relation} has no primary key: its declaration needs `primary key (x) x.column`")

    # --- rules -------------------------------------------------------------------------------------------------------

    def add_rules(self, text: str) -> None:
        """Add rules; raise `ProgramError` if they do not fit the program. A rule in force already changes nothing."""
        self._check_open()
        expect(text, str, "text", "rules as text")
        self._rules = self._now.add(text)

    def remove_rules(self, rule: str) -> None:
        """Remove the rules with a name, or with a text (layout does not matter)."""
        self._check_open()
        expect(rule, str, "rule", "the name or the text of a rule")
        self._rules = self._now.remove(rule)

    # --- declarations ------------------------------------------------------------------------------------------------

    def add(self, text: str) -> None:
        """Add declarations, of relations, functions, types and indexes, and rules.

        >>> import tidelog
        >>> db = tidelog.Database("input relation Edge(a: u8, b: u8)", facts={"Edge": [(1, 2), (2, 2)]})
        >>> with db.transaction() as tx:
        ...     tx.add("output relation Loop(a: u8)  Loop(x) :- Edge(x, x).")
        >>> db["Loop"].rows()
        [(2,)]
        """
        self._check_open()
        expect(text, str, "text", "declarations and rules as text")
        self._rules = self._now.declare(text)
        for name in sorted(self._dropped & self._now.program.relations.keys()):
            found = self._now.program.relations[name]
            if found.role == "input" and self._store.holds(found):  # one of the same name, which begins empty
                if found.primary_key != self._store.relation(name).primary_key:
                    raise UserError(f"{name} was removed in this transaction: add it with another key in the next one")
                self._pending(name).clear(self._store.stored(name))
            self._dropped.discard(name)

    def remove(self, name: str) -> None:
        """Remove the relation, function, type or index of a name, or else rules, by name or by text.

        A relation goes with its rows. What is in use is refused, with what uses it.
        """
        self._check_open()
        expect(name, str, "name", "the name of what was declared, or the name or the text of a rule")
        if name not in self._now.analysis.declares():
            self.remove_rules(name)
            return
        self._rules = self._now.undeclare(name, self._store.open_goals())
        self._facts.pop(name, None)
        self._dropped.add(name)

    @property
    def declarations(self) -> Program:
        """The program as a commit would leave it: its relations and types."""
        return self._now.program

    # --- the end -----------------------------------------------------------------------------------------------------

    def preview(self) -> Changes:
        """Return the changes that a commit would make now, without making them."""
        self._check_open()
        return self._store.try_out(self._changes(), self._now, self._limits)

    def query(self, goal: str, parameters: Mapping[str, Any] | None = None) -> Answers:
        """Return the answers that a goal would have after a commit now; see `Database.query`."""
        self._check_open()
        rules = self._now
        return self._store.foreseen(goal, parameters or {}, self._changes(), rules, self._limits)

    def commit(self) -> Commit:
        """Make the changes and return what they were. If refused, nothing has changed and the transaction is over."""
        hold = self._check_open()
        try:
            with hold:
                rules = self._now
                return self._store.apply(self._changes(), rules, self._limits, self._outcome)
        finally:
            self._close()

    def rollback(self) -> None:
        """Drop everything."""
        with self._check_open():
            pass
        self._close()

    @property
    def result(self) -> Commit:
        """What the commit did."""
        self._store.settle(self._outcome)  # an interrupted commit that did not become visible has no result
        if self._outcome.commit is None:
            state = "is still open" if self._is_open else "was not committed"
            raise UserError(f"the transaction has no result: it {state}")
        return self._outcome.commit

    def _changes(self) -> dict[str, Delta]:
        changes = {relation: pending.change() for relation, pending in self._facts.items()}
        return {relation: change for relation, change in changes.items() if change}

    @property
    def _is_open(self) -> bool:
        return self._hold is not None and not self._hold.over

    def _check_open(self) -> Hold:
        """Return the hold of the lock of writers, which as a context manager releases it."""
        if self._hold is None or self._hold.over:
            raise UserError("the transaction is not open: use `with db.transaction() as tx:`")
        return self._hold

    def begin(self) -> Self:
        """Open the transaction without a `with` block; `commit` or `rollback` must follow."""
        if self._is_open or self._outcome.commit is not None:
            raise UserError("a transaction can be used once: call db.transaction() again")
        self._hold = hold = self._store.writing.held()
        if self.block() is not None:
            hold.life = self.block
            self._store.begin(hold)
            return self
        return hold.during(partial(self._begin, hold))() or self  # no line after the last of `_begin`: it is open then

    def _begin(self, hold: Hold) -> None:
        self._store.begin(hold)
        hold.life = ref(self)

    def _close(self) -> None:
        self._facts.clear()
        self._rules = None
        self._store.subscriptions.deliver()

    def __enter__(self) -> Self:
        if self._hold is None or self._hold.over:
            return self.begin()
        if self.block() is not None:
            self._hold.life = self.block
        return self

    @ending
    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if self._is_open:
            if error is None:
                self.commit()
            else:
                self.rollback()
