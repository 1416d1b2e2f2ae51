"""The commands of the shell, which are DDlog's, and how they are read.

    start; commit; commit dump_changes; rollback;
    insert R(1, "a"), insert R(.x = 2, .y = "b");     insert_or_update R(...); delete R(...); insert R[value];
    delete_key R key; modify R key <- R{.y = "c"}; clear R;
    dump; dump R; query_index I(key); dump_index I;
    echo text; timestamp; sleep 100; log_level 1; profile; profile cpu on; exit; # comment

A comma after an update says that more belong to the same batch; `;` ends it. Commands that begin with a colon are
Tidelog's own: one line each, except `:rule add`, whose text ends with the line that ends in a dot, and `:add`, whose
text ends with the line that ends a declaration. What begins like a goal is one, up to the line that ends in `?`, and
the same as `:query` without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

from tidelog.base.record import record
from tidelog.shell.interactive.records import CommandError, IncompleteError, Record, RecordReader

Operation = Literal["insert", "insert_or_update", "delete", "delete_key", "modify"]


@record
class Start:
    """Begin a transaction."""


@record
class Commit:
    """End the transaction, and show what changed if that is wanted."""

    changes: bool


@record
class Rollback:
    """Drop the transaction."""


@record
class Update:
    """Change one row; `whole` says that `record` is the whole row, as in `R[value]`; `last` that a batch ends."""

    operation: Operation
    relation: str
    record: Record | None
    whole: bool
    key: Record | None
    last: bool


@record
class Clear:
    """Delete all rows of a relation."""

    relation: str


@record
class Dump:
    """Show an output relation, or all."""

    relation: str | None


@record
class QueryIndex:
    """Show what an index has for a key."""

    index: str
    key: tuple[Record, ...]


@record
class DumpIndex:
    """Show all that an index has."""

    index: str


@record
class Timestamp:
    """Show the nanoseconds since the shell began."""


@record
class Profile:
    """Show the work of the last commit, or (`what`) let something be recorded or not."""

    what: str | None = None
    on: bool = False


@record
class LogLevel:
    """Set which messages of the program are shown."""

    level: int


@record
class Echo:
    """Show a text."""

    text: str


@record
class Sleep:
    """Wait."""

    milliseconds: int


@record
class Exit:
    """Leave the shell."""


@record
class Colon:
    """A command of Tidelog's own."""

    name: str
    text: str


Command = (
    Start
    | Commit
    | Rollback
    | Update
    | Clear
    | Dump
    | QueryIndex
    | DumpIndex
    | Timestamp
    | Profile
    | LogLevel
    | Echo
    | Sleep
    | Exit
    | Colon
)

_WORD = re.compile(r"[a-z_]+")
_UPDATE = re.compile(r"(insert_or_update|insert|delete_key|delete|modify)\b")
_ECHO = re.compile(r"\s*([^;]*);")
_LINE = re.compile(r":(\w*)[ \t]*([^\n]*)\n")
_ADD = re.compile(r":rule[ \t]+add\b")
_TEXT = re.compile(r":(add)\b[ \t]*([^\n]*)\n")
_GOES_ON = re.compile(r"(?:[,=|:]|:-)$")
_GOAL = re.compile(r"(?:[A-Z(]|not\b|var\b)")
_NEXT = re.compile(r"([^\n]*)\n")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*')
_ASKED = re.compile(r"(.*?)\?[ \t]*;?[ \t]*\n", re.DOTALL)
_ENDED = re.compile(r"[^?\s]\s*;\s*$")
_RULE = re.compile(r":(rule)[ \t]+(add\b(?:[^\n]*\n)*?[^\n]*\.[ \t]*;?[ \t]*)\n")


def read_command(text: str, position: int = 0) -> tuple[Command | None, int]:
    """Read the next command and return it with the place behind it; None if there are only spaces and comments.

    Raises `IncompleteError` if the text could go on, `CommandError` if it cannot be a command.

    >>> read_command("start; commit;")
    (Start(), 6)
    """
    reader = RecordReader(text, position)
    match reader.peek():
        case "":
            return None, reader.position
        case "#":
            raise IncompleteError("a comment without the end of its line")
        case ":":
            return _colon(reader), reader.position
    if _GOAL.match(text, reader.position):
        return _goal(reader), reader.position
    update = reader.match(_UPDATE)
    try:
        command = _update(reader, update[1]) if update else _simple(reader)
    except RecursionError:
        raise CommandError("a value is nested too deeply") from None
    return command, reader.position


def _simple(reader: RecordReader) -> Command:
    start = reader.position
    word = reader.match(_WORD)
    read = _READ.get(word[0]) if word else None
    if read is None:
        reader.position = start
        if word is not None and word.end() == len(reader.text) and any(name.startswith(word[0]) for name in COMMANDS):
            raise IncompleteError("the beginning of a command")
        raise reader.error("a command (`:help` lists them)")
    command = read(reader)
    if not isinstance(command, Echo):
        reader.expect(";")
    return command


