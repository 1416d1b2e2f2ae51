"""One workload under updates, in a process of its own; says as JSON what each update cost.

    python -m benchmarks.update batch|tracked|updates STRATEGY PROGRAM FOLDER RELATION RULE SECONDS OUTPUT...

`batch` and `tracked` only materialise, for their peak memory. Facts are taken out and put back at least three times,
since what they derive differs by orders of magnitude; SECONDS bound how often more is done. An empty RULE leaves rules
alone. First all is done by recomputing, which is what an update is held against: a database with that strategy commits
the same change, which it evaluates from scratch without keeping anything, and tells as exactly what has changed. Where
that takes long it is done for one size only. Before anything is timed every kind is done once on a database that is
dropped then, unless that takes long: kernels are compiled or loaded when they are first used, which is no cost of an
update.
"""

from __future__ import annotations

import gc
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from tidelog import Database
from tidelog.base.plain.plain import Plain
from tidelog.run.contract.engine import Row, Work
from tidelog.session.database import plan_of
from tidelog.session.engines import StrategyName
from tidelog.session.formats.files import read_facts
from tidelog.session.transaction import Transaction

SIZES = (1, 10, 100, 1000)
REPEATS = {1: 15, 10: 9, 100: 5}
"""How often an update of a size is done, each time with other facts, if there is time; larger ones `FEWEST` times."""
FEWEST = 3
"""So many samples there are of each size, even if that takes longer than it should: one alone says little."""

AGAIN = 5.0
"""Seconds below which the evaluation from scratch is done twice."""
RECOMPUTED = 2
"""So often an update of a size is done by recomputing."""
LARGEST = 1000
"""The size that is, where it takes long."""

Measured = tuple[float, float, Transaction]


class Session:
    """A database whose transactions are timed, until there is no more time."""

    def __init__(self, program: Path, folder: Path, strategy: StrategyName, **options: Any) -> None:
        self.database = Database(program, strategy=strategy, **options)
        plan = plan_of(self.database)
        facts = read_facts(folder, plan.relations, Plain(plan.types)).rows

        def load(transaction: Transaction) -> None:
            for relation, rows in facts.items():
                transaction.insert(relation, rows)

        self.initial, self.initial_cpu, _ = self.timed(load)

    def timed(self, act: Callable[[Transaction], None]) -> Measured:
        """Return wall time and processor time of a transaction, and the transaction."""
        wall, cpu = time.perf_counter(), time.process_time()
        with self.database.transaction() as transaction:
            act(transaction)
        return time.perf_counter() - wall, time.process_time() - cpu, transaction


def line(what: str, facts: int, measured: list[Measured]) -> dict[str, Any]:
    """Return the median of equal updates."""
    profile = [work for *_, transaction in measured for work in transaction.result.profile]
    changes = [sum(map(len, _changes(transaction))) for *_, transaction in measured]
    return {
        "what": what,
        "facts": facts,
        "time": statistics.median(wall for wall, _, _ in measured),
        "cpu": statistics.median(cpu for _, cpu, _ in measured),
        "worst": max(wall for wall, _, _ in measured),
        "worst_cpu": max(cpu for _, cpu, _ in measured),
        "derivations": sum(work.derivations for work in profile) // len(measured),
        "changes": int(statistics.median(changes)),
        "strategy": _strategy(profile),
    }


def _changes(transaction: Transaction) -> Iterator[Any]:
    changes = transaction.result.changes
    return (part for name in changes for part in (changes[name].inserted, changes[name].deleted))


def _strategy(profile: list[Work]) -> str:
    names = [work.strategy for work in profile]
    return ", ".join(f"{name} {names.count(name)}" for name in dict.fromkeys(names)) or "none"


