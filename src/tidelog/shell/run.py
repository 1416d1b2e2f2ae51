"""`tidelog run`: evaluate a program on the facts of a folder, and show or write its output relations.

With `--json` standard output is one object `{"relations": {"R": [[value, ...], ...], ...}}` of all output relations,
rows in the language's order, values in the plain form described in `base.plain.plain`; NaN and infinities are
strings.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tidelog.session.database import Database
from tidelog.session.engines import EngineName
from tidelog.session.exchange import outputs, save_outputs
from tidelog.shell.limits import limit_options, limits_of, shown_progress
from tidelog.shell.options import (
    FOLDER,
    ddlog_option,
    externs_option,
    header_option,
    json_option,
    library_option,
    load_externs,
    load_source,
    program_argument,
)
from tidelog.shell.tables import relation_table
from tidelog.shell.terminal import say, say_diagnostics, say_json, say_note, say_warning


@click.command("run")
@program_argument
@click.option(
    "--facts",
    type=FOLDER,
    metavar="DIR",
    help="Read input relation R from DIR/R.csv (tsv, facts, jsonl, parquet; .gz).",
)
@header_option
@click.option("--out", type=FOLDER, metavar="DIR", help="Write output relation R to DIR/R.csv.")
@click.option("--engine", metavar="ENGINE", help="Engine to use; `tidelog doctor` lists them.")
@json_option
@click.option("--quiet", is_flag=True, help="Print results and errors only.")
@limit_options
@library_option
@externs_option
@ddlog_option
def command(
    program: Path,
    facts: Path | None,
    out: Path | None,
    engine: EngineName | None,
    as_json: bool,
    quiet: bool,
    library: tuple[Path, ...],
    externs: Path | None,
    **rest: Any,
) -> None:
    """Evaluate PROGRAM and show its output relations."""
    source, functions = load_source(program), load_externs(externs)
    with shown_progress(quiet=quiet):
        database = Database(
            source,
            facts=facts,
            header=rest["header"],
            engine=engine,
            strategy="recompute",
            limits=limits_of(rest),
            externs=functions,
            library=library,
            dialect="ddlog" if rest["ddlog"] else "tidelog",
        )
    if not quiet:
        say_diagnostics(database.warnings)
        for text in database.remarks.warnings:
            say_warning(text)
        for text in database.remarks.notes:
            say_note(text)
    if out is not None:
        for path, count in save_outputs(database, out).items():
            if not quiet and not as_json:
                say(f"wrote {path} ({count} row{'' if count == 1 else 's'})")
    if as_json:
        say_json({"relations": {view.name: view.as_json() for view in outputs(database)}})
    elif out is None:
        click.echo("\n".join(map(relation_table, outputs(database))), nl=False)
