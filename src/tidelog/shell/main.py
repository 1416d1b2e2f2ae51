"""The command `tidelog`: finds the subcommand, and turns how it ended into an exit status.

0 is success, 1 the user's mistake (also a wrong command line), 2 a defect of Tidelog, 130 an interrupt. Pipelines have
two more: 3, rows that are not expected, and 75, which a later attempt may mend. A subcommand's module is loaded when it
is called, so that each pays only for what it needs.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from tidelog.base.errors import UserError
from tidelog.shell.terminal import fail, kind_warnings, log_as, say_error

DEBUG = "--debug"
COMMANDS = ("run", "query", "shell", "check", "format", "plan", "pipeline", "rdf", "doctor", "soak")


class Commands(click.Group):
    """A group whose commands are the modules of this folder."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order in which one needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a subcommand's module."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"tidelog.shell.{cmd_name}").command
        return command

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> NoReturn:
        """Run the command line and leave with its exit status."""
        given = list(sys.argv[1:] if args is None else args)
        debug = bool(os.environ.get("TIDELOG_DEBUG")) or DEBUG in given
        log_as("text")
        given = [word for word in given if word != DEBUG]  # so that it may also follow the command's name
        try:
            with kind_warnings():
                status = super().main(given, prog_name, complete_var, standalone_mode=False, **extra)
        except click.ClickException as error:
            error.show()
            sys.exit(1)
        except click.Abort:
            say_error("stopped")
            sys.exit(130)
        except UserError as error:
            if debug:
                traceback.print_exc()
            fail(error)
            sys.exit(error.status)
        except RecursionError:
            if debug:
                traceback.print_exc()
            say_error("a value, an expression or a type is nested too deeply")
            sys.exit(1)
        except Exception as error:  # noqa: BLE001  (the last place where a defect can be told kindly)
            if debug:
                traceback.print_exc()
            say_error(f"this is a defect of Tidelog: {type(error).__name__}: {error}")
            say_error("please report it with the program and the facts; --debug or TIDELOG_DEBUG=1 shows where it is")
            sys.exit(2)
        sys.exit(status if isinstance(status, int) else 0)


@click.command(cls=Commands)
@click.version_option(package_name="tidelog", prog_name="tidelog")
@click.option(DEBUG, is_flag=True, help="Show where in Tidelog an error was raised.")
def main(debug: bool) -> None:
    """Typed Datalog that stays true while facts and rules change."""
    del debug  # Commands.main looks for it, since that is where errors end up


if __name__ == "__main__":
    main()
