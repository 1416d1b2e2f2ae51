"""`tidelog soak`: compare engines with the reference engine on random programs and histories."""

from __future__ import annotations

import sys
import time

import click

from tidelog.session.soak.settings import Asked
from tidelog.session.soak.soak import MANY, Tally, soak_by
from tidelog.shell.terminal import say, say_error, say_note

PAUSE, LONG_PAUSE = 5.0, 60.0
"""Seconds between two lines of progress on a terminal, and elsewhere."""


@click.command("soak")
@click.option("--histories", type=click.IntRange(1), default=100, show_default=True, help="How many to follow.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the first; each has the next one.")
@click.option("--engine", metavar="ENGINE", help="Engine to compare; by default each history draws one.")
@click.option("--strategy", metavar="STRATEGY", help="Strategy to compare; by default each history draws one.")
@click.option(
    "--large", is_flag=True, help="Well-known programs over larger graphs, compared with the engine `tuples`."
)
@click.option("--rows", type=click.IntRange(100), help="Programs over that many rows, compared with DuckDB.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="How many processes share the work.")
@click.pass_context
def command(
    context: click.Context,
    histories: int,
    seed: int,
    engine: str | None,
    strategy: str | None,
    large: bool,
    rows: int | None,
    jobs: int,
) -> None:
    """Let facts and rules of random programs change, look at some of it, and compare with the reference engine.

    Engine, strategy, options and all thresholds by which an engine chooses are drawn at random for each history.
    """
    started = told = time.monotonic()
    pause = PAUSE if sys.stderr.isatty() else LONG_PAUSE

    def progress(tally: Tally) -> None:
        nonlocal told
        if time.monotonic() - told >= pause:
            told = time.monotonic()
            say_note(f"{tally.histories} of {histories} histories, {tally.commits} commits")

    if large and rows is not None:
        raise click.UsageError("--large and --rows are two kinds of histories: choose one")
    asked = Asked(engine, strategy, large, rows)
    tally, failure = soak_by(jobs, histories, seed, asked, progress)
    if failure is not None:
        say(str(failure))
        options = [("--engine", engine), ("--strategy", strategy), ("--rows", rows)]
        chosen = [f"{name} {value}" for name, value in options if value is not None] + (["--large"] if large else [])
        again = " ".join([*chosen, f"--histories 1 --seed {failure.seed}"])
        say_error(f"the history of seed {failure.seed} goes wrong; repeat it with {again}")
        context.exit(1)
    seconds = time.monotonic() - started
    say(
        f"{tally.histories} histories, {tally.commits} commits, {tally.changes} changes in {seconds:.0f} s: "
        f"no difference from {'the engine `tuples`' if large else 'DuckDB' if rows else 'the reference engine'}"
    )
    if asked == Asked():
        _tell_paths(context, tally)


def _tell_paths(context: click.Context, tally: Tally) -> None:
    """Tell which ways were taken at thresholds; after many histories a way that none has taken is an error."""
    missing = tally.missing()
    say(f"{tally.ways - len(missing)} of {tally.ways} ways at thresholds were taken")
    if missing and tally.histories >= MANY:
        say_error(f"no history took these: {', '.join(f'{name} {way}' for name, way in missing)}")
        context.exit(1)
