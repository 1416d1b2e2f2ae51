"""`tidelog soak`: compare engines with the reference engine on random programs and histories.

With `--json` standard output is one object: `histories`, `commits`, `changes`, `seconds`, `compared_with`, `failure`
(null, or `seed` and `text`), and `ways` at thresholds (`all`, and the names of those `missing`) where all is drawn.
"""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, replace
from typing import Any

import click

from tidelog.base.record import record
from tidelog.session.engines import EngineName, StrategyName
from tidelog.session.soak.processes import soak_by
from tidelog.session.soak.settings import Asked
from tidelog.session.soak.soak import MANY, Failure, Tally
from tidelog.shell.options import json_option
from tidelog.shell.terminal import say, say_error, say_json, say_note

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
@click.option(
    "--max-seconds",
    type=click.FloatRange(0, min_open=True),
    default=600.0,
    show_default=True,
    help="How long a history may take; one that takes longer goes wrong.",
)
@json_option
@click.pass_context
def command(
    context: click.Context,
    /,
    histories: int,
    seed: int,
    engine: EngineName | None,
    strategy: StrategyName | None,
    large: bool,
    rows: int | None,
    **rest: Any,
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
    asked = Asked(engine, strategy, large, rows, rest["max_seconds"])
    tally, failure = soak_by(rest["jobs"], histories, seed, asked, progress)
    found = Found(asked, tally, failure, time.monotonic() - started)
    if rest["as_json"]:
        say_json(found.as_json())
    else:
        found.say()
    if failure is not None:
        options = [("--engine", engine), ("--strategy", strategy), ("--rows", rows)]
        chosen = [f"{name} {value}" for name, value in options if value is not None] + (["--large"] if large else [])
        again = " ".join([*chosen, f"--histories 1 --seed {failure.seed}"])
        say_error(f"the history of seed {failure.seed} goes wrong; repeat it with {again}")
    elif found.gaps:
        say_error(f"no history took these: {', '.join(found.missing)}")
    context.exit(1 if failure is not None or found.gaps else 0)


@record
class Found:
    """What a soak found, in `seconds`."""

    asked: Asked
    tally: Tally
    failure: Failure | None
    seconds: float

    @property
    def twin(self) -> str:
        """What the engines were compared with."""
        return "the engine `tuples`" if self.asked.large else "DuckDB" if self.asked.rows else "the reference engine"

    @property
    def everything(self) -> bool:
        """Whether everything was drawn, so that every way at a threshold should be taken in the end."""
        return replace(self.asked, seconds=None) == Asked()

    @property
    def missing(self) -> list[str]:
        """The ways at thresholds that no history took."""
        return [f"{name} {way}" for name, way in self.tally.missing()]

    @property
    def gaps(self) -> bool:
        """Whether that is an error: there were many histories, and everything was drawn."""
        return self.everything and self.tally.histories >= MANY and bool(self.missing)

    def say(self) -> None:
        """Print it for people."""
        tally = self.tally
        if self.failure is not None:
            say(str(self.failure))
            return
        say(
            f"{tally.histories} histories, {tally.commits} commits, {tally.changes} changes in {self.seconds:.0f} s: "
            f"no difference from {self.twin}"
        )
        if self.everything:
            say(f"{tally.ways - len(self.missing)} of {tally.ways} ways at thresholds were taken")

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        tally, failure = self.tally, self.failure
        return {
            "histories": tally.histories,
            "commits": tally.commits,
            "changes": tally.changes,
            "seconds": round(self.seconds, 3),
            "compared_with": self.twin,
            "failure": asdict(failure) if failure is not None else None,
            "ways": {"all": tally.ways, "missing": self.missing} if self.everything else None,
        }
