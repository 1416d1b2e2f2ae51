"""A state folder that Tidelog wrote before its tables were tables of Delta Lake, taken over once.

    STATE/versions/000003/manifest.json     the program, the batch, the changes, and where each table is
    STATE/versions/000003/Link/*.parquet    the facts of an input relation; unchanged ones stay where they are

All versions are carried over, each table once; they become visible by one commit, and only then the old folder goes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tidelog.base.errors import UserError
from tidelog.base.plain.plain import Plain
from tidelog.plan.nodes import Plan
from tidelog.run.limits import tell
from tidelog.session.frames.arrow import read_table
from tidelog.session.pipeline.places.local import Local
from tidelog.session.pipeline.state.cells import cells, schema_of
from tidelog.session.pipeline.state.facts import BASE
from tidelog.session.pipeline.state.versions import Batch, StateFolder, Table, Version

FORMAT = 1
MANIFEST = "manifest.json"


def carry_over(state: StateFolder, planned: Callable[[str], Plan]) -> None:
    """Take over the versions of an old folder, if there is one; `planned` gives the plan of a program."""
    if not isinstance(state.place, Local):
        return
    old = state.place.path / "versions"
    if not old.is_dir():
        return
    if not state.numbers():
        manifests = [*_manifests(old)]
        if manifests:
            tell(f"{state.place.address} is carried over to tables of Delta Lake")
            known: dict[str, Table] = {}
            state.commit(*[_carried(state, old, content, planned, known) for content in manifests])
    shutil.rmtree(old)


def _manifests(old: Path) -> Iterator[dict[str, Any]]:
    for folder in sorted(path for path in old.iterdir() if path.name.isdigit()):
        path = folder / MANIFEST
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UserError(f"{path} is damaged: {error}") from None
        if content.pop("format", None) != FORMAT:
            raise UserError(f"{path} was written by another version of Tidelog")
        yield content


def _carried(
    state: StateFolder, old: Path, content: dict[str, Any], planned: Callable[[str], Plan], known: dict[str, Table]
) -> Version:
    plan = planned(content["program"])
    for name, table in content["tables"].items():
        if table["path"] not in known:
            known[table["path"]] = _table(state, old, name, table, plan)
    tables = {name: known[table["path"]] for name, table in content["tables"].items()}
    changes = {name: (gained, lost) for name, (gained, lost) in content["changes"].items()}
    batch = Batch(**content["batch"]) if content["batch"] else None
    return Version(**content | {"tables": tables, "changes": changes, "batch": batch})


def _table(state: StateFolder, old: Path, name: str, table: dict[str, Any], plan: Plan) -> Table:
    relation, plain = plan.relations[name], Plain(plan.types)
    if not relation.columns:
        return Table("", None, table["rows"])
    schema = schema_of(relation.columns)
    path = state.free(f"facts/{name.replace('::', '.')}", schema)
    log = state.log(path)
    head = log.version()
    added = []
    if table["rows"]:
        rows = read_table(pq.read_table(old / table["path"]), relation, plain)
        added = [log.write(cells(rows, relation.columns, plain), BASE)]
    return Table(path, log.commit(schema, head, added, log.files(head)), table["rows"])
