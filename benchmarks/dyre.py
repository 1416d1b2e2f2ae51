"""The dynamic interpreter (strategy `dbsp`) in the two measurements of its paper, in this process.

Figure 4: materialising growing parts of the data, without and with the index of join orders. The inputs are small:
without the index every partial match is tried on all facts of the relation.

Figure 5: materialising 99% of the data, then adding the rest, then taking it away; and with 50%. Beside it what
`ranked` takes for the same. The sizes of both are compared after every step.

Times are processor time. Kernels are compiled before.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import generate
from benchmarks.batch import Settings
from benchmarks.inputs import prepare
from benchmarks.race_tidelog import planned
from benchmarks.tables import count, ratio, seconds, table
from benchmarks.workloads import PROGRAMS, WORKLOADS
from tidelog.base.plain.plain import Plain
from tidelog.plan.nodes import Plan
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta, Engine, Row
from tidelog.run.dbsp.engine import DbspEngine
from tidelog.session.formats.files import read_facts

Facts = Callable[[Path, Path], Sequence[Row]]
"""Gives facts, from the folder of data and that of prepared inputs."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A program of one input relation, and its facts: all of them, and few for figure 4."""

    name: str
    program: str
    relation: str
    output: str
    facts: Facts
    few: Facts


def _random(nodes: int, edges: int) -> Facts:
    return lambda data, work: generate.random_graph(nodes, edges)  # noqa: ARG005  (needs no data)


def _some_triples(data: Path, work: Path) -> Sequence[Row]:
    """Return the ontology of LUBM and 4,000 triples of its data."""
    triples = LUBM(data, work)
    return [*(row for row in triples if row[1] < 4), *[row for row in triples if row[1] >= 4][:4_000]]


def _of(workload: str, relation: str) -> Callable[[Path, Path], Sequence[Row]]:
    def facts(data: Path, work: Path) -> Sequence[Row]:
        plan = planned(_program(WORKLOADS[workload].program))
        found = read_facts(prepare(workload, data, work), plan.relations, Plain(plan.types)).rows
        rows = list(dict.fromkeys(found[relation]))
        random.Random(0).shuffle(rows)
        return rows

    return facts


LUBM = _of("lubm-1", "Triple")
SUBJECTS = (
    Subject("TC dense", "tc_left", "Edge", "Path", _random(1_000, 10_000), _random(150, 1_500)),
    Subject("TC sparse", "tc_left", "Edge", "Path", _random(1_000, 2_000), _random(1_000, 1_100)),
    Subject("LUBM RDFS", "rdfs", "Triple", "T", LUBM, _some_triples),
)
TINY = (
    Subject("tiny TC", "tc_left", "Edge", "Path", _random(40, 80), _random(40, 80)),
    Subject("tiny RDFS", "rdfs", "Triple", "T", _of("tiny-rdfs", "Triple"), _of("tiny-rdfs", "Triple")),
)
PARTS = (25, 50, 75, 100)


@dataclass(frozen=True, slots=True)
class Line:
    """One measurement: a figure, a subject, what was done, and the seconds it took each contender."""

    figure: int
    subject: str
    what: str
    facts: int
    rows: int
    first: float
    second: float


def run_dyre(suite: str | None, settings: Settings) -> list[str]:
    """Measure, print a table for each figure, and return what is wrong."""
    subjects = TINY if suite == "tiny" else SUBJECTS
    mistakes: list[str] = []
    lines: list[Line] = []
    for subject in subjects:
        plan = planned(_program(subject.program))
        facts = subject.facts(settings.data, settings.work)
        _warm(plan, subject, facts)
        lines += figure_4(plan, subject, subject.few(settings.data, settings.work), mistakes)
        lines += figure_5(plan, subject, facts, mistakes)
    headings = {4: ("without", "with index", "saved"), 5: ("dbsp", "ranked", "ratio")}
    for figure, (first, second, third) in headings.items():
        rows = [
            (
                line.subject,
                line.what,
                count(line.facts),
                count(line.rows),
                seconds(line.first),
                seconds(line.second),
                ratio(line.first / line.second),
            )
            for line in lines
            if line.figure == figure
        ]
        print(f"\n== figure {figure}")
        print(table(("subject", "step", "facts", "rows", first, second, third), rows), flush=True)
    if settings.json is not None:
        settings.json.write_text(json.dumps([asdict(line) for line in lines], indent=1))
    return mistakes


def figure_4(plan: Plan, subject: Subject, facts: Sequence[Row], mistakes: list[str]) -> list[Line]:
    """Materialise parts of a few facts without and with the join order index."""
    lines = []
    for part in PARTS:
        given = facts[: len(facts) * part // 100]
        spent, sizes = [], []
        for indexed in (False, True):
            engine = DbspEngine(plan, indexed=indexed)
            spent.append(_timed(engine, subject.relation, Delta(given)))
            sizes.append(engine.count(subject.output))
        if sizes[0] != sizes[1]:
            mistakes.append(f"{subject.name}, {part}%: {sizes[0]} rows without the index, {sizes[1]} with it")
        lines.append(Line(4, subject.name, f"{part}%", len(given), sizes[0], *spent))
    return lines


def figure_5(plan: Plan, subject: Subject, facts: Sequence[Row], mistakes: list[str]) -> list[Line]:
    """Materialise most of the data, add the rest, take it away again."""
    lines = []
    for share in (99, 50):
        cut = len(facts) * share // 100
        engines: list[Engine] = [DbspEngine(plan), ColumnarEngine(plan, strategy="ranked", threads=1)]
        rest = facts[cut:]
        steps = {"1 - mat": Delta(facts[:cut]), "2 - update": Delta(rest), "3 - remove": Delta((), rest)}
        for name, change in steps.items():
            spent = [_timed(engine, subject.relation, change) for engine in engines]
            sizes = [engine.count(subject.output) for engine in engines]
            if sizes[0] != sizes[1]:
                mistakes.append(f"{subject.name}:{share}, {name}: {sizes[0]} rows with dbsp, {sizes[1]} with ranked")
            changed = len(change.inserted) + len(change.deleted)
            lines.append(Line(5, f"{subject.name}:{share}", name, changed, sizes[0], *spent))
    return lines


def _timed(engine: Engine, relation: str, change: Delta) -> float:
    start = time.process_time()
    engine.update({relation: change})
    return time.process_time() - start


def _warm(plan: Plan, subject: Subject, facts: Sequence[Row]) -> None:
    """Compile the kernels."""
    for engine in (DbspEngine(plan), ColumnarEngine(plan, strategy="ranked", threads=1)):
        _timed(engine, subject.relation, Delta(facts))
        _timed(engine, subject.relation, Delta((), facts[:10]))


def _program(name: str) -> Path:
    return PROGRAMS / f"{name}.dl"
