"""The file that describes a pipeline.

    program = "network.dl"            # paths are relative to this file
    state = "state"                   # where versions are kept
    library = ["lib"]                 # folders with modules to import
    changes = "inbox"                 # the folder that `tidelog pipeline watch` follows

    [engine]
    cores = 2
    strategy = "auto"
    partitions = 8
    driver_rows = 100000
    spark = { "spark.driver.memory" = "2g" }

    [[source]]
    relation = "Link"
    format = "csv"                    # whatever Spark can read; `table` takes the name of a table as path
    path = "data/links"
    options = { header = true }
    columns = { a = "from", b = "cast(to as date)" }  # the relation's column = the source's, or an expression of Spark
    on_error = "quarantine"           # or "fail", the default
    owner = "source"                  # or "feed": who is right when both have changed the relation

    [[stream]]                        # what `watch` follows, beside the folder `changes`
    relation = "Blocked"
    format = "kafka"                  # whatever Spark can read as a stream
    options = { subscribe = "blocked", "kafka.bootstrap.servers" = "head:9092" }
    columns = { port = "cast(cast(value as string) as int)" }
    weight = "if(value is null, -1, 1)"  # what is inserted and what is deleted; without it all is inserted

    [[sink]]
    relation = "Reach"
    format = "parquet"
    path = "out/reach"
    mode = "changes"                  # or "feed", "merge" by a `key`, or "full", the default

    [[expect]]
    relation = "Violation"            # a relation that is to have no rows
    on_rows = "warn"                  # or "fail", the default: no version is made

`${NAME}` stands for a parameter or a variable of the environment (`parameters`). A mistake is a `UserError` that names
the file and the key and says what was expected.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import UserError
from tidelog.base.record import record
from tidelog.session.engines import StrategyName
from tidelog.session.pipeline.parameters import filled
from tidelog.session.pipeline.paths import TABLE, check_paths
from tidelog.session.pipeline.places.addresses import local_folder, qualified, state_place
from tidelog.session.pipeline.places.place import Place

ON_ERROR = ("fail", "quarantine")
OWNERS = ("", "source", "feed")
"""Who is right about a relation that its source and files of changes have changed: nobody, unless it is said."""
ON_ROWS = ("fail", "warn")
FULL, CHANGES, FEED, MERGE = MODES = ("full", "changes", "feed", "merge")
"""What a sink gets: all rows, signed rows, a feed with operation, version and time, or rows put in and out by a key."""
MERGED = ("delta", "jdbc")
"""Formats whose rows can be put in and out by a key."""
STRATEGIES: tuple[StrategyName, ...] = ("auto", "ranked", "recompute")
DRIVER_ROWS = "spark.tidelog.driverRows"
OPTIONS = {"partitions": ("spark.tidelog.partitions", 1), "driver_rows": (DRIVER_ROWS, 0)}
"""Numbers of the engine: what a session calls them, and the least they may be."""
KEYS = ("program", "state", "library", "changes", "engine", "storage", "source", "stream", "sink", "expect")
STREAM = "stream"
"""The format of a stream that is given as a DataFrame."""
PATHLESS = ("jdbc",)
"""Formats whose options say where the data is."""


Storage = Mapping[str, str]
"""What the driver is to know to reach an object store without Spark."""


@record
class SourceTable:
    """Where the facts of an input relation come from."""

    relation: str
    format: str
    path: str | None
    options: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    on_error: str = ON_ERROR[0]
    owner: str = OWNERS[0]
    storage: Storage | None = None
    weight: str = ""
    """For rows of a stream: what is inserted, 1, or deleted, -1, as an expression; all are inserted without."""
    is_stream: bool = False

    def __str__(self) -> str:
        kind = "stream" if self.is_stream else "source"
        return f"{kind} {self.relation}" + (f" ({self.path})" if self.path else "")


@record
class Sink:
    """Where the rows of a relation, or their changes, go to."""

    relation: str
    format: str
    path: str | None
    options: Mapping[str, str] = field(default_factory=dict)
    mode: str = MODES[0]
    key: tuple[str, ...] = ()
    """The columns by which `merge` knows rows."""
    storage: Storage | None = None

    def __str__(self) -> str:
        return f"sink {self.relation}" + (f" ({self.path})" if self.path else "")


@record
class Expectation:
    """A relation that is to have no rows, and what happens if it has."""

    relation: str
    on_rows: str = ON_ROWS[0]

    def __str__(self) -> str:
        return f"expectation of {self.relation}"


@record
class Config:
    """A pipeline as its file describes it; local paths are resolved."""

    file: Path
    program: Path
    state: Place
    library: tuple[Path, ...] = ()
    changes: Path | None = None
    cores: int | str = "*"
    strategy: StrategyName = "auto"
    options: Mapping[str, str] = field(default_factory=dict)
    spark: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[SourceTable, ...] = ()
    streams: tuple[SourceTable, ...] = ()
    sinks: tuple[Sink, ...] = ()
    expectations: tuple[Expectation, ...] = ()

    def source(self, relation: str) -> SourceTable | None:
        """Return the source of a relation, if it has one."""
        return next((source for source in self.sources if source.relation == relation), None)


def read_config(file: str | Path, parameters: Mapping[str, str] | None = None) -> Config:
    """Return the pipeline that a file describes, with parameters; raise `UserError` if it does not describe one."""
    path = Path(file)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"cannot read {path}: it is not UTF-8 text (byte {error.start})") from None
    except tomllib.TOMLDecodeError as error:
        raise UserError(f"{path} is not TOML: {error}") from None
    known = _Table(path, "", content).names("parameters")
    given = parameters or {}
    for name in given:
        if name not in known and f"${{{name}}}" not in path.read_text(encoding="utf-8"):
            hint = did_you_mean(name, known)
            raise UserError(f"{path} has no parameter `{name}`" + (f"; {hint}" if hint else ""))
    content.pop("parameters", None)
    content = filled(content, {**known, **given}, str(path))
    config = _config(path, _Table(path, "", content))
    check_paths(config)
    return config


def _config(path: Path, top: _Table) -> Config:
    top.check_keys(
        ("program", "state", "library", "changes", "engine", "storage", "source", "stream", "sink", "expect")
    )
    folder = path.resolve().parent
    engine = top.table("engine")
    engine.check_keys(("cores", "strategy", "spark", *OPTIONS))
    changes = top.text("changes", required=False)
    storage = top.settings("storage") if "storage" in top.content else None
    sources = tuple(_source(table, folder, storage) for table in top.tables("source"))
    streams = tuple(_stream(table, folder) for table in top.tables("stream"))
    _check_once(path, [source.relation for source in sources], "sources; a source's path may be a folder or a glob")
    _check_once(path, [stream.relation for stream in streams], "streams; a stream may be one of several topics")
    return Config(
        file=path,
        program=top.local(top.needed("program"), "program", folder),
        state=state_place(top.needed("state"), folder, f"{path}: `state`", storage or {}),
        library=tuple(top.local(name, "library", folder) for name in top.texts("library")),
        changes=top.local(changes, "changes", folder) if changes is not None else None,
        cores=engine.count("cores"),
        strategy=engine.one_of("strategy", STRATEGIES),
        options={
            setting: str(engine.number(name, least))
            for name, (setting, least) in OPTIONS.items()
            if name in engine.content
        },
        spark=engine.settings("spark"),
        sources=sources,
        streams=streams,
        sinks=tuple(_sink(table, folder, storage) for table in top.tables("sink")),
        expectations=tuple(_expectation(table) for table in top.tables("expect")),
    )


def _source(table: _Table, folder: Path, storage: Storage | None) -> SourceTable:
    table.check_keys(("relation", "format", "path", "options", "columns", "on_error", "owner"))
    kind, path = _where(table, folder)
    return SourceTable(
        relation=table.needed("relation"),
        format=kind,
        path=path,
        options=table.settings("options"),
        columns=table.names("columns"),
        on_error=table.one_of("on_error", ON_ERROR),
        owner=table.one_of("owner", OWNERS),
        storage=storage,
    )


def _stream(table: _Table, folder: Path) -> SourceTable:
    table.check_keys(("relation", "format", "path", "options", "columns", "weight", "on_error"))
    kind, path = table.needed("format"), table.text("path", required=False)
    return SourceTable(
        relation=table.needed("relation"),
        format=kind,
        path=path if path is None or kind == TABLE else qualified(path, folder),
        options=table.settings("options"),
        columns=table.names("columns"),
        on_error=table.one_of("on_error", ON_ERROR),
        weight=table.text("weight", required=False) or "",
        is_stream=True,
    )


def _expectation(table: _Table) -> Expectation:
    table.check_keys(("relation", "on_rows"))
    return Expectation(table.needed("relation"), table.one_of("on_rows", ON_ROWS))


def _sink(table: _Table, folder: Path, storage: Storage | None) -> Sink:
    table.check_keys(("relation", "format", "path", "options", "mode", "key"))
    kind, path = _where(table, folder)
    mode, key = table.one_of("mode", MODES), tuple(table.texts("key"))
    if mode == MERGE and kind not in MERGED:
        raise table.mistake("mode", f"a format that rows can be merged into ({' or '.join(MERGED)}) with this mode")
    if (mode == MERGE) != bool(key):
        wanted = 'write key = ["..."], the columns that say which row is which' if not key else "only merge has one"
        raise UserError(f"{table.file}: `{table.key('key')}`: {wanted}")
    return Sink(table.needed("relation"), kind, path, table.settings("options"), mode, key, storage)


def _where(table: _Table, folder: Path) -> tuple[str, str | None]:
    kind = table.needed("format")
    path = table.text("path", required=kind not in PATHLESS)
    return kind, path if path is None or kind == TABLE else qualified(path, folder)


def _check_once(path: Path, relations: Iterable[str], what: str) -> None:
    seen: set[str] = set()
    for relation in relations:
        if relation in seen:
            raise UserError(f"{path}: relation {relation} has two {what}")
        seen.add(relation)


@record
class _Table:
    """A table of the file, which knows its place in it for messages."""

    file: Path
    place: str
    content: Mapping[str, Any]

    def key(self, name: str) -> str:
        return f"{self.place}.{name}" if self.place else name

    def mistake(self, name: str, expected: str) -> UserError:
        return UserError(f"{self.file}: `{self.key(name)}`: expected {expected}, found {self.content[name]!r}")

    def check_keys(self, known: tuple[str, ...]) -> None:
        for name in self.content:
            if name not in known:
                hint = did_you_mean(name, known)
                there = f"; {hint}" if hint else f"; there are {', '.join(known)}"
                raise UserError(f"{self.file}: `{self.key(name)}` is not a key of a pipeline{there}")

    def text(self, name: str, *, required: bool) -> str | None:
        value = self.content.get(name)
        if value is None:
            if required:
                raise UserError(f'{self.file}: `{self.key(name)}` is missing: write {name} = "..."')
            return None
        if not isinstance(value, str) or not value:
            raise self.mistake(name, "a text in quotes")
        return value

    def needed(self, name: str) -> str:
        value = self.text(name, required=True)
        assert value is not None, "text() has raised"
        return value

    def local(self, text: str, name: str, folder: Path) -> Path:
        """Return a path that has to be on this machine."""
        return local_folder(text, folder, f"{self.file}: `{self.key(name)}`")

    def texts(self, name: str) -> list[str]:
        value = self.content.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.mistake(name, "a list of texts")
        return value

    def one_of(self, name: str, known: Sequence[Any]) -> Any:
        value = self.text(name, required=False) or known[0]
        if value not in known:
            hint = did_you_mean(value, known)
            raise self.mistake(
                name, " or ".join(f'"{word}"' for word in known if word) + (f" ({hint})" if hint else "")
            )
        return value

    def count(self, name: str) -> int | str:
        value = self.content.get(name, "*")
        if value == "*" or (isinstance(value, int) and not isinstance(value, bool) and value > 0):
            return value  # type: ignore[no-any-return]
        raise self.mistake(name, 'a number of at least 1, or "*" for all')

    def number(self, name: str, least: int) -> int:
        value = self.content[name]
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self.mistake(name, f"a number of at least {least}")
        return value

    def settings(self, name: str) -> dict[str, str]:
        """Return a table of texts, numbers and truth values as Spark takes them: as texts."""
        table = self.table(name)
        for key, value in table.content.items():
            if not isinstance(value, str | int | float):
                raise table.mistake(key, "a text, a number, true or false")
        return {key: str(v).lower() if isinstance(v, bool) else str(v) for key, v in table.content.items()}

    def names(self, name: str) -> dict[str, str]:
        table = self.table(name)
        for key, value in table.content.items():
            if not isinstance(value, str):
                raise table.mistake(key, "the name of a column of the source")
        return dict(table.content)

    def table(self, name: str) -> _Table:
        value = self.content.get(name, {})
        if not isinstance(value, dict):
            raise self.mistake(name, f"a table: [{self.key(name)}] or {name} = {{ ... }}")
        return _Table(self.file, self.key(name), value)

    def tables(self, name: str) -> list[_Table]:
        value = self.content.get(name, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.mistake(name, f"tables that begin with [[{name}]]")
        return [_Table(self.file, f"{name}[{number}]", item) for number, item in enumerate(value, 1)]
