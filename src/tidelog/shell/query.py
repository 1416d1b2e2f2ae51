"""`tidelog query`: evaluate a program on the facts of a folder, and answer one goal about it.

`--format json` prints one object `{"columns": {"x": "string", ...}, "rows": [[value, ...], ...]}`, rows in the
language's order, values in the plain form described in `base.plain.plain`. `--format parquet` writes the bytes of a
file to standard output.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click

from tidelog.base.errors import UserError
from tidelog.session.exchange import as_csv, as_parquet
from tidelog.session.queries.answers import Answers
from tidelog.session.queries.goal import Cell
from tidelog.shell.opening import database_options, engine_option, opened, shown_progress
from tidelog.shell.options import parameters_option
from tidelog.shell.tables import answers_table
from tidelog.shell.terminal import say, say_json


@click.command("query")
@database_options
@click.argument("goal")
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
@engine_option
def command(
    goal: str,
    form: str,
    limit: int | None,
    count: bool,
    plan: bool,
    parameters: Mapping[str, str],
    **given: Any,
) -> None:
    """Answer GOAL, which is written like the body of a rule of PROGRAM, such as 'Reach("laptop", x)'."""
    if count and (limit is not None or form != "table"):
        raise click.UsageError("--count prints a number: it goes without --limit and --format")
    if plan and (count or limit is not None or form != "table"):
        raise click.UsageError("--plan shows text: it goes without --count, --limit and --format")
    if form == "parquet" and sys.stdout.isatty():
        raise UserError("Parquet is not for a terminal: send it to a file, as in `> answers.parquet`")
    with shown_progress(quiet=False):
        database = opened(given, demand=True)
        answers = database.query(goal, {name: Cell(value) for name, value in parameters.items()})
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
