"""One candidate on one workload, in a process of its own, which is forked from one that has everything loaded.

The child writes a line of JSON for each commit as it is done: processor time, work, and the sizes of outputs; in the
end its peak memory and a hash of the rows of every output, which count for neither. It ends itself when it has taken
the processor time that it may; what it has written until then stays.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import sys
import time
import traceback
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.measure import resident
from benchmarks.regret.candidates import Candidate
from benchmarks.regret.families import Facts
from benchmarks.regret.kernels import loads
from benchmarks.regret.warm import commit_tiny
from benchmarks.regret.workloads import Workload
from tidelog import Database
from tidelog.run.contract.engine import Work
from tidelog.session.transaction import Transaction

IN_TABLES = 1_000
"""Rows from which on facts are given as Arrow tables, as whoever has many has them, not as tuples."""
COMPILING = 120.0
"""Seconds that a child may go on when it has begun to compile: its measurement is void, but the kernel is not."""
LOOK = 0.05
"""Seconds after which a child looks again how long it has taken."""
STRATA = 3
"""Strata of a commit whose work is told: those that took longest."""
HASHED = 4_000_000
"""Tuples of an output up to which its rows are hashed; of more only the number is compared."""

Given = tuple[dict[str, Any], dict[str, Any]]
"""What a commit inserts and deletes, by relation, as it is handed over."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A workload as its children take it, made before they are forked; each takes the empty database of a candidate."""

    source: str
    outputs: tuple[str, ...]
    steps: tuple[Given, ...]
    databases: dict[Candidate, Database] = field(default_factory=dict)

    def database(self, candidate: Candidate) -> Database:
        """Return the empty database of a candidate, planned once for all its children."""
        if candidate not in self.databases:
            self.databases[candidate] = Database(self.source, **candidate.options)
        return self.databases[candidate]


def prepare(workload: Workload) -> Prepared:
    """Return the workload with its facts as tables or tuples."""
    database = Database(workload.source())
    columns = {view.name: view.columns for view in database.relations()}
    outputs = tuple(view.name for view in database.relations() if view.role == "output")

    def given(facts: Facts) -> dict[str, Any]:
        return {name: _handed(rows, columns[name], text=workload.text) for name, rows in facts.items() if len(rows)}

    steps = tuple((given(step.inserted), given(step.deleted)) for step in workload.steps)
    return Prepared(workload.source(), outputs, steps)


def _handed(rows: npt.NDArray[np.int64], columns: Mapping[str, str], *, text: bool) -> Any:
    """Return rows as a table or as tuples; columns of nodes are text if nodes are."""
    values: dict[str, list[Any]] = {}
    for place, (name, type) in enumerate(columns.items()):
        numbers = rows[:, place].tolist()
        is_text = type == "string" or (text and type == "node")
        values[name] = [f"node/{number:x}" for number in numbers] if is_text else numbers
    if len(rows) < IN_TABLES:
        return list(zip(*values.values(), strict=True))
    return pa.table(values)


def run_child(candidate: Candidate, prepared: Prepared, allowance: float, pipe: int, *, hashed: bool) -> NoReturn:
    """Be the child: follow the history, write what it took to the pipe, and end the process."""
    with os.fdopen(pipe, "w") as told:
        try:
            commit_tiny(candidate)
            for line in _follow(prepared.database(candidate), prepared, allowance, hashed=hashed):
                told.write(json.dumps(line) + "\n")
                told.flush()
        except BaseException:  # noqa: BLE001  (whatever it is, it must not return into the parent's code)
            told.write(json.dumps({"failed": traceback.format_exc()[-2000:]}) + "\n")
    sys.stdout.flush()
    os._exit(0)


def _follow(database: Database, prepared: Prepared, allowance: float, *, hashed: bool) -> Iterator[dict[str, Any]]:
    base, loaded = resident(os.getpid()), loads()
    end = time.process_time() + allowance

    def stop(*_: object) -> None:
        if time.process_time() > end + (COMPILING if loads() > loaded else 0.0):
            os._exit(3)

    # Not a timer of processor time: while one runs, Linux tells processor time by ticks.
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LOOK, LOOK)
    for inserted, deleted in prepared.steps:
        start = time.process_time()
        with database.transaction() as transaction:
            for name, rows in deleted.items():
                transaction.delete(name, rows)
            for name, rows in inserted.items():
                transaction.insert(name, rows)
        changes = _change_sizes(transaction, prepared.outputs)
        cpu = time.process_time() - start
        yield {"cpu": cpu, "changes": changes, "loads": loads() - loaded, **_work(transaction.result.profile)}
        gc.freeze()  # or what was loaded is searched for garbage in the middle of a commit
    signal.setitimer(signal.ITIMER_REAL, 0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    hashes = {name: row_hash(database, name) for name in prepared.outputs} if hashed else {}
    yield {"end": True, "memory": max(0, peak - base), "hashes": hashes}


def _change_sizes(transaction: Transaction, outputs: Sequence[str]) -> dict[str, list[int]]:
    changes = transaction.result.changes
    return {name: list(changes[name].sizes) for name in outputs if name in changes}


def _work(profile: Sequence[Work]) -> dict[str, Any]:
    longest = sorted(profile, key=lambda work: work.seconds, reverse=True)[:STRATA]
    return {
        "derivations": sum(work.derivations for work in profile),
        "strata": len(profile),
        "work": [
            f"{', '.join(work.relations)[:60]}: {work.strategy} ({work.reason}), {work.rounds:,} rounds, "
            f"{work.derivations:,} derivations, {work.seconds * 1000:.1f} ms"
            for work in longest
        ],
    }


def row_hash(database: Database, relation: str) -> str:
    """Return a hash of the rows of a relation, whatever their order."""
    view = database.relation(relation)
    if view.count() > HASHED:
        return f"{view.count()} rows"
    table = view.to_arrow()
    mixed = np.zeros(table.num_rows, np.uint64)
    for column in table.columns:
        mixed = _mix(mixed * np.uint64(0x9E3779B97F4A7C15) + _numbers(column))
    return f"{view.count()} rows, {int(mixed.sum(dtype=np.uint64)):016x}"


def _numbers(column: Any) -> npt.NDArray[np.uint64]:
    if not pa.types.is_string(column.type):
        numbers: npt.NDArray[np.uint64] = column.to_numpy().astype(np.int64).astype(np.uint64)
        return numbers
    coded = column.combine_chunks().dictionary_encode()
    hashes = [zlib.crc32(text.encode()) + (len(text) << 32) for text in coded.dictionary.to_pylist()]
    return np.array(hashes, np.uint64)[coded.indices.to_numpy()] if hashes else np.zeros(len(column), np.uint64)


def _mix(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    mixed = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
