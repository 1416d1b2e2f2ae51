"""A pipeline that dies and goes on: what it does, in which ways, and how versions, sinks and quarantine must agree."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from tidelog.session.pipeline.facts import Edit
from tidelog.session.pipeline.places.local import Local
from tidelog.session.pipeline.places.place import Place
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
    """Write the files of the pipeline, whose sinks are all there are, if they are not given."""
    folder.mkdir()
    (folder / "p.dl").write_text(PROGRAM)
    kinds = [(relation, kind, mode) for relation in RELATIONS for kind in FORMATS for mode in ("full", "changes")]
    own = [*kinds, ("Reach", "delta", "merge"), ("Link", "json", "feed")]
    (folder / "p.toml").write_text(config + (sinks or "".join(sink(*one, "out") for one in own)))
    (folder / "links.csv").write_text("a,b\na,b\nb,c\n")


def sink(relation: str, kind: str, mode: str, root: str) -> str:
    """Return the lines of a sink in a folder or at an address."""
    lines = f'[[sink]]\nrelation = "{relation}"\nformat = "{kind}"\npath = "{root}/{relation}-{kind}-{mode}"\n'
    return f'{lines}mode = "{mode}"\n' + ('key = ["a", "b"]\n' if mode == "merge" else "")


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


def rows_in(place: Place, kind: str) -> list[dict[str, Any]]:
    """Return the rows of a sink."""
    if kind == "delta":
        table = DeltaTable(place.address, storage_options=dict(place.options))
        return list(table.to_pyarrow_table().to_pylist())
    (name,) = [one.name for one in place.files() if one.name.startswith("part-")]
    if kind == "parquet":
        return list(pq.read_table(place.opened(name), partitioning=None).to_pylist())
    text = place.read(name).decode()
    if kind == "json":
        return [json.loads(line) for line in text.splitlines()]
    head, *lines, end = text.split("\n")
    assert end == ""
    return [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines]


def full(out: Place, relation: str, kind: str, mode: str = "full") -> Pairs:
    """Return what a sink shows that has all rows: each is there once."""
    rows = [(row["a"], row["b"]) for row in rows_in(out.below(f"{relation}-{kind}-{mode}"), kind)]
    assert len(set(rows)) == len(rows)
    return frozenset(rows)


def changed(out: Place, relation: str, kind: str, mode: str) -> Signed:
    """Return what a sink of changes or a feed shows, by version."""
    place = out.below(f"{relation}-{kind}-{mode}")
    found: Signed = {}
    if kind == "delta":
        for row in rows_in(place, kind) if place.files() else []:
            found.setdefault(row["version"], []).append((row["a"], row["b"], row["weight"]))
    else:
        for version in {one.name.partition("/")[0] for one in place.files()}:
            rows = rows_in(place.below(version), kind)
            found[int(version.removeprefix("version="))] = [(row["a"], row["b"], _sign(row, version)) for row in rows]
    return {number: sorted(rows) for number, rows in found.items()}


def _sign(row: Mapping[str, Any], version: str) -> int:
    if "weight" in row:
        return int(row["weight"])
    assert row["_commit_version"] == int(version.removeprefix("version="))
    return {"insert": 1, "delete": -1}[row["_change_type"]]


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


def check(pipeline: Pipeline, out: Place) -> None:
    """See that the state, all sinks, which are in one place, and the quarantine say the same."""
    with pipeline as one:
        links, refused = history(one)
    for sink in one.config.sinks:
        rows = {number: meaning(sink.relation, found) for number, found in links.items()}
        if sink.mode in {"full", "merge"}:
            assert full(out, sink.relation, sink.format, sink.mode) == rows[max(rows)], sink
        else:
            pairs = {number: signed(rows[number - 1], rows[number]) for number in links if number}
            expected = {number: change for number, change in pairs.items() if change}
            assert changed(out, sink.relation, sink.format, sink.mode) == expected, sink
    place = one.state.place.below("quarantine", "Link")
    kept = {
        int(file.name.partition("/")[0].removeprefix("version=")): sorted(
            pq.read_table(place.opened(file.name), partitioning=None)["row"].to_pylist()
        )
        for file in place.files()
        if "/part-" in file.name
    }
    assert kept == refused
    assert not one.state.place.files("pending")
    if isinstance(out, Local):
        assert not [one for one in out.path.rglob(".*") if one.is_dir()]
