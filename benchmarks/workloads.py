"""The workloads: a program, its input, and the sizes its output is known to have.

A size is a published one, or what Tidelog and Soufflé agreed on when it was written down. Where it is None, the racers
of a run must agree on it. `long` ones run only when asked for by name or with `--long`; `quick` ones are what `--quick`
leaves. The suite `tiny` needs no data and takes seconds: it keeps the benchmarks from rotting.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks import generate, inputs
from benchmarks.inputs import Make

PROGRAMS = Path(__file__).parent / "programs"


@dataclass(frozen=True, slots=True)
class Workload:
    """One line of the table."""

    name: str
    suite: str
    program: str
    make: Make
    sizes: Mapping[str, int | None]
    quick: bool = False
    long: bool = False

    def text(self, ending: str) -> Path | None:
        """Return the program's file in a racer's language, None if it cannot be said there."""
        path = PROGRAMS / f"{self.program}{ending}"
        return path if path.exists() else None


def _closures(name: str, make: Make, size: int | None, *, quick: bool = False, long: bool = False) -> list[Workload]:
    return [
        Workload(f"tc-{form}-{name}", "tc", f"tc_{form}", make, {"Path": size}, quick, long)
        for form in ("right", "left", "nonlinear")
    ]


def _symmetric(name: str, make: Make, size: int | None, *, quick: bool = False, long: bool = False) -> list[Workload]:
    forms = {"stc": "stc", "stc-linear": "stc_linear", "stc-eqrel": "stc_eqrel"}
    return [
        Workload(f"{form}-{name}", "stc", program, make, {"Path": size}, quick, long) for form, program in forms.items()
    ]


GALEN = inputs.files(P0="galen/p", Q0="galen/q", R="galen/r", C="galen/c", U="galen/u", S="galen/s")
DAG_R = inputs.made(lambda: {"Edge": generate.acyclic(10_000, 100_000)})
CRDT = inputs.files(Insert="crdt/insert", Remove="crdt/remove")
POINTERS: Mapping[str, int | None] = {"PointsTo": None}
CSPA: Mapping[str, int | None] = {"ValueFlow": None, "ValueAlias": None, "MemoryAlias": None}
CSPA_SIZES = {"ValueFlow": 124_021, "ValueAlias": 222_208, "MemoryAlias": 22_272}
TINY_TEXT: Mapping[str, list[tuple[int, ...]]] = {
    "Insert": [(1, 0, 0, 0), (2, 0, 1, 0), (3, 0, 1, 0), (3, 1, 0, 0), (4, 0, 3, 0), (5, 1, 3, 1)],
    "Remove": [(3, 0)],
}
TINY_TRIPLES = [(10, 0, 11), (11, 0, 12), (20, 1, 21), (20, 2, 10), (21, 3, 12), (30, 20, 31), (32, 4, 10)]

_ALL = [
    *_closures("OL", inputs.graph("OL.cedge"), 146_120, quick=True),
    *_closures("TG", inputs.graph("TG.cedge"), 481_121),
    *_closures("SF", inputs.graph("SF.cedge"), None, long=True),
    *_closures("random-1000-10000", inputs.random_graph(1_000, 10_000), 999_000),
    *_closures("random-500-5000", inputs.random_graph(500, 5_000), None, long=True),
    *_closures("random-3200-32000", inputs.random_graph(3_200, 32_000), None, long=True),
    *_closures("random-10000-30000", inputs.random_graph(10_000, 30_000), None, long=True),
    *_closures("chain-100", inputs.made(lambda: {"Edge": generate.chains(1, 100)}), 4_950, long=True),
    *_closures("DAG-R", DAG_R, None, long=True),
    *_symmetric("OL", inputs.graph("OL.cedge"), 37_271_025, long=True),
    *_symmetric("TG", inputs.graph("TG.cedge"), None, long=True),
    *_symmetric("SF", inputs.graph("SF.cedge"), None, long=True),
    *_symmetric("random-1000-10000", inputs.random_graph(1_000, 10_000), 1_000_000),
    *_symmetric("random-10000-30000", inputs.random_graph(10_000, 30_000), None, long=True),
    *_symmetric("DAG-R", DAG_R, None, long=True),
    *_symmetric("cliques", inputs.made(lambda: {"Edge": generate.chains(1_000, 40)}), 1_600_000, quick=True),
    Workload("sg-OL", "sg", "sg", inputs.graph("OL.cedge"), {"Same": 285_431}, quick=True),
    Workload("sg-HepTh", "sg", "sg", inputs.graph("CA-HepTh"), {"Same": None}, long=True),
    Workload("triangles-Facebook", "graphs", "triangles", inputs.upward("ego-Facebook"), {"Triangle": 1_612_010}),
    Workload("reach-Enron", "graphs", "reach", inputs.graph("email-Enron", [0]), {"Reach": 33_696}, quick=True),
    Workload(
        "cc-Brightkite", "graphs", "cc", inputs.graph("loc-Brightkite"), {"Component": 58_228, "Least": 547}, quick=True
    ),
    Workload("galen", "galen", "galen", GALEN, {"P": 7_560_179, "Q": 16_595_494}),
    Workload("crdt", "crdt", "crdt", CRDT, {"Pair": 104_851, "Counters": 104_653}),
    Workload("lubm-1", "lubm", "rdfs", inputs.lubm_encoded, {"T": 126_732}, quick=True),
    Workload("lubm-5", "lubm", "rdfs", inputs.lubm(5), {"T": 765_804}),
    Workload("lubm-10", "lubm", "rdfs", inputs.lubm(10), {"T": None}),
    Workload("andersen", "pointers", "andersen", inputs.made(lambda: generate.andersen(10_000)), {"PointsTo": 566_722}),
    Workload("cspa", "pointers", "cspa", inputs.made(lambda: generate.cspa(6_000)), CSPA_SIZES),
    Workload("same-Brightkite", "graphs", "same", inputs.graph("loc-Brightkite"), {"Component": 58_228}, long=True),
    Workload(
        "same-random-800000", "graphs", "same", inputs.random_graph(400_000, 800_000), {"Component": None}, long=True
    ),
    Workload("tiny-same", "tiny", "same", inputs.random_graph(40, 25), {"Component": None}),
    Workload("tiny-chain", "tiny", "tc_left", inputs.made(lambda: {"Edge": generate.chains(1, 8)}), {"Path": 28}),
    Workload("tiny-tc", "tiny", "tc_right", inputs.random_graph(40, 80), {"Path": None}),
    Workload("tiny-stc", "tiny", "stc_linear", inputs.random_graph(40, 30), {"Path": None}),
    Workload("tiny-sg", "tiny", "sg", inputs.random_graph(20, 30), {"Same": None}),
    Workload("tiny-triangles", "tiny", "triangles", inputs.random_graph(12, 60), {"Triangle": None}),
    Workload("tiny-reach", "tiny", "reach", inputs.random_graph(40, 120), {"Reach": None}),
    Workload("tiny-cc", "tiny", "cc", inputs.random_graph(40, 25), {"Component": None, "Least": None}),
    Workload("tiny-andersen", "tiny", "andersen", inputs.made(lambda: generate.andersen(60)), POINTERS),
    Workload("tiny-cspa", "tiny", "cspa", inputs.made(lambda: generate.cspa(40)), CSPA),
    Workload("tiny-crdt", "tiny", "crdt", inputs.made(lambda: TINY_TEXT), {"Pair": 4, "Counters": 4}),
    Workload("tiny-rdfs", "tiny", "rdfs", inputs.made(lambda: {"Triple": TINY_TRIPLES}), {"T": 15}),
]
WORKLOADS: Mapping[str, Workload] = {workload.name: workload for workload in _ALL}


def chosen(suite: str | None, *, quick: bool = False, long: bool = False) -> list[Workload]:
    """Return a suite, or one workload, or those whose names start so; without a suite all but the tiny ones."""
    if suite is None:
        found = [w for w in _ALL if w.suite != "tiny" and (long or not w.long)]
    elif suite in WORKLOADS:
        found = [WORKLOADS[suite]]
    else:
        found = [w for w in _ALL if w.suite == suite and (long or not w.long)]
        found = found or [w for w in _ALL if w.name.startswith(suite)]
    if not found:
        raise SystemExit(f"no suite or workload {suite}; suites: {', '.join(dict.fromkeys(w.suite for w in _ALL))}")
    return [w for w in found if w.quick or w.suite == "tiny"] if quick else found
