"""Files of changes: which relation a file belongs to, and how it is read.

`Link.csv`, `Link.2026-11-15.csv` and `Link/monday.csv` hold signed rows of Link. The ending says the format; options
and column names are those of the relation's source, if that has the same format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import UserError
from tidelog.base.record import record
from tidelog.plan.nodes import Relation
from tidelog.session.pipeline.config import Config, SourceTable

ENDINGS = {
    ".csv": ("csv", {}),
    ".tsv": ("csv", {"sep": "\t"}),
    ".json": ("json", {}),
    ".jsonl": ("json", {}),
    ".parquet": ("parquet", {}),
    ".orc": ("orc", {}),
}


@record
class ChangeFile:
    """A file of signed rows."""

    relation: str
    source: SourceTable


def folder_files(folder: Path) -> list[str]:
    """Return the files below a folder that Spark would look at, in order."""
    if not folder.is_dir():
        raise UserError(f"there is no folder {folder}")
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [str(path) for path in found if not any(p.startswith((".", "_")) for p in path.relative_to(folder).parts)]


def change_files(paths: Iterable[str], config: Config, inputs: Mapping[str, Relation]) -> Iterator[ChangeFile]:
    """Return how each file is read; refuse one that belongs to no input relation."""
    by_file = {name.replace("::", "."): name for name in inputs}
    for text in paths:
        path = Path(text)
        name = _relation(path, by_file)
        if name is None:
            hint = did_you_mean(path.name.partition(".")[0], by_file)
            known = ", ".join(by_file)
            raise UserError(
                f"{path} belongs to no input relation ({known}): call it like Relation.csv or Relation/any.csv"
                + (f"; {hint}" if hint else "")
            )
        yield ChangeFile(name, _source(path, name, config))


def _relation(path: Path, by_file: Mapping[str, str]) -> str | None:
    fitting = [name for name in by_file if path.name.startswith(f"{name}.")]
    if fitting:
        return by_file[max(fitting, key=len)]
    return by_file.get(path.parent.name)


def _source(path: Path, relation: str, config: Config) -> SourceTable:
    plain = path.name.removesuffix(".gz")
    ending = next((ending for ending in ENDINGS if plain.endswith(ending)), None)
    if ending is None:
        raise UserError(f"{path}: files of changes end in {', '.join(ENDINGS)}")
    format_name, options = ENDINGS[ending]
    known = config.source(relation) or SourceTable(relation, format_name, None)
    inherited = known.options if known.format == format_name else {}
    return replace(known, format=format_name, path=str(path), options={**inherited, **options})
