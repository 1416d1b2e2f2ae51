"""Sources and sinks in an object store, without Spark: a server of S3 on this machine loses requests and answers."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.session.pipeline.object_store import ObjectStore, serving
from tidelog import DataError, Pipeline
from tidelog.session.pipeline.places.objects import Objects

PROGRAM = """
input relation Link(a: string, b: string)
input relation Port(n: u16)
output relation Reach(a: string, b: string)
Reach(a, b) :- Link(a, b).
Reach(a, c) :- Reach(a, b), Link(b, c).
"""
KINDS = ("parquet", "json", "csv", "delta")
MODES = ("full", "changes", "feed")
FEW = (("delta", "full"), ("delta", "changes"), ("delta", "merge"), ("csv", "full"), ("json", "feed"))


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with serving() as found:
        yield found


@pytest.fixture
def folder(store: ObjectStore, tmp_path: Path) -> Path:
    store.lose({})
    (tmp_path / "p.dl").write_text(PROGRAM)
    put(store, tmp_path, "a,b\na,b\nb,c\n")
    write_deltalake(f"s3://lake/{tmp_path.name}/ports", ports(80), storage_options=store.storage)
    describe(store, tmp_path, [*((kind, mode) for kind in KINDS for mode in MODES), ("delta", "merge")])
    return tmp_path


def describe(store: ObjectStore, folder: Path, sinks: Iterable[tuple[str, str]]) -> None:
    """Write the pipeline's file."""
    name = folder.name
    parts = [
        f'program = "p.dl"\nstate = "state"\n{store.lines()}',
        f'[[source]]\nrelation = "Link"\nformat = "csv"\npath = "s3://lake/{name}/links"\n',
        f'[[source]]\nrelation = "Port"\nformat = "delta"\npath = "s3a://lake/{name}/ports"\n',
        *[
            f'[[sink]]\nrelation = "Reach"\nformat = "{kind}"\nmode = "{mode}"\npath = "s3://lake/{name}/{kind}-{mode}"\n'
            + ('key = ["a", "b"]\n' if mode == "merge" else "")
            for kind, mode in sinks
        ],
    ]
    (folder / "p.toml").write_text("".join(parts))


def ports(*numbers: int) -> Any:
    return pa.table({"n": list(numbers)})


def put(store: ObjectStore, folder: Path, text: str, name: str = "one.csv") -> None:
    Objects(f"s3://lake/{folder.name}/links", store.storage).write(name, text.encode())


def delta(store: ObjectStore, folder: Path, mode: str) -> list[dict[str, Any]]:
    table = DeltaTable(f"s3://lake/{folder.name}/delta-{mode}", storage_options=store.storage)
    return list(table.to_pyarrow_table().to_pylist())


def contents(store: ObjectStore, folder: Path, sink: str) -> dict[str, bytes]:
    place = Objects(f"s3://lake/{folder.name}/{sink}", store.storage)
    return {one.name: place.read(one.name) for one in place.files()}


def check(store: ObjectStore, folder: Path, links: set[tuple[str, str]], versions: int, *, few: bool = False) -> None:
    """See that all sinks say what follows from the links, and of each version once."""
    found = set(links)
    while more := {(a, d) for a, b in found for c, d in links if b == c} - found:
        found |= more
    for mode in ("full", "merge"):
        assert sorted((row["a"], row["b"]) for row in delta(store, folder, mode)) == sorted(found), mode
    for mode, version in (("changes", "version"), ("feed", "_commit_version"))[: 1 if few else 2]:
        rows = delta(store, folder, mode)
        sums: dict[tuple[str, str], int] = {}
        for row in rows:
            sign = row["weight"] if mode == "changes" else {"insert": 1, "delete": -1}[row["_change_type"]]
            sums[row["a"], row["b"]] = sums.get((row["a"], row["b"]), 0) + sign
        assert {row for row, weight in sums.items() if weight} == found
        assert set(sums.values()) <= {0, 1}
        assert {row[version] for row in rows} == set(range(1, versions + 1))
    (text,) = contents(store, folder, "csv-full").values()
    assert sorted(text.decode().splitlines()[1:]) == sorted(f"{a},{b}" for a, b in found)
    feed = contents(store, folder, "json-feed")
    assert set(feed) == {f"version={number}/part-00000.json" for number in range(1, versions + 1)}
    assert b'"_change_type":"insert","_commit_version":1' in feed["version=1/part-00000.json"]
    if not few:
        (file,) = contents(store, folder, "parquet-full").values()
        assert pq.read_table(io.BytesIO(file)).num_rows == len(found)


