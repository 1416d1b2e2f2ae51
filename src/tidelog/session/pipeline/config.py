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
    columns = { a = "from", b = "to" }  # the relation's column = the source's column
    on_error = "quarantine"           # or "fail", the default
    owner = "source"                  # or "feed": who is right when both have changed the relation

    [[sink]]
    relation = "Reach"
    format = "parquet"
    path = "out/reach"
    mode = "changes"                  # or "full", the default

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
from tidelog.session.pipeline.addresses import local_folder, qualified
from tidelog.session.pipeline.parameters import filled
from tidelog.session.pipeline.paths import TABLE, check_paths

ON_ERROR = ("fail", "quarantine")
OWNERS = ("", "source", "feed")
"""Who is right about a relation that its source and files of changes have changed: nobody, unless it is said."""
ON_ROWS = ("fail", "warn")
MODES = ("full", "changes")
STRATEGIES: tuple[StrategyName, ...] = ("auto", "ranked", "recompute")
DRIVER_ROWS = "spark.tidelog.driverRows"
OPTIONS = {"partitions": ("spark.tidelog.partitions", 1), "driver_rows": (DRIVER_ROWS, 0)}
"""Numbers of the engine: what a session calls them, and the least they may be."""
PATHLESS = ("jdbc",)
"""Formats whose options say where the data is."""


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

    def __str__(self) -> str:
        return f"source {self.relation}" + (f" ({self.path})" if self.path else "")


@record
class Sink:
    """Where the rows of a relation, or their changes, go to."""

    relation: str
    format: str
    path: str | None
    options: Mapping[str, str] = field(default_factory=dict)
    mode: str = MODES[0]

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
    state: Path
    library: tuple[Path, ...] = ()
    changes: Path | None = None
    cores: int | str = "*"
    strategy: StrategyName = "auto"
    options: Mapping[str, str] = field(default_factory=dict)
    spark: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[SourceTable, ...] = ()
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
    top.check_keys(("program", "state", "library", "changes", "engine", "source", "sink", "expect"))
    folder = path.resolve().parent
    engine = top.table("engine")
    engine.check_keys(("cores", "strategy", "spark", *OPTIONS))
    changes = top.text("changes", required=False)
    sources = tuple(_source(table, folder) for table in top.tables("source"))
    _check_once(path, [source.relation for source in sources])
    return Config(
        file=path,
        program=top.local(top.needed("program"), "program", folder),
        state=top.local(top.needed("state"), "state", folder),
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
        sinks=tuple(_sink(table, folder) for table in top.tables("sink")),
        expectations=tuple(_expectation(table) for table in top.tables("expect")),
    )


def _source(table: _Table, folder: Path) -> SourceTable:
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
    )


def _expectation(table: _Table) -> Expectation:
    table.check_keys(("relation", "on_rows"))
    return Expectation(table.needed("relation"), table.one_of("on_rows", ON_ROWS))


def _sink(table: _Table, folder: Path) -> Sink:
    table.check_keys(("relation", "format", "path", "options", "mode"))
    kind, path = _where(table, folder)
    mode = table.one_of("mode", MODES)
    return Sink(table.needed("relation"), kind, path, table.settings("options"), mode)


def _where(table: _Table, folder: Path) -> tuple[str, str | None]:
    kind = table.needed("format")
    path = table.text("path", required=kind not in PATHLESS)
    return kind, path if path is None or kind == TABLE else qualified(path, folder)


def _check_once(path: Path, relations: Iterable[str]) -> None:
    seen: set[str] = set()
    for relation in relations:
        if relation in seen:
            raise UserError(f"{path}: relation {relation} has two sources; a source's path may be a folder or a glob")
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
