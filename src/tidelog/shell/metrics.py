"""What a pipeline did, in a file that Prometheus reads: of its last version, as the text format of that program.

    tidelog_pipeline_version 3
    tidelog_pipeline_rows{relation="Reach",change="inserted"} 12

The file appears by a rename, so whoever reads it, as the textfile collector of a node does, sees all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from tidelog.base.errors import UserError
from tidelog.session.pipeline.run import Outcome

_HELP = {
    "version": "The number of the last version.",
    "version_time_seconds": "When the last version was made.",
    "fresh": "1 if the last run made a version.",
    "seconds": "How long the last run took.",
    "rows": "Rows of the last version that a relation gained or lost.",
    "quarantined_rows": "Rows that the last run refused.",
    "derivations": "Derivations of the last run.",
    "warnings": "Warnings of the last run.",
}


def write_metrics(file: Path, outcome: Outcome) -> None:
    """Write what was done."""
    lines: list[str] = []
    values = list(_values(outcome))
    for name, told in _HELP.items():
        lines += [f"# HELP tidelog_pipeline_{name} {told}", f"# TYPE tidelog_pipeline_{name} gauge"]
        lines += [f"tidelog_pipeline_{name}{labels} {value}" for found, labels, value in values if found == name]
    fresh = file.with_name(f".{file.name}.writing")
    try:
        fresh.write_text("\n".join(lines) + "\n", encoding="utf-8")
        fresh.replace(file)
    except OSError as error:
        raise UserError(f"cannot write metrics to {file}: {error.strerror}") from None


def _values(outcome: Outcome) -> Iterator[tuple[str, str, float | int]]:
    version = outcome.version
    yield "version", "", version.number
    yield "version_time_seconds", "", datetime.fromisoformat(version.at).timestamp()
    yield "fresh", "", int(outcome.fresh)
    yield "seconds", "", round(outcome.seconds, 3)
    for relation, counts in version.changes.items():
        for change, count in zip(("inserted", "deleted"), counts, strict=True):
            yield "rows", f'{{relation="{relation}",change="{change}"}}', count
    for relation, count in outcome.quarantined.items():
        yield "quarantined_rows", f'{{relation="{relation}"}}', count
    yield "derivations", "", sum(work.derivations for work in outcome.work)
    yield "warnings", "", len(outcome.warnings)
