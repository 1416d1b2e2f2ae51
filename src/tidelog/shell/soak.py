"""`tidelog soak`: compare an engine with the reference engine on random programs and histories."""

from __future__ import annotations

import sys
import time

import click

from tidelog.session.soak.soak import Tally
from tidelog.session.soak.soak import soak as run_soak
from tidelog.shell.terminal import say, say_error

PAUSE = 5.0
"""Seconds between two lines of progress on a terminal."""


@click.command("soak")
@click.option("--histories", type=click.IntRange(1), default=100, show_default=True, help="How many to follow.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the first; each has the next one.")
@click.option("--engine", metavar="ENGINE", help="Engine to compare; by default the fastest.")
@click.option("--strategy", default="auto", show_default=True, help="How derived relations follow changes.")
@click.pass_context
def command(context: click.Context, histories: int, seed: int, engine: str | None, strategy: str) -> None:
    """Let facts and rules of random programs change, and compare every commit with the reference engine."""
    started = told = time.monotonic()

    def progress(tally: Tally) -> None:
        nonlocal told
        if sys.stdout.isatty() and time.monotonic() - told >= PAUSE:
            told = time.monotonic()
            say(f"{tally.histories} of {histories} histories, {tally.commits} commits")

    tally, failure = run_soak(histories, seed, engine, strategy, progress)
    if failure is not None:
        say(str(failure))
        say_error(f"the history of seed {failure.seed} goes wrong; repeat it with --histories 1 --seed {failure.seed}")
        context.exit(1)
    seconds = time.monotonic() - started
    say(
        f"{tally.histories} histories, {tally.commits} commits, {tally.changes} changes in {seconds:.0f} s: "
        "no difference from the reference engine"
    )
