"""Options that bound an evaluation, and a line of progress on a terminal while it runs."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from tidelog.session.observe.progress import Limits, Progress, watching
from tidelog.shell.terminal import escape_line, log, logs_json, say_note

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
LOG_SECONDS = 5.0
"""A log says how far an evaluation is each time that so much has passed."""
QUIET_SECONDS = 1.0
"""An evaluation that is over before this shows nothing."""


class Size(click.ParamType[int]):
    """A number of bytes: `500M`, `4G`."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read a number with an optional unit."""
        if isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmgt]?)(?:i?b)?", value.strip().lower())
        if not found:
            self.fail(f"{value!r} is not a size: write bytes, or a number with K, M, G or T", param, ctx)
        return int(float(found[1]) * _UNITS[found[2]])


def limit_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that bound an evaluation."""
    for option in (
        click.option("--max-memory", type=Size(), metavar="SIZE", help="Stop beyond this memory (500M, 4G)."),
        click.option("--max-seconds", type=float, metavar="N", help="Stop after so many seconds."),
        click.option("--max-tuples", type=int, metavar="N", help="Stop after so many derived tuples."),
        click.option("--max-rounds", type=int, metavar="N", help="Stop after so many rounds of a recursion."),
    ):
        command = option(command)
    return command


def limits_of(options: dict[str, Any]) -> Limits:
    """Return the limits that the options state."""
    return Limits(options["max_rounds"], options["max_tuples"], options["max_seconds"], options["max_memory"])


@contextmanager
def shown_progress(*, quiet: bool) -> Iterator[None]:
    """Within the block, show how far evaluations are, on a terminal, or in a log for programs."""
    if logs_json():
        with watching(_Log().show):
            yield
        return
    if quiet or not sys.stderr.isatty():
        yield
        return
    line = _Line()
    with watching(line.show):
        try:
            yield
        finally:
            line.clear()


class _Log:
    """An object for each remark, and now and then one for how far an evaluation is."""

    def __init__(self) -> None:
        self._told = time.monotonic()

    def show(self, progress: Progress) -> None:
        if progress.remark:
            say_note(progress.remark)
        elif time.monotonic() - self._told >= LOG_SECONDS:
            self._told = time.monotonic()
            log(
                "progress",
                relations=list(progress.relations),
                strategy=progress.strategy,
                round=progress.round,
                tuples=progress.tuples,
                tuples_per_second=round(_rate(progress)),
            )


def _rate(progress: Progress) -> float:
    return progress.tuples / progress.seconds if progress.seconds else 0


class _Line:
    """The last line of the terminal."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._shown = False

    def show(self, progress: Progress) -> None:
        if progress.remark:
            self.clear()
            say_note(progress.remark)
            return
        if time.monotonic() - self._start < QUIET_SECONDS:
            return
        rate = _rate(progress)
        names = escape_line(", ".join(progress.relations))[:60]
        strategy = f"{progress.strategy}, " if progress.strategy else ""
        text = f"{names}: {strategy}round {progress.round}, {progress.tuples:,} tuples, {rate:,.0f} a second"
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
        self._shown = True

    def clear(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
