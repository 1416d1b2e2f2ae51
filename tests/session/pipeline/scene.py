"""A pipeline that dies and goes on: what it does, in which ways, and how versions, sinks and quarantine must agree."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from tidelog.session.pipeline.facts import Edit
from tidelog.session.pipeline.run import Pipeline
from tidelog.session.pipeline.sinks.output import Output
from tidelog.session.pipeline.state.versions import Batch

PROGRAM = """
input relation Link(a: string, b: string)
input relation Seen(n: u64)
output relation Reach(a: string, b: string)
Reach(a, b) :- Link(a, b).
Reach(a, c) :- Reach(a, b), Link(b, c).
output relation Loop(a: string)
Loop(a) :- Reach(a, a).
"""
CONFIG = """
program = "p.dl"
state = "state"
[[source]]
relation = "Link"
format = "csv"
path = "links.csv"
"""
RELATIONS = ("Reach", "Link")
FORMATS = ("csv", "parquet", "delta")
Pairs = frozenset[tuple[str, str]]
Signed = dict[int, list[tuple[str, str, int]]]
"""Signed rows by version."""
FIRST: Pairs = frozenset({("a", "b"), ("b", "c")})
BATCHES: dict[int, dict[str, Any]] = {
    7: {"insert": [("c", "d")], "delete": [("a", "b")], "refuse": ["bad 7"]},
    8: {"insert": [("d", "a"), ("c", "d")], "delete": [("b", "c")], "refuse": ["bad 8", "worse 8"]},
}


def apply(number: int) -> Callable[[Pipeline], Any]:
    """Return how a batch is applied."""
    return lambda one: one.apply([str(number)], "batch", Batch("q", number))


WAYS: dict[str, Callable[[Pipeline], Any]] = {
    "same": apply(7),
    "other": apply(8),
    "rollback": lambda one: one.rollback(1),
}


def fill(edit: Edit, config: object, spark: object, paths: Iterable[str], tuning: object) -> None:
    """Stand in for files of changes, with rows that are refused."""
    for path in paths:
        batch = BATCHES[int(path)]
        edit.tx.delete("Link", batch["delete"])
        edit.tx.insert("Link", batch["insert"])
        edit.tx.insert("Seen", [(int(path),)])
        rows = pa.table({"file": [path] * len(batch["refuse"]), "row": batch["refuse"]})
        edit.refuse("Link", Output(rows.num_rows, partial(pa.Table.select, rows, ["file", "row"])))


def write_scene(folder: Path, sinks: str = "", config: str = CONFIG) -> None:
    """Write the files of the pipeline."""
    folder.mkdir()
    (folder / "p.dl").write_text(PROGRAM)
    own = [
        f'[[sink]]\nrelation = "{relation}"\nformat = "{kind}"\n'
        f'path = "out/{relation}-{kind}-{mode}"\nmode = "{mode}"\n'
        for relation in RELATIONS
        for kind in FORMATS
        for mode in ("full", "changes")
    ]
    own.append(
        '[[sink]]\nrelation = "Reach"\nformat = "delta"\npath = "out/merged"\nmode = "merge"\nkey = ["a", "b"]\n'
    )
    own.append('[[sink]]\nrelation = "Link"\nformat = "json"\npath = "out/feed"\nmode = "feed"\n')
    (folder / "p.toml").write_text(config + (sinks or "".join(own)))
    (folder / "links.csv").write_text("a,b\na,b\nb,c\n")


def reach(links: Iterable[tuple[str, str]]) -> Pairs:
    """Return what links lead to."""
    found = set(links)
    while more := {(a, d) for a, b in found for c, d in links if b == c} - found:
        found |= more
    return frozenset(found)


def meaning(relation: str, links: Pairs) -> Pairs:
    """Return the rows of a relation."""
    return reach(links) if relation == "Reach" else links


AFTER = (FIRST - set(BATCHES[7]["delete"])) | set(BATCHES[7]["insert"])
"""The links after the batch 7."""

# --- what sinks show -------------------------------------------------------------------------------------------------


def rows_in(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Return the rows of a sink's folder."""
    if kind == "delta":
        return list(DeltaTable(str(folder)).to_pyarrow_table().to_pylist())
    (file,) = folder.glob(f"part-*.{kind}")
    if kind == "parquet":
        return list(pq.read_table(file, partitioning=None).to_pylist())
    if kind == "json":
        return [json.loads(line) for line in file.read_text().splitlines()]
    head, *lines, end = file.read_text().split("\n")
    assert end == ""
    return [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines]


