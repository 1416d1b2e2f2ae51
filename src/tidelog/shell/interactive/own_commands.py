"""The commands beyond DDlog's, which begin with a colon: rules, plan, preview, verification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol, cast

from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import UserError
from tidelog.session.changes import Changes, Commit
from tidelog.session.database import Database, plan_of
from tidelog.session.engines import StrategyName
from tidelog.session.exchange import save_facts
from tidelog.session.observe.totals import Totals
from tidelog.session.program.sources import read_source
from tidelog.session.program.static import PLAN_FORMATS
from tidelog.session.transaction import Transaction
from tidelog.shell.tables import answers_table

HELP = """\
start;                            begin a transaction
insert R(1, "a");                 also R(.x = 1, .y = "a") and R[value]; with `,` more follow
insert_or_update R(1, "b");       insert, or replace the row with the same primary key
delete R(1, "a");                 delete a row
delete_key R 1;                   delete the row with a primary key
modify R 1 <- R{.y = "c"};        change some columns of the row with a primary key
clear R;                          delete all rows
commit; commit dump_changes;      end the transaction; show what changed
rollback;                         drop the transaction
dump; dump R;                     show all output relations; show one relation
query_index I(1); dump_index I;   show what an index has for a key; all it has
profile; timestamp;               show the work of the last commit; nanoseconds since the start
echo text; sleep 100; exit;       show a text; wait (milliseconds); leave
:query GOAL                       show the answers to a goal, such as R(1, x), not S(x); also: GOAL ?
:rule add TEXT                    add rules, in the open transaction or else at once
:rule remove NAME-OR-TEXT         remove rules
:rule list                        show the rules in force
:add TEXT                         add declarations and rules, in the open transaction or else at once
:remove NAME                      remove a relation, function, type, index, or rules
:load DIR  :load FILE.dl          insert the facts of a folder's files; add the declarations and rules of a file
:save DIR                         write the facts of each input relation, as `:load` reads them
:plan [text|dot|mermaid|json]     show how they are computed
:profile  :profile FILE.html       show the work of all commits by relations; write it as a page
:preview                          show what a commit would change now
:verify                           compute everything from scratch and compare
:strategy [NAME]                  show how relations follow changes, and what the last commit did; change it
:help                             this"""


class Shell(Protocol):
    """What these commands ask of the interpreter."""

    database: Database
    transaction: Transaction | None
    last: Commit | None
    totals: Totals
    say: Callable[[str], None]

    def say_changes(self, changes: Changes) -> None: ...
    def committed(self, commit: Commit) -> None: ...


class OwnCommands:
    """Executes commands by name."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._execute: dict[str, Callable[[str], None]] = {
            "query": self._query,
            "rule": self._rule,
            "add": self._add,
            "remove": self._remove,
            "load": self._load,
            "save": self._save,
            "plan": self._plan,
            "profile": self._profile,
            "preview": self._preview,
            "verify": self._verify,
            "strategy": self._strategy,
            "help": lambda _: self._shell.say(HELP),
        }

    def execute(self, name: str, text: str) -> None:
        """Execute a command; `text` is what follows its name."""
        if name not in self._execute:
            hint = did_you_mean(name, self._execute)
            raise UserError(f"there is no command `:{name}`; {hint or '`:help` lists them'}")
        self._execute[name](text)

    def _query(self, text: str) -> None:
        asked = self._shell.transaction or self._shell.database
        answers = asked.query(text)
        self._shell.say(answers_table(answers, len(answers)).rstrip("\n"))

    def _rule(self, text: str) -> None:
        action, _, rest = text.partition(" ") if " " in text.partition("\n")[0] else text.partition("\n")
        match action:
            case "add":
                with self._transaction() as transaction:
                    transaction.add_rules(rest)
            case "remove":
                with self._transaction() as transaction:
                    transaction.remove_rules(rest.strip())
            case "list":
                for rule in self._shell.database.rules():
                    name = f'#[name = "{rule.name}"] ' if rule.name else ""
                    self._shell.say(f"{name}{rule.text}{'' if rule.active else '  // removed'}")
            case _:
                raise UserError("`:rule` is followed by `add`, `remove` or `list`")

    def _add(self, text: str) -> None:
        with self._transaction() as transaction:
            transaction.add(text)

    def _remove(self, text: str) -> None:
        with self._transaction() as transaction:
            transaction.remove(text)

    def _load(self, text: str) -> None:
        if not text:
            raise UserError("`:load` is followed by a folder of facts, or a file of declarations and rules, `NAME.dl`")
        with self._transaction() as transaction:
            if text.endswith(".dl"):
                transaction.add(read_source(Path(text)).text)
                return
            facts = transaction.load(text)
        for note in facts.remarks.notes:
            self._shell.say(f"note: {note}")

    def _save(self, text: str) -> None:
        if not text:
            raise UserError("`:save` is followed by a folder, where the facts of each input relation are written")
        for path, rows in save_facts(self._shell.database, text).items():
            self._shell.say(f"{path}: {rows} row{'' if rows == 1 else 's'}")

    @contextmanager
    def _transaction(self) -> Iterator[Transaction]:
        """Give the open transaction, or one that is committed at once."""
        if self._shell.transaction is not None:
            yield self._shell.transaction
            return
        with self._shell.database.transaction() as transaction:
            yield transaction
        self._shell.committed(transaction.result)

    def _plan(self, text: str) -> None:
        if text and text not in PLAN_FORMATS:
            raise UserError(f"there is no form `{text}` of a plan; there are {', '.join(PLAN_FORMATS)}")
        self._shell.say(getattr(self._shell.database.plan, text or "text")().rstrip("\n"))

    def _profile(self, text: str) -> None:
        database = self._shell.database
        known = plan_of(database)
        counts = Counter({v.name: v.count() for v in database.relations() if v.name not in known.demanded})
        if not text:
            self._shell.say(self._shell.totals.text(counts))
            return
        try:
            Path(text).write_text(self._shell.totals.page(counts), encoding="utf-8")
        except OSError as error:
            raise UserError(f"cannot write {text}: {error.strerror}") from None

    def _preview(self, text: str) -> None:
        del text
        if self._shell.transaction is None:
            raise UserError("preview: no transaction is in progress: `start;` begins one")
        self._shell.say_changes(self._shell.transaction.preview())

    def _verify(self, text: str) -> None:
        del text
        self._shell.database.verify()
        self._shell.say("Everything is as computed from scratch.")

    def _strategy(self, text: str) -> None:
        if text:
            self._shell.database.set_strategy(cast(StrategyName, text))
            return
        self._shell.say(f"{self._shell.database.strategy} on engine {self._shell.database.engine}")
        for work in self._shell.last.profile if self._shell.last is not None else ():
            self._shell.say(f"{', '.join(work.relations)}: {work.strategy} ({work.reason})")
