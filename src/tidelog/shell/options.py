"""Arguments and options that several commands share."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from tidelog.base.errors import UserError
from tidelog.base.extern import Externs
from tidelog.base.span import Source
from tidelog.session.program.sources import read_source

Command = TypeVar("Command", bound=Callable[..., Any])
FOLDER = click.Path(path_type=Path, file_okay=False)

program_argument = click.argument("program", type=click.Path(path_type=Path, allow_dash=True))
library_option = click.option(
    "-L", "--library", multiple=True, type=FOLDER, metavar="DIR", help="Folder with modules to import (repeatable)."
)
externs_option = click.option(
    "--externs",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Python file that defines `externs`, a tidelog.Externs with the program's extern functions.",
)
ddlog_option = click.option("--ddlog", is_flag=True, help="Follow DDlog where the two differ, as docs/ddlog.md lists.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def _parameters(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    for text in given:
        if "=" not in text:
            raise UserError(f"--set {text}: expected NAME=VALUE")
    return {name: value for name, _, value in (text.partition("=") for text in given)}


def parameters_option(what: str) -> Callable[[Command], Command]:
    """Return the option `--set NAME=VALUE`, as a dictionary."""
    return click.option("--set", "parameters", multiple=True, metavar="NAME=VALUE", callback=_parameters, help=what)


def load_source(program: Path) -> Source:
    """Return the text of a program file, or of standard input for `-`."""
    if str(program) != "-":
        return read_source(program)
    try:
        return Source("<stdin>", sys.stdin.read())
    except UnicodeDecodeError as error:
        raise UserError(f"standard input is not UTF-8 text (byte {error.start})") from None


def load_externs(path: Path | None) -> Externs | None:
    """Return the table that a Python file defines as `externs`."""
    if path is None:
        return None
    if not path.is_file():
        raise UserError(f"there is no file {path}")
    try:
        found = runpy.run_path(str(path)).get("externs")
    except Exception as error:
        raise UserError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    if not isinstance(found, Externs):
        raise UserError(f"{path} does not define `externs`: it needs `externs = tidelog.Externs()`")
    return found
