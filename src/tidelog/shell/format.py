"""`tidelog format`: rewrite programs in the canonical layout."""

from __future__ import annotations

from pathlib import Path

import click

from tidelog.base.errors import UserError
from tidelog.session.program.static import format_source
from tidelog.shell.options import load_source
from tidelog.shell.terminal import fail, say


@click.command("format")
@click.argument("programs", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@click.option("--check", is_flag=True, help="Change nothing; exit status 1 if a file would change.")
@click.pass_context
def command(context: click.Context, programs: tuple[Path, ...], check: bool) -> None:
    """Rewrite PROGRAMS in the canonical layout; `-` reads standard input and prints."""
    failed = changed = False
    for program in programs:
        try:
            changed |= _format(program, check=check)
        except UserError as error:
            fail(error)
            failed = True
    context.exit(1 if failed or (check and changed) else 0)


def _format(program: Path, *, check: bool) -> bool:
    """Format one file and tell whether it changed."""
    source = load_source(program)
    text = format_source(source)
    if str(program) == "-" and not check:
        click.echo(text, nl=False)
    elif text != source.text:
        if check:
            say(f"{source.name} would change")
        else:
            program.write_text(text, encoding="utf-8")
            say(f"formatted {program}")
    return text != source.text
