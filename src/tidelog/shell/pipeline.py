"""`tidelog pipeline`: run a data pipeline on Spark, look at its versions, go back, and follow a folder of changes.

With `--json` standard output has one object for each version made or listed: `version`, `at`, `reason`, `engine`,
`changes` (rows gained and lost by relation), and for versions just made `fresh`, `seconds`, `rules`, `quarantined` and
`strata`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from tidelog.base.errors import UserError
from tidelog.session.pipeline.config import read_config
from tidelog.session.pipeline.run import Outcome, Pipeline
from tidelog.session.pipeline.state.versions import StateFolder, Version
from tidelog.shell.limits import shown_progress
from tidelog.shell.options import FOLDER, externs_option, json_option, load_externs
from tidelog.shell.terminal import say, say_json, say_warning

file_argument = click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.toml")


@click.group("pipeline")
def command() -> None:
    """Run a data pipeline on Spark, as a file describes it."""


@command.command("run")
@file_argument
@click.option("--changes", type=FOLDER, metavar="DIR", help="Apply files of signed rows, such as DIR/Relation.csv.")
@json_option
@externs_option
def run(file: Path, changes: Path | None, as_json: bool, externs: Path | None) -> None:
    """Read new sources, derive, and write the sinks."""
    with shown_progress(quiet=as_json), Pipeline(read_config(file), externs=load_externs(externs)) as pipeline:
        outcomes = pipeline.run(changes)
    for outcome in outcomes:
        show_outcome(outcome, as_json=as_json)


@command.command("watch")
@file_argument
@click.option("--changes", type=FOLDER, metavar="DIR", help="The folder to follow, in place of the file's `changes`.")
@click.option("--once", is_flag=True, help="Apply what is there, and end.")
@json_option
@externs_option
def follow(file: Path, changes: Path | None, once: bool, as_json: bool, externs: Path | None) -> None:
    """Apply files of signed rows as they arrive in a folder, each exactly once."""
    config = read_config(file)
    folder = changes or config.changes
    if folder is None:
        raise UserError(f'{file}: `changes` is missing: write changes = "folder", or give --changes DIR')
    with shown_progress(quiet=as_json), Pipeline(config, externs=load_externs(externs)) as pipeline:
        pipeline.watch(folder, lambda outcome: show_outcome(outcome, as_json=as_json), once=once)


@command.command("history")
@file_argument
@json_option
def history(file: Path, as_json: bool) -> None:
    """List the versions."""
    versions = StateFolder(read_config(file).state).history()
    if as_json:
        for version in versions:
            say_json(_version(version))
    elif not versions:
        say("no version yet: tidelog pipeline run makes the first")
    for version in versions if not as_json else ():
        say(f"{version.number}  {version.at}  {version.reason}: {_counts(version.changes)}")


@command.command("rollback")
@file_argument
@click.argument("version", type=click.IntRange(min=1))
@json_option
@externs_option
def rollback(file: Path, version: int, as_json: bool, externs: Path | None) -> None:
    """Make a new version with the facts and the program of VERSION."""
    with shown_progress(quiet=as_json), Pipeline(read_config(file), externs=load_externs(externs)) as pipeline:
        outcome = pipeline.rollback(version)
    show_outcome(outcome, as_json=as_json)


def show_outcome(outcome: Outcome, *, as_json: bool) -> None:
    """Print what was done."""
    for warning in outcome.warnings:
        say_warning(warning)
    version = outcome.version
    if as_json:
        say_json(_version(version) | _outcome(outcome))
        return
    if not outcome.fresh:
        say(f"version {version.number} stands: nothing new")
        return
    say(f"version {version.number} ({version.reason}) in {outcome.seconds:.1f} s: {_counts(version.changes)}")
    if outcome.revision is None:
        say("  the program's declarations have changed: everything was derived anew")
    for sign, rules in (("-", outcome.revision.removed), ("+", outcome.revision.added)) if outcome.revision else ():
        for rule in rules:
            say(f"  {sign} {' '.join(rule.split())}")
    for name, count in outcome.quarantined.items():
        say_warning(f"{count} row{'' if count == 1 else 's'} of {name} went to the quarantine table")
    for work in outcome.work:
        reason = f" ({work.reason})" if work.reason else ""
        rounds = f"{work.rounds} round{'' if work.rounds == 1 else 's'}"
        rows = f"{work.derivations:,} derivations"
        say(f"  {', '.join(work.relations)}: {work.strategy}{reason}, {rounds}, {rows}, {work.seconds:.2f} s")


def _counts(changes: Mapping[str, tuple[int, int]]) -> str:
    return ", ".join(_signed(name, counts) for name, counts in changes.items()) or "no facts changed"


def _signed(name: str, counts: Iterable[int]) -> str:
    parts = [f"{sign}{count:,}" for sign, count in zip("+-", counts, strict=True) if count]
    return f"{name} {' '.join(parts)}"


def _version(version: Version) -> dict[str, Any]:
    changes = {name: {"inserted": gained, "deleted": lost} for name, (gained, lost) in version.changes.items()}
    told = {"version": version.number, "at": version.at, "reason": version.reason, "engine": version.engine}
    return told | {"changes": changes}


def _outcome(outcome: Outcome) -> dict[str, Any]:
    rules = outcome.revision
    return {
        "fresh": outcome.fresh,
        "seconds": round(outcome.seconds, 3),
        "rules": {"removed": list(rules.removed), "added": list(rules.added)} if rules is not None else None,
        "quarantined": outcome.quarantined,
        "strata": [
            {
                "relations": list(work.relations),
                "strategy": work.strategy,
                "rounds": work.rounds,
                "derivations": work.derivations,
                "seconds": round(work.seconds, 3),
            }
            for work in outcome.work
        ],
        "warnings": outcome.warnings,
    }