def facts_in_and_out(
    session: Session, relation: str, deadline: float, sizes: Sequence[int] = (), most: int = 15, *, fewest: int = 1
) -> Iterator[dict[str, Any]]:
    """Take random facts out and put them back, in growing numbers; by default up to 1,000, and 1% of them.

    Each number of facts has its share of the time that is left until the deadline, or what the fewest samples take.
    """
    rows: list[Row] = list(session.database.relation(relation).rows())
    gc.collect()
    gc.freeze()  # or all these rows are searched for garbage in the middle of an update
    rng = random.Random(5)
    default = (*(size for size in SIZES if size < len(rows) // 2), max(len(rows) // 100, 1))
    all_sizes = list(dict.fromkeys(min(size, len(rows)) for size in sizes or default))
    for place, size in enumerate(all_sizes):
        now = time.perf_counter()
        end = now + (deadline - now) / (len(all_sizes) - place)
        out: list[Measured] = []
        back: list[Measured] = []
        for _ in range(min(most, REPEATS.get(size, FEWEST))):
            some = rng.sample(rows, size)
            out.append(session.timed(lambda tx, some=some: tx.delete(relation, some)))  # type: ignore[misc]
            back.append(session.timed(lambda tx, some=some: tx.insert(relation, some)))  # type: ignore[misc]
            if time.perf_counter() > end and len(out) >= fewest:
                break
        yield line("delete", size, out)
        yield line("insert", size, back)


def rule_in_and_out(session: Session, rule: str, seconds: float, most: int = 3) -> Iterator[dict[str, Any]]:
    """Add a rule and remove it again, three times if that takes no longer."""
    end = time.perf_counter() + seconds
    added: list[Measured] = []
    removed: list[Measured] = []
    for _ in range(most):
        added.append(session.timed(lambda tx: tx.add_rules(rule)))
        removed.append(session.timed(lambda tx: tx.remove_rules(rule)))
        if time.perf_counter() > end:
            break
    yield line("add a rule", 1, added)
    yield line("remove it", 1, removed)


def every_kind(session: Session, relation: str, rule: str, seconds: float) -> Iterator[dict[str, Any]]:
    """Do every kind of update, once if there is no time at all."""
    fewest = FEWEST if seconds else 1
    yield from facts_in_and_out(session, relation, time.perf_counter() + seconds, fewest=fewest)
    if rule:
        yield from rule_in_and_out(session, rule, seconds / 5)


def recomputing(session: Session, relation: str, rule: str, seconds: float) -> list[dict[str, Any]]:
    """Do updates by a database that recomputes: every kind, or one of them where that takes long."""
    deadline = time.perf_counter() + seconds
    if session.initial >= AGAIN:
        return list(facts_in_and_out(session, relation, deadline, [LARGEST], 1))
    found = [*facts_in_and_out(session, relation, deadline, most=RECOMPUTED)]
    return [*found, *rule_in_and_out(session, rule, seconds / 5, RECOMPUTED)] if rule else found


def beside(line: dict[str, Any], recomputed: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return a line with what the same takes by recomputing, or the median of what was done by that."""
    same = [other for other in recomputed if (other["what"], other["facts"]) == (line["what"], line["facts"])]
    found = same or recomputed
    wall, cpu = (statistics.median(other[measure] for other in found) for measure in ("time", "cpu"))
    return {**line, "recomputed": wall, "recomputed_cpu": cpu}


def main() -> None:
    kind, named, program, folder, relation, rule, seconds, *outputs = sys.argv[1:]
    strategy = cast(StrategyName, named)
    told: dict[str, Any] = {}
    recomputed: list[dict[str, Any]] = []
    if kind != "tracked":
        session = Session(Path(program), Path(folder), "recompute")
        first = session.initial, session.initial_cpu
        if kind == "updates" and session.initial < AGAIN:
            # Once more, with kernels loaded.
            session = Session(Path(program), Path(folder), "recompute")
            for _ in every_kind(Session(Path(program), Path(folder), strategy), relation, rule, 0.0):
                pass
        recomputed = recomputing(session, relation, rule, float(seconds) / 3) if kind == "updates" else []
        told["batch"], told["batch_cpu"] = min(first[0], session.initial), min(first[1], session.initial_cpu)
    if kind == "updates":
        del session  # what it holds is not to stand beside what the next one does
        gc.unfreeze()
        gc.collect()
    if kind != "batch":
        session = Session(Path(program), Path(folder), strategy)
        told["tracked"], told["tracked_cpu"] = session.initial, session.initial_cpu
    if kind == "updates":
        told["lines"] = []
        for found in every_kind(session, relation, rule, float(seconds)):
            told["lines"].append(beside(found, recomputed))
            # All so far, should the process be stopped.
            print(json.dumps(told), flush=True)
    told["sizes"] = {name: session.database.relation(name).count() for name in outputs}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
