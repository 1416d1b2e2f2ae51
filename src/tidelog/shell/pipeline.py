"""`tidelog pipeline`: run a data pipeline, follow a folder of changes, look at versions, go back.

With `--json` standard output has one object for each version made or listed: `version`, `at`, `reason`, `engine`,
`changes` (rows gained and lost by relation), and for versions just made `fresh`, `seconds`, `rules`, `quarantined` and
`strata`. With `--log json` standard error has one object a line, and `--metrics FILE` keeps a file for Prometheus.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from tidelog.base.errors import ExpectationError, UserError
from tidelog.session.pipeline.config import read_config
from tidelog.session.pipeline.run import Outcome, Pipeline
from tidelog.session.pipeline.state.versions import StateFolder, Version
from tidelog.shell.metrics import write_metrics
from tidelog.shell.opening import shown_progress
from tidelog.shell.options import FOLDER, externs_option, json_option, load_externs, parameters_option
from tidelog.shell.terminal import log, log_as, logs_json, say, say_json, say_warning

file_argument = click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE.toml")


set_option = parameters_option("What ${NAME} stands for.")
log_option = click.option(
    "--log",
    type=click.Choice(["text", "json"]),
    expose_value=False,
    callback=lambda _, __, form: log_as(form or "text"),
    help="How standard error is written: for people, or an object a line.",
)
metrics_option = click.option(
    "--metrics", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Keep a file for Prometheus."
)


@click.group("pipeline")
def command() -> None:
    """Run a data pipeline on Spark, as a file describes it."""


@command.command("run")
@file_argument
@click.option("--changes", type=FOLDER, metavar="DIR", help="Apply files of signed rows, such as DIR/Relation.csv.")
@set_option
@json_option
@log_option
@metrics_option
@externs_option
def run(
    *,
    file: Path,
    changes: Path | None,
    parameters: dict[str, str],
    as_json: bool,
    externs: Path | None,
    metrics: Path | None,
) -> None:
    """Read new sources, derive, and write the sinks."""
    with shown_progress(quiet=as_json), _opened(file, parameters, externs) as pipeline:
        outcomes = pipeline.run(changes)
    for outcome in outcomes:
        show_outcome(outcome, as_json=as_json, metrics=metrics)


@command.command("watch")
@file_argument
@click.option("--changes", type=FOLDER, metavar="DIR", help="The folder to follow, in place of the file's `changes`.")
@click.option("--once", is_flag=True, help="Apply what is there, and end.")
@set_option
@json_option
@log_option
@metrics_option
@externs_option
def follow(
    *,
    file: Path,
    changes: Path | None,
    once: bool,
    parameters: dict[str, str],
    as_json: bool,
    externs: Path | None,
    metrics: Path | None,
) -> None:
    """Apply files of signed rows as they arrive in a folder, and batches of streams, each exactly once."""
    config = read_config(file, parameters)
    folder = changes or config.changes
    if folder is None and not config.streams:
        raise UserError(f'{file}: `changes` is missing: write changes = "folder", or [[stream]], or give --changes DIR')
    with shown_progress(quiet=as_json), Pipeline(config, externs=load_externs(externs)) as pipeline:
        pipeline.watch(folder, lambda outcome: show_outcome(outcome, as_json=as_json, metrics=metrics), once=once)


@command.command("history")
@file_argument
@set_option
@json_option
def history(file: Path, parameters: dict[str, str], as_json: bool) -> None:
    """List the versions."""
    versions = StateFolder(read_config(file, parameters).state).history()
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
@set_option
@json_option
@log_option
@externs_option
def rollback(file: Path, version: int, parameters: dict[str, str], as_json: bool, externs: Path | None) -> None:
    """Make a new version with the facts and the program of VERSION."""
    with shown_progress(quiet=as_json), _opened(file, parameters, externs) as pipeline:
        outcome = pipeline.rollback(version)
    show_outcome(outcome, as_json=as_json)


@command.command("plan")
@file_argument
@click.option("--changes", type=FOLDER, metavar="DIR", help="What would these files of signed rows do?")
@set_option
@json_option
@externs_option
def plan(file: Path, changes: Path | None, parameters: dict[str, str], as_json: bool, externs: Path | None) -> None:
    """Tell what `run` would read, change and write; nothing is written."""
    with shown_progress(quiet=as_json), _opened(file, parameters, externs) as pipeline:
        found = pipeline.preview(changes)
    if as_json:
        changed = _changes(found.changes)
        say_json(
            {"read": found.read, "changes": changed, "sinks": dict(found.sinks), "quarantined": dict(found.quarantined)}
            | {"engine": found.engine, "warnings": found.warnings}
        )
        return
    for warning in found.warnings:
        say_warning(warning)
    say(f"would read: {', '.join(found.read) or 'nothing new'}")
    say(f"would change, by {found.engine}: {_counts(found.changes)}")
    for name, count in found.sinks.items():
        say(f"would write: {name}, {count:,} row{'' if count == 1 else 's'}")
    for name, count in found.quarantined.items():
        say_warning(f"{count} row{'' if count == 1 else 's'} of {name} would go to the quarantine table")


@command.command("check")
@file_argument
@set_option
@log_option
@externs_option
def check(file: Path, parameters: dict[str, str], externs: Path | None) -> None:
    """Tell which expectations the last version does not meet; fail if one of them is to fail."""
    with _opened(file, parameters, externs) as pipeline:
        expected, found = pipeline.config.expectations, pipeline.check()
    if not expected:
        raise UserError(f'{file} has no expectations: write [[expect]] and relation = "..."')
    for told in found.values():
        say_warning(told)
    if any(one.on_rows == "fail" for one in found):
        raise ExpectationError(f"{len(found)} of {len(expected)} expectations are not met")
    say(f"{len(expected) - len(found)} of {len(expected)} expectations are met")


@command.command("show")
@file_argument
@click.argument("relation")
@click.option("--version", type=click.IntRange(min=1), help="As it was in this version.")
@click.option("--limit", type=click.IntRange(min=0), default=20, show_default=True, help="How many rows to show.")
@set_option
@json_option
@externs_option
def show(
    *,
    file: Path,
    relation: str,
    version: int | None,
    limit: int,
    parameters: dict[str, str],
    as_json: bool,
    externs: Path | None,
) -> None:
    """Show rows of RELATION, now or in an earlier version."""
    with shown_progress(quiet=as_json), _opened(file, parameters, externs) as pipeline:
        table, count = pipeline.first_rows(relation, version, limit)
    if as_json:
        for row in table.to_pylist():
            say_json(row)
        return
    say(", ".join(table.column_names))
    for row in zip(*[column.to_pylist() for column in table.columns], strict=True):
        say(", ".join(map(str, row)))
    say(f"{count:,} row{'' if count == 1 else 's'}" + (f", of which {limit} are shown" if count > limit else ""))


@command.command("vacuum")
@file_argument
@click.option("--keep", type=click.IntRange(min=1), metavar="N", help="Forget all versions but the last N.")
@set_option
@externs_option
def vacuum(file: Path, keep: int | None, parameters: dict[str, str], externs: Path | None) -> None:
    """Delete files that no version has, and with --keep versions, too."""
    with _opened(file, parameters, externs) as pipeline:
        gone, files = pipeline.vacuum(keep)
    say(f"{len(gone)} versions forgotten, {files} files deleted")


def _opened(file: Path, parameters: dict[str, str], externs: Path | None) -> Pipeline:
    return Pipeline(file, parameters=parameters, externs=load_externs(externs))


def show_outcome(outcome: Outcome, *, as_json: bool, metrics: Path | None = None) -> None:
    """Print what was done, and write it down as metrics."""
    if metrics is not None:
        write_metrics(metrics, outcome)
    if logs_json():
        log("version", **_version(outcome.version), **_outcome(outcome))
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


def _changes(changes: Mapping[str, tuple[int, int]]) -> dict[str, dict[str, int]]:
    return {name: {"inserted": gained, "deleted": lost} for name, (gained, lost) in changes.items()}


def _version(version: Version) -> dict[str, Any]:
    changes = _changes(version.changes)
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