def full(folder: Path, relation: str, kind: str) -> Pairs:
    """Return what a full sink shows: rows of which each is there once."""
    rows = [(row["a"], row["b"]) for row in rows_in(folder / f"out/{relation}-{kind}-full", kind)]
    assert len(set(rows)) == len(rows)
    return frozenset(rows)


def changed(folder: Path, relation: str, kind: str) -> Signed:
    """Return what a sink of changes shows, by version."""
    path = folder / f"out/{relation}-{kind}-changes"
    found: Signed = {}
    if kind == "delta":
        for row in rows_in(path, kind) if path.exists() else []:
            found.setdefault(row["version"], []).append((row["a"], row["b"], row["weight"]))
    else:
        for one in path.glob("version=*"):
            rows = [(row["a"], row["b"], int(row["weight"])) for row in rows_in(one, kind)]
            found[int(one.name.removeprefix("version="))] = rows
    return {number: sorted(rows) for number, rows in found.items()}


def fed(folder: Path) -> Signed:
    """Return what the feed of links shows, by version."""
    found: Signed = {}
    for one in (folder / "out/feed").glob("version=*"):
        for row in rows_in(one, "json"):
            assert row["_commit_version"] == int(one.name.removeprefix("version="))
            sign = {"insert": 1, "delete": -1}[row["_change_type"]]
            found.setdefault(row["_commit_version"], []).append((row["a"], row["b"], sign))
    return {number: sorted(rows) for number, rows in found.items()}


def signed(before: Pairs, now: Pairs) -> list[tuple[str, str, int]]:
    """Return the change from some rows to others."""
    return sorted([(*row, 1) for row in now - before] + [(*row, -1) for row in before - now])


# --- what must agree -------------------------------------------------------------------------------------------------


def history(one: Pipeline) -> tuple[dict[int, Pairs], dict[int, list[str]]]:
    """Return the links of every version and what each refused, as its reason says; see that its facts are these."""
    links: dict[int, Pairs] = {0: frozenset()}
    refused: dict[int, list[str]] = {}
    versions = one.state.history()
    assert [version.number for version in versions] == list(range(1, len(versions) + 1))
    for version in versions:
        before = links[version.number - 1]
        now = FIRST
        if version.batch is not None:
            batch = BATCHES[version.batch.number]
            now = (before - set(batch["delete"])) | set(batch["insert"])
            refused[version.number] = batch["refuse"]
        else:
            assert version.reason in {"run", "rollback to 1"}
        links[version.number] = now
        plan = one._databases.plan(version.program)
        stored = list(one._databases.stored(plan, version, here=True)["Link"])
        assert (frozenset(stored), len(stored)) == (now, len(now))
    return links, refused


def check(folder: Path, opened: Callable[[Path], Pipeline]) -> None:
    """See that everything there says the same."""
    with opened(folder) as one:
        links, refused = history(one)
    for relation in RELATIONS:
        rows = {number: meaning(relation, found) for number, found in links.items()}
        pairs = {number: signed(rows[number - 1], rows[number]) for number in links if number}
        expected = {number: change for number, change in pairs.items() if change}
        for kind in FORMATS:
            assert full(folder, relation, kind) == rows[max(rows)], (relation, kind)
            assert changed(folder, relation, kind) == expected, (relation, kind)
    merged = [(row["a"], row["b"]) for row in rows_in(folder / "out/merged", "delta")]
    assert (frozenset(merged), len(merged)) == (reach(links[max(links)]), len(reach(links[max(links)])))
    assert fed(folder) == expected  # of links, the last relation
    kept = {
        int(file.parent.name.removeprefix("version=")): sorted(
            pq.read_table(file, partitioning=None)["row"].to_pylist()
        )
        for file in (folder / "state/quarantine/Link").glob("version=*/part-*.parquet")
    }
    assert kept == refused
    assert not list((folder / "state/pending").iterdir())
    assert not [one for one in (folder / "out").rglob(".*") if one.is_dir()]
