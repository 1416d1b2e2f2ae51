"""The inputs of the workloads as folders of `R.facts` files, which every racer reads.

    python -m benchmarks.inputs WORKLOAD DATA FOLDER

makes one folder. Made in a process of its own, so that the measuring one stays small, and once: a folder that is there
is taken as it is.
"""

from __future__ import annotations

import gzip
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from benchmarks import generate
from benchmarks.lubm import Encoder

Make = Callable[[Path, Path], None]
"""Writes the files of a workload: from the folder of data, into the folder of facts."""


def write(folder: Path, relation: str, rows: Iterable[Sequence[object]]) -> None:
    """Write the facts of one relation."""
    with (folder / f"{relation}.facts").open("w") as file:
        file.writelines("\t".join(map(str, row)) + "\n" for row in rows)


def read(path: Path) -> Iterable[list[str]]:
    """Yield the rows of a compressed CSV file without a header."""
    with gzip.open(path, "rt") as lines:
        for line in lines:
            yield line.rstrip("\r\n").split(",")


def files(**relations: str) -> Make:
    """Take relations from files of the data as they are."""

    def make(data: Path, folder: Path) -> None:
        for relation, name in relations.items():
            write(folder, relation, read(data / f"{name}.csv.gz"))

    return make


def graph(name: str, start: Sequence[int] = ()) -> Make:
    """Take the edges of a graph, and perhaps some nodes to start from."""

    def make(data: Path, folder: Path) -> None:
        files(Edge=f"graphs/{name}")(data, folder)
        if start:
            write(folder, "Start", [(node,) for node in start])

    return make


def upward(name: str) -> Make:
    """Take the edges of a graph from the smaller to the larger node, without loops."""

    def make(data: Path, folder: Path) -> None:
        edges = ((int(a), int(b)) for a, b in read(data / f"graphs/{name}.csv.gz"))
        write(folder, "Edge", {(min(a, b), max(a, b)) for a, b in edges if a != b})

    return make


def made(relations: Callable[[], Mapping[str, Iterable[Sequence[object]]]]) -> Make:
    """Take relations that are generated."""

    def make(data: Path, folder: Path) -> None:  # noqa: ARG001  (needs no data)
        for relation, rows in relations().items():
            write(folder, relation, rows)

    return make


def random_graph(nodes: int, edges: int) -> Make:
    """Take a random graph."""
    return made(lambda: {"Edge": generate.random_graph(nodes, edges), "Start": [(0,)]})


def lubm_encoded(data: Path, folder: Path) -> None:
    """Take LUBM(1) as it comes in integers."""
    rows = [*read(data / "lubm_encoded/abox.csv.gz"), *read(data / "lubm_encoded/tbox.csv.gz")]
    write(folder, "Triple", rows)


def lubm(size: int) -> Make:
    """Encode LUBM of a size from N-Triples, with its ontology."""

    def make(data: Path, folder: Path) -> None:
        encoder = Encoder()
        ontology = [*encoder.ontology(data / "lubm/univ-bench.ttl")]
        write(folder, "Triple", [*ontology, *encoder.triples(data / f"lubm/lubm{size}.nt.gz")])

    return make


def prepare(name: str, data: Path, work: Path) -> Path:
    """Return the folder of a workload's facts, made now if it is not there."""
    folder = work / "facts" / name
    if not folder.exists():
        command = [sys.executable, "-m", "benchmarks.inputs", name, str(data), str(folder)]
        subprocess.run(command, check=True, cwd=Path(__file__).parents[1])
    return folder


def main() -> None:
    from benchmarks.workloads import WORKLOADS  # noqa: PLC0415  (workloads name what makes their inputs)

    name, data, target = sys.argv[1:]
    folder = Path(target)
    unfinished = folder.with_name(folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    WORKLOADS[name].make(Path(data), unfinished)
    unfinished.rename(folder)


if __name__ == "__main__":
    main()
