"""`tidelog soak`: compare an engine with the reference engine on random programs and histories."""

from __future__ import annotations

import sys
import time

import click

from tidelog.session.soak.soak import Setting, Tally, soak_by
from tidelog.shell.terminal import say, say_error, say_note

PAUSE, LONG_PAUSE = 5.0, 60.0
"""Seconds between two lines of progress on a terminal, and elsewhere."""


@click.command("soak")
@click.option("--histories", type=click.IntRange(1), default=100, show_default=True, help="How many to follow.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the first; each has the next one.")
@click.option("--engine", metavar="ENGINE", help="Engine to compare; by default the fastest.")
@click.option("--strategy", default="auto", show_default=True, help="How derived relations follow changes.")
@click.option(
    "--large", is_flag=True, help="Well-known programs over larger graphs, compared with the engine `tuples`."
)
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="How many processes share the work.")
@click.pass_context
def command(
    context: click.Context, histories: int, seed: int, engine: str | None, strategy: str, large: bool, jobs: int
) -> None:
    """Let facts and rules of random programs change, and compare every commit with the reference engine."""
    started = told = time.monotonic()
    pause = PAUSE if sys.stderr.isatty() else LONG_PAUSE

    def progress(tally: Tally) -> None:
        nonlocal told
        if time.monotonic() - told >= pause:
            told = time.monotonic()
            say_note(f"{tally.histories} of {histories} histories, {tally.commits} commits")

    tally, failure = soak_by(jobs, histories, seed, Setting(engine, strategy, large), progress)
    if failure is not None:
        say(str(failure))
        again = f"{'--large ' if large else ''}--histories 1 --seed {failure.seed}"
        say_error(f"the history of seed {failure.seed} goes wrong; repeat it with {again}")
        context.exit(1)
    seconds = time.monotonic() - started
    say(
        f"{tally.histories} histories, {tally.commits} commits, {tally.changes} changes in {seconds:.0f} s: "
        f"no difference from the {'engine `tuples`' if large else 'reference engine'}"
    )