def run(folder: Path) -> Any:
    with Pipeline(folder / "p.toml") as one:
        (outcome,) = one.run()
        assert outcome.version.engine == "columnar"
        return outcome


def test_in_and_out(store: ObjectStore, folder: Path) -> None:
    assert run(folder).version.changes == {"Link": (2, 0), "Port": (1, 0), "Reach": (3, 0)}
    check(store, folder, {("a", "b"), ("b", "c")}, 1)
    assert run(folder).fresh is False  # the objects are the same
    put(store, folder, "a,b\nc,d\n", "two.csv")
    put(store, folder, "a,b\nb,c\n")
    write_deltalake(f"s3://lake/{folder.name}/ports", ports(81), mode="append", storage_options=store.storage)
    assert run(folder).version.changes == {"Link": (1, 1), "Port": (1, 0), "Reach": (2, 2)}
    check(store, folder, {("b", "c"), ("c", "d")}, 2)


def test_an_answer_that_is_lost_once(store: ObjectStore, folder: Path) -> None:
    """The process lives, and its commits are made once, though each third write loses its answer."""
    describe(store, folder, FEW)
    run(folder)
    put(store, folder, "a,b\nc,d\n", "two.csv")
    store.lose(dict.fromkeys(range(1, 200, 3), "answer"))
    run(folder)
    store.lose({})
    check(store, folder, {("a", "b"), ("b", "c"), ("c", "d")}, 2, few=True)


def test_mistakes(store: ObjectStore, folder: Path) -> None:
    text = (folder / "p.toml").read_text()
    for old, new, told in (
        (f"{folder.name}/links", "absent", r"source Link \(s3://lake/absent\): there is nothing at this address"),
        (f"lake/{folder.name}/ports", "away/ports", r"source Port \(s3a://away/ports\): .*NoSuchBucket"),
        (f"lake/{folder.name}/delta-merge", "away/merge", r"sink Reach \(s3://away/merge\): .*NoSuchBucket"),
    ):
        assert old in text
        (folder / "p.toml").write_text(text.replace(old, new))
        with Pipeline(folder / "p.toml") as one, pytest.raises(DataError, match=told) as found:
            one.run()
        assert "\x1b" not in str(found.value)
        assert "\n" not in str(found.value)
        assert one.state.numbers() == []


@pytest.mark.long(reason="processes")
def test_two_writers(store: ObjectStore, folder: Path) -> None:
    """Two pipelines, each with a state of its own, write one table at the same time: both are there, each once."""
    others = [folder.with_name(f"{folder.name}-{number}") for number in (1, 2)]
    for number, other in enumerate(others, 1):
        describe(store, folder, [("delta", "changes")])
        shutil.copytree(folder, other)
        (other / "p.dl").write_text(
            PROGRAM.replace("Reach(a, b) :- Link(a, b).", f'Reach(a, "{number}") :- Link(a, _).')
        )
    running = [
        subprocess.Popen([sys.executable, "-m", "tidelog", "pipeline", "run", f"{one}/p.toml"]) for one in others
    ]
    assert [one.wait() for one in running] == [0, 0]
    found = sorted((row["a"], row["b"]) for row in delta(store, folder, "changes"))
    assert found == [("a", "1"), ("a", "2"), ("b", "1"), ("b", "2")]
