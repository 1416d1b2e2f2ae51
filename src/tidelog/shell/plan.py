"""`tidelog plan`: show how a program is computed."""

from __future__ import annotations

from pathlib import Path

import click

from tidelog.session.programs import PLAN_FORMATS, plan_source, show_plan
from tidelog.shell.options import externs_option, library_option, load_externs, load_source, program_argument
from tidelog.shell.terminal import say


@click.command("plan")
@program_argument
@click.option("--format", "form", type=click.Choice(PLAN_FORMATS), default=PLAN_FORMATS[0], show_default=True)
@library_option
@externs_option
def command(program: Path, form: str, library: tuple[Path, ...], externs: Path | None) -> None:
    """Show the strata and join plans of PROGRAM."""
    plan = plan_source(load_source(program), library, load_externs(externs))
    say(show_plan(plan, form).rstrip("\n"))
