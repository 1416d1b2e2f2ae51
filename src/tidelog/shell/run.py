"""`tidelog run`: evaluate a program on the facts of a folder, and show or write its output relations.

With `--json` standard output is one object `{"relations": {"R": [[value, ...], ...], ...}}` of all output relations,
rows in the language's order, values in the plain form described in `base.plain.plain`; NaN and infinities are
strings.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tidelog.session.exchange import outputs, save_outputs
from tidelog.shell.opening import database_options, engine_option, opened, say_remarks, shown_progress
from tidelog.shell.options import FOLDER, ddlog_option, json_option
from tidelog.shell.tables import relation_table
from tidelog.shell.terminal import say, say_json


@click.command("run")
@database_options
@click.option("--out", type=FOLDER, metavar="DIR", help="Write output relation R to DIR/R.csv.")
@engine_option
@json_option
@click.option("--quiet", is_flag=True, help="Print results and errors only.")
@ddlog_option
def command(out: Path | None, as_json: bool, quiet: bool, **given: Any) -> None:
    """Evaluate PROGRAM and show its output relations."""
    with shown_progress(quiet=quiet):
        database = opened(given)
    if not quiet:
        say_remarks(database)
    if out is not None:
        for path, count in save_outputs(database, out).items():
            if not quiet and not as_json:
                say(f"wrote {path} ({count} row{'' if count == 1 else 's'})")
    if as_json:
        say_json({"relations": {view.name: view.as_json() for view in outputs(database)}})
    elif out is None:
        click.echo("\n".join(map(relation_table, outputs(database))), nl=False)
