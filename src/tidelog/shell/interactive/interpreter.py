"""Executes commands of the shell on a database.

One transaction is open at a time. Updates of a batch wait until it ends: with `;` or with any command that is no
update. What is shown has DDlog's form: `dump` has for every relation that ever had a row its name, its rows in order
and an empty line; changes are the rows in order, each with its weight.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, assert_never

from tidelog.base.errors import DataError, UserError
from tidelog.session.changes import Changes
from tidelog.session.changes import Commit as Committed
from tidelog.session.database import Database, plan_of
from tidelog.session.observe.profile import show_profile
from tidelog.session.observe.totals import Totals
from tidelog.session.transaction import Transaction
from tidelog.shell.interactive import commands
from tidelog.shell.interactive.commands import Command, Update
from tidelog.shell.interactive.conversion import DDLOG_STD, STD, Converter
from tidelog.shell.interactive.dumping import Dumper, ddlog_name
from tidelog.shell.interactive.own_commands import OwnCommands
from tidelog.shell.interactive.records import Record, Struct

SINGLETON = "ddlog_std::Singleton"
"""The one relation of DDlog's library, with its one row, which DDlog shows with a program's internal relations."""


class Interpreter:
    """A database, its open transaction, and where output goes. `shown` are the roles of relations that are dumped.

    >>> from tidelog.shell.interactive.commands import read_command
    >>> shell = Interpreter(Database("input relation A(x: u8) output relation B(x: u8) B(x) :- A(x)."), print)
    >>> for text in ("start;", "insert A(1);", "commit dump_changes;"):
    ...     shell.execute(read_command(text)[0])
    B:
    B{.x = 1}: +1
    """

    def __init__(self, database: Database, say: Callable[[str], None], shown: Sequence[str] = ("output",)) -> None:
        self.database = database
        self.transaction: Transaction | None = None
        self.last: Committed | None = None
        self.totals = Totals()
        self.finished = False
        self.say = say
        self._shown = shown
        self._batch: list[Update] = []
        self._began = time.monotonic_ns()
        self._typed: tuple[Any, Converter, Dumper] | None = None
        self._filled = {view.name for view in database.relations() if view.count()}
        self._own = OwnCommands(self)

    # --- commands ----------------------------------------------------------------------------------------------------

    def execute(self, command: Command) -> None:
        """Execute a command; a `UserError` says what is wrong with it, and drops the batch it belongs to."""
        if isinstance(command, Update):
            self._batch.append(command)
            if command.last:
                self._apply()
            return
        self._apply()
        match command:
            case commands.Start():
                self._start()
            case commands.Commit(changes):
                self._commit(changes=changes)
            case commands.Rollback():
                self._open("rollback").rollback()
                self.transaction = None
            case commands.Clear(relation):
                self._open("clear").clear(self._relation(relation))
            case commands.Dump(relation):
                self._dump(relation)
            case commands.QueryIndex(index, key):
                self._query_index(index, key)
            case commands.DumpIndex(index):
                self._say_rows(self.database.index(index).relation, self.database.dump_index(index))
            case commands.Timestamp():
                self.say(f"Timestamp: {time.monotonic_ns() - self._began}")
            case commands.Profile(None):
                self.say(show_profile(self.last))
            case commands.Profile() | commands.LogLevel():
                pass  # work is always recorded, and programs write no log
            case commands.Echo(text):
                self.say(text)
            case commands.Sleep(milliseconds):
                time.sleep(milliseconds / 1000)
            case commands.Exit():
                self.finished = True
            case commands.Colon(name, text):
                self._own.execute(name, text)
            case _:
                assert_never(command)

    def snapshot(self) -> None:
        """Show what is true before any command, as changes."""
        for name in self._dumped():
            weights = self.database.relation(name).weights()
            if weights:
                self._say_changes(name, weights.items())
        if "internal" in self._shown:
            self.say(f"{SINGLETON}:\n{SINGLETON}{{}}: +1")

    def close(self) -> None:
        """Drop an open transaction."""
        self._batch.clear()
        if self.transaction is not None:
            self.transaction.rollback()
            self.transaction = None

    def say_changes(self, changes: Changes) -> None:
        """Show the changes of the relations that are dumped."""
        for name in self._dumped():
            if changes[name]:
                self._say_changes(name, changes[name])

    def committed(self, commit: Committed) -> None:
        """Take note of a commit."""
        self.last = commit
        self.totals.add(commit)
        self._filled.update(name for name, change in commit.changes.items() if change.inserted)

    # --- transactions ------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        if self.transaction is not None:
            raise UserError("a transaction is in progress already: commit or roll it back first")
        self.transaction = self.database.transaction().begin()

    def _open(self, command: str) -> Transaction:
        if self.transaction is None:
            raise UserError(f"{command}: no transaction is in progress: `start;` begins one")
        return self.transaction

    def _commit(self, *, changes: bool) -> None:
        transaction = self._open("commit")
        self.transaction = None
        commit = transaction.commit()
        self.committed(commit)
        if changes:
            self.say_changes(commit.changes)

    def _apply(self) -> None:
        batch, self._batch = self._batch, []
        if batch:
            transaction = self._open(batch[0].operation)
            for (operation, relation), updates in groupby(batch, key=lambda u: (u.operation, u.relation)):
                self._update(transaction, operation, self._relation(relation), list(updates))

    def _update(self, transaction: Transaction, operation: str, relation: str, updates: list[Update]) -> None:
        match operation:
            case "insert":
                transaction.insert(relation, [self._row(relation, update) for update in updates])
            case "insert_or_update":
                transaction.upsert(relation, [self._row(relation, update) for update in updates])
            case "delete":
                transaction.delete(relation, [self._row(relation, update) for update in updates])
            case "delete_key":
                transaction.delete_keys(relation, [self._key(relation, update.key) for update in updates])
            case _:
                for update in updates:
                    self._modify(transaction, relation, update)

    def _modify(self, transaction: Transaction, relation: str, update: Update) -> None:
        declared = self._declared(relation)
        if not isinstance(update.record, Struct):
            raise DataError(f"modify {relation}: the changes are written like `{relation}{{.column = value}}`")
        given = self._converter.changes(update.record, relation, declared.columns)
        transaction.modify(relation, self._key(relation, update.key), given)

    # --- names and values --------------------------------------------------------------------------------------------

    def _relation(self, name: str) -> str:
        proper = STD + name.removeprefix(DDLOG_STD) if name.startswith(DDLOG_STD) else name
        if self.transaction is not None and proper in self.transaction.declarations.relations:
            return proper
        return self.database.relation(proper).name

    def _declared(self, relation: str) -> Any:
        """Return the declaration of a relation, which may be of the open transaction."""
        if self.transaction is not None:
            found = self.transaction.declarations.relations.get(relation)
            if found is not None:
                return found
        return plan_of(self.database).relations[relation]

    def _by_types(self) -> tuple[Any, Converter, Dumper]:
        """Return what reads and shows values of the types that there are now."""
        whole = plan_of(self.database) if self.transaction is None else self.transaction.declarations
        if self._typed is None or self._typed[0] is not whole.relations:
            self._typed = whole.relations, Converter(whole.types), Dumper(whole.types)
        return self._typed

    @property
    def _converter(self) -> Converter:
        return self._by_types()[1]

    @property
    def _dumper(self) -> Dumper:
        return self._by_types()[2]

    def _row(self, relation: str, update: Update) -> tuple[Any, ...]:
        declared = self._declared(relation)
        if update.whole:
            assert update.record is not None
            return self._converter.row(update.record, declared.columns, declared.element)
        assert isinstance(update.record, Struct)
        return self._converter.fields(update.record, relation, declared.columns)

    def _key(self, relation: str, key: Record | None) -> Any:
        declared = self._declared(relation)
        if declared.primary_key is None:
            raise DataError(f"{relation} has no primary key: its declaration needs `primary key (x) x.column`")
        assert key is not None
        return self._converter.value(key, declared.primary_key.type)

    # --- output ------------------------------------------------------------------------------------------------------

    def _dumped(self) -> list[str]:
        whole = plan_of(self.database) if self.transaction is None else self.transaction.declarations
        shown = [one for one in whole.relations.values() if one.role in self._shown and not one.auxiliary]
        return sorted((one.name for one in shown), key=ddlog_name)

    def _dump(self, relation: str | None) -> None:
        if relation is not None:
            name = self._relation(relation)
            self._filled.add(name)
            self._say_relation(name)
            return
        for name in self._dumped():
            if name in self._filled:
                self.say(f"{ddlog_name(name)}:")
                self._say_relation(name)
                self.say("")
        if "internal" in self._shown:
            self.say(f"{SINGLETON}:\n{SINGLETON}{{}}\n")

    def _query_index(self, index: str, key: Sequence[Any]) -> None:
        relation = self.database.index(index).relation
        parameters = plan_of(self.database).declared[index].parameters
        if len(parameters) == len(key):
            key = [self._converter.value(record, p.type) for record, p in zip(key, parameters, strict=True)]
        rows = self.database.query_index(index, *key)  # which also says that the number of values is wrong
        self._say_rows(relation, rows)

    def _say_relation(self, name: str) -> None:
        declared, view = self._declared(name), self.database.relation(name)
        if declared.kind != "multiset":
            self._say_rows(name, view.rows())
            return
        for row, weight in view.weights().items():
            shown = self._dumper.row(row, declared.columns, declared.element)
            self.say(shown if weight == 1 else f"{shown} {weight:+}")

    def _say_rows(self, relation: str, rows: Sequence[tuple[Any, ...]]) -> None:
        declared = self._declared(relation)
        if rows:  # in one go: a line at a time is flushed a line at a time
            self.say("\n".join(self._dumper.row(row, declared.columns, declared.element) for row in rows))

    def _say_changes(self, relation: str, changes: Any) -> None:
        declared = self._declared(relation)
        lines = self._dumper.changes(changes, declared.columns, declared.element)
        self.say("\n".join([f"{ddlog_name(relation)}:", *lines]))