def _update(reader: RecordReader, operation: str) -> Update:
    relation = reader.name("the name of a relation")
    key: Record | None = None
    record: Record | None = None
    whole = False
    match operation:
        case "insert" | "insert_or_update" | "delete":
            whole = reader.take("[")
            if whole:
                record = reader.record()
                reader.expect("]")
            else:
                record = reader.arguments(relation, "(", ")")
        case "delete_key":
            key = reader.record()
        case _:
            key = reader.record()
            reader.expect("<-")
            record = reader.record()
    last = not reader.take(",")
    if last and not reader.take(";"):
        raise reader.error("`,` or `;`")
    return Update(operation, relation, record, whole, key, last)  # type: ignore[arg-type]  # the pattern has only these


def _commit(reader: RecordReader) -> Commit:
    return Commit(changes=reader.take("dump_changes"))


def _dump(reader: RecordReader) -> Dump:
    return Dump(None if reader.peek() in {";", ""} else reader.name("the name of a relation"))


def _query_index(reader: RecordReader) -> QueryIndex:
    index = reader.name("the name of an index")
    return QueryIndex(index, reader.sequence("(", ")", reader.record))


def _echo(reader: RecordReader) -> Echo:
    found = _ECHO.match(reader.text, reader.position)
    if found is None:
        raise IncompleteError("a text without its `;`")
    reader.position = found.end()
    return Echo(found[1])


def _profile(reader: RecordReader) -> Profile:
    if reader.peek() in {";", ""}:
        return Profile()
    what = reader.name("`cpu`, `change` or `timely`")
    state = reader.string() if reader.peek() == '"' else reader.name("`on` or `off`")
    if what not in {"cpu", "change", "timely"} or state not in {"on", "off"}:
        raise CommandError("profile knows `cpu`, `change` and `timely`, each `on` or `off`")
    return Profile(what, state == "on")


def _sleep(reader: RecordReader) -> Sleep:
    return Sleep(max(0, reader.integer()))


def _added(reader: RecordReader) -> Colon | None:
    """Read `:add` with declarations or rules: up to the line that ends one, as far as brackets and dots tell."""
    found = reader.match(_TEXT)
    if found is None:
        return None
    lines = [found[2]]
    while not _is_whole("\n".join(lines)):
        more = reader.match(_NEXT)
        if more is None:
            raise IncompleteError("a text that goes on")
        lines.append(more[1])
    return Colon("add", "\n".join(lines).strip())


def _is_whole(text: str) -> bool:
    """Tell whether a text may end here.

    >>> [_is_whole(text) for text in ("relation R(x: u8)", "function f(x: u8): u8 {", "R(x) :- S(x)", "R(x) :- S(x).")]
    [True, False, False, True]
    """
    text = _QUOTED.sub("", text).strip()
    is_open = any(text.count(one) > text.count(other) for one, other in ("()", "[]", "{}"))
    return not is_open and not _GOES_ON.search(text) and (":-" not in text.rpartition(".")[2])


def _colon(reader: RecordReader) -> Colon:
    added = _added(reader)
    if added is not None:
        return added
    if _ADD.match(reader.text, reader.position):
        found = reader.match(_RULE)
        if found is None:
            raise IncompleteError("a rule without its dot")
    else:
        found = reader.match(_LINE)
        if found is None:
            raise IncompleteError("a line without its end")
    return Colon(found[1], found[2].strip().removesuffix(";").strip())


def _goal(reader: RecordReader) -> Colon:
    line = reader.text[reader.position :].partition("\n")[0]
    if _ENDED.search(line):
        raise reader.error("a command (`:help` lists them)")
    found = reader.match(_ASKED)
    if found is None:
        raise IncompleteError("a goal without its `?`")
    return Colon("query", found[1].strip())


_READ: dict[str, Callable[[RecordReader], Command]] = {
    "start": lambda _: Start(),
    "commit": _commit,
    "rollback": lambda _: Rollback(),
    "clear": lambda reader: Clear(reader.name("the name of a relation")),
    "dump": _dump,
    "query_index": _query_index,
    "dump_index": lambda reader: DumpIndex(reader.name("the name of an index")),
    "timestamp": lambda _: Timestamp(),
    "profile": _profile,
    "log_level": lambda reader: LogLevel(reader.integer()),
    "echo": _echo,
    "sleep": _sleep,
    "mssleep": _sleep,
    "exit": lambda _: Exit(),
}
COMMANDS = ("insert", "insert_or_update", "delete", "delete_key", "modify", *_READ)
"""The first words of all commands that have no colon."""
