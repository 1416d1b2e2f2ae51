"""`tidelog query`: evaluate a program on the facts of a folder, and answer one goal about it.

`--format json` prints one object `{"columns": {"x": "string", ...}, "rows": [[value, ...], ...]}`, rows in the
language's order, values in the plain form described in `base.plain.plain`. `--format parquet` writes the bytes of a
file to standard output.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from tidelog.base.errors import UserError
from tidelog.session.database import Database
from tidelog.session.engines import EngineName
from tidelog.session.exchange import as_csv, as_parquet
from tidelog.session.queries.answers import Answers
from tidelog.session.queries.goal import Cell
from tidelog.shell.limits import limit_options, limits_of, shown_progress
from tidelog.shell.options import (
    FOLDER,
    externs_option,
    header_option,
    library_option,
    load_externs,
    load_source,
    parameters_option,
    program_argument,
)
from tidelog.shell.tables import answers_table
from tidelog.shell.terminal import say, say_json


@click.command("query")
@program_argument
@click.argument("goal")
@click.option("--facts", type=FOLDER, metavar="DIR", help="Read input relations from a folder, as `tidelog run` does.")
@header_option
@parameters_option("What $NAME stands for in the goal, written as in a cell of a CSV file (repeatable).")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "parquet"]),
    default="table",
    show_default=True,
    help="How to print the answers.",
)
@click.option("--limit", type=click.IntRange(0), metavar="N", help="Print the first N answers only.")
@click.option("--count", is_flag=True, help="Print the number of answers only.")
@click.option("--plan", is_flag=True, help="Show how the goal is computed instead of its answers.")
@click.option("--engine", metavar="ENGINE", help="Engine to use; `tidelog doctor` lists them.")
@limit_options
@library_option
@externs_option
def command(
    program: Path,
    goal: str,
    facts: Path | None,
    form: str,
    limit: int | None,
    count: bool,
    plan: bool,
    engine: EngineName | None,
    **rest: Any,
) -> None:
    """Answer GOAL, which is written like the body of a rule of PROGRAM, such as 'Reach("laptop", x)'."""
    if count and (limit is not None or form != "table"):
        raise click.UsageError("--count prints a number: it goes without --limit and --format")
    if plan and (count or limit is not None or form != "table"):
        raise click.UsageError("--plan shows text: it goes without --count, --limit and --format")
    if form == "parquet" and sys.stdout.isatty():
        raise UserError("Parquet is not for a terminal: send it to a file, as in `> answers.parquet`")
    with shown_progress(quiet=False):
        database = Database(
            load_source(program),
            facts=facts,
            header=rest["header"],
            engine=engine,
            strategy="recompute",
            limits=limits_of(rest),
            externs=load_externs(rest["externs"]),
            library=rest["library"],
            demand=True,
        )
        answers = database.query(goal, {name: Cell(value) for name, value in rest["parameters"].items()})
    if plan:
        say(answers.plan.text("recompute").rstrip("\n"))
    elif count:
        click.echo(len(answers))
    else:
        _show(answers if limit is None else answers.head(limit), form, len(answers))


def _show(answers: Answers, form: str, count: int) -> None:
    match form:
        case "csv":
            click.echo(as_csv(answers), nl=False)
        case "json":
            say_json({"columns": answers.columns, "rows": answers.as_json()})
        case "parquet":
            click.echo(as_parquet(answers), nl=False)
        case _:
            click.echo(answers_table(answers, count), nl=False)
