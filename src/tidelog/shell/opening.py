"""Opening the database of a program with what its command is given, and a line of progress on a terminal meanwhile."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from tidelog.session.database import Database
from tidelog.session.observe.progress import Limits, Progress, watching
from tidelog.shell.options import (
    FOLDER,
    Command,
    externs_option,
    library_option,
    load_externs,
    load_source,
    program_argument,
)
from tidelog.shell.terminal import escape_line, log, logs_json, say_diagnostics, say_note, say_warning

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
LOG_SECONDS = 5.0
"""A log says how far an evaluation is each time that so much has passed."""
QUIET_SECONDS = 1.0
"""An evaluation that is over before this shows nothing."""


class Size(click.ParamType[int]):
    """A number of bytes: `500M`, `4G`."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a number with an optional unit."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgt]?)(?:i?b)?", value.strip().lower())
        if not found:
            self.fail(f"{value!r} is not a size: write bytes, or a number with K, M, G or T", param, ctx)
        return int(float(found[1]) * _UNITS[found[2]])


LIMITS = (
    click.option("--max-rounds", type=int, metavar="N", help="Stop after N rounds of a recursion."),
    click.option("--max-tuples", type=int, metavar="N", help="Stop after N derived tuples."),
    click.option("--max-seconds", type=float, metavar="N", help="Stop after N seconds."),
    click.option("--max-memory", type=Size(), metavar="SIZE", help="Stop beyond this memory (500M, 4G)."),
)
facts_option = click.option(
    "--facts",
    type=FOLDER,
    metavar="DIR",
    help="Read input relation R from DIR/R.csv (tsv, facts, jsonl, parquet; .gz).",
)
header_option = click.option(
    "--header",
    type=click.Choice(["auto", "yes", "no"]),
    default="auto",
    show_default=True,
    help="Whether the first line of text files of facts is a header; auto: if it has the names of the columns.",
)
engine_option = click.option("--engine", metavar="ENGINE", help="Engine to use; `tidelog doctor` lists them.")


def database_options(command: Command) -> Command:
    """Add what a program is evaluated with; `opened` takes it all."""
    for option in (externs_option, library_option, *LIMITS, header_option, facts_option, program_argument):
        command = option(command)
    return command


def opened(options: Mapping[str, Any], *, demand: bool = False) -> Database:
    """Return the database that the options of a command ask for."""
    bounds = {name.removeprefix("max_"): options[name] for name in options if name.startswith("max_")}
    return Database(
        load_source(options["program"]),
        facts=options["facts"],
        header=options["header"],
        engine=options.get("engine"),
        strategy=options.get("strategy") or "recompute",
        limits=Limits(**bounds),
        externs=load_externs(options["externs"]),
        library=options["library"],
        demand=demand,
        dialect="ddlog" if options.get("ddlog") else "tidelog",
    )


def say_remarks(database: Database) -> None:
    """Print what was found out about a program and its facts."""
    say_diagnostics(database.warnings)
    for text in database.remarks.warnings:
        say_warning(text)
    for text in database.remarks.notes:
        say_note(text)


@contextmanager
def shown_progress(*, quiet: bool) -> Iterator[None]:
    """Within the block, show how far evaluations are, on a terminal, or in a log for programs."""
    if logs_json():
        with watching(_Log().show):
            yield
        return
    if quiet or not sys.stderr.isatty():
        yield
        return
    line = _Line()
    with watching(line.show):
        try:
            yield
        finally:
            line.clear()


class _Log:
    """An object for each remark, and now and then one for how far an evaluation is."""

    def __init__(self) -> None:
        self._told = time.monotonic()

    def show(self, progress: Progress) -> None:
        if progress.remark:
            say_note(progress.remark)
        elif time.monotonic() - self._told >= LOG_SECONDS:
            self._told = time.monotonic()
            log(
                "progress",
                relations=list(progress.relations),
                strategy=progress.strategy,
                round=progress.round,
                tuples=progress.tuples,
                tuples_per_second=round(_rate(progress)),
            )


def _rate(progress: Progress) -> float:
    return progress.tuples / progress.seconds if progress.seconds else 0


class _Line:
    """The last line of the terminal."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._shown = False

    def show(self, progress: Progress) -> None:
        if progress.remark:
            self.clear()
            say_note(progress.remark)
            return
        if time.monotonic() - self._start < QUIET_SECONDS:
            return
        rate = _rate(progress)
        names = escape_line(", ".join(progress.relations))[:60]
        strategy = f"{progress.strategy}, " if progress.strategy else ""
        text = f"{names}: {strategy}round {progress.round}, {progress.tuples:,} tuples, {rate:,.0f} a second"
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
        self._shown = True

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
