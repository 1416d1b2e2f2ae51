"""What reasoning over universities takes, in processor time: from a file to the answers of all questions, and changes.

The rules are those of the ontology (`tidelog rdf rules`). Besides evaluating them it is measured what a commit of some
triples costs, taken away and given again, and a rule that comes or goes. Where LUBM itself is among the data, it is
taken from file to answers, too; goal: ten universities within `MOST` seconds, once everything is loaded and compiled.
"""

from __future__ import annotations

import gzip
import json
import shutil
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from benchmarks.batch import Settings
from benchmarks.tables import seconds, table
from benchmarks.university.generate import statements
from benchmarks.university.goals import goals
from benchmarks.university.lubm import lubm_goals
from benchmarks.university.race import run_race
from tidelog import Database, read_rdf
from tidelog.session.exchange import ontology_program

STRATEGIES = ("auto", "dbsp", "ranked", "modular", "recompute")
SIZES = (1, 10, 100, 1000)
MOST = 3.0
"""Seconds from the file of LUBM(10) to the answers of all queries."""
REPEATS = 3
HEADING = ("strategy", "reading", "rules and triples", "14 goals", *(f"{size} triples" for size in SIZES), "a rule")


def program(*, relations: bool = False) -> str:
    """Return the rules of the ontology."""
    return ontology_program(Path(__file__).with_name("ontology.ttl"), relations=relations)


def run_university(universities: int | None, settings: Settings, *, quick: bool) -> list[str]:
    """Measure, print a table, and return what is wrong: strategies that answer differently."""
    number = universities or (1 if quick else 10)
    settings.work.mkdir(parents=True, exist_ok=True)
    file = settings.work / f"university{number}.nt"
    with file.open("w") as lines:
        lines.writelines(islice(statements(number), 5000 if quick else None))
    results = [_measured(file, strategy) for strategy in STRATEGIES]
    print(f"{results[0]['given']:,} triples given, {results[0]['held']:,} hold; processor time")
    print(table(HEADING, [[told["strategy"], *(seconds(told[name]) for name in HEADING[1:])] for told in results]))
    if settings.json is not None:
        settings.json.write_text(json.dumps(results, indent=1))
    first = results[0]["answers"]
    wrong = [f"{told['strategy']} answers otherwise than auto" for told in results if told["answers"] != first]
    lubm = settings.data / "lubm"
    if lubm.exists():
        wrong += _lubm(lubm, 1 if quick else 10, settings) + ([] if quick else run_race(lubm, settings))
    return wrong


def _lubm(folder: Path, number: int, settings: Settings) -> list[str]:
    """Measure LUBM itself, from a file to answers, several times; the first loads and compiles."""
    file = settings.work / f"lubm{number}.nt"
    with gzip.open(folder / f"lubm{number}.nt.gz") as packed, file.open("wb") as plain:
        shutil.copyfileobj(packed, plain)
    text, lines, totals = ontology_program(folder / "univ-bench.owl"), [], []
    for run in range(REPEATS):
        reading, rows = _timed(lambda: read_rdf(file))
        closing, db = _timed(lambda rows=rows: _loaded(text, rows, "auto"))  # type: ignore[misc]
        asking, found = _timed(lambda db=db: sum(len(db.query(goal)) for goal in lubm_goals().values()))  # type: ignore[misc]
        totals.append(reading + closing + asking)
        lines.append((f"run {run + 1}", *map(seconds, (reading, closing, asking, totals[-1])), f"{found:,}"))
    print(f"\n== LUBM({number}): {len(rows):,} triples, {db.relation('Triple').count():,} hold; processor time")
    print(table(("", "reading", "rules and triples", "14 goals", "all", "answers"), lines), flush=True)
    return [f"LUBM({number}) took {min(totals):.2f} s"] if min(totals) > MOST else []


def _measured(file: Path, strategy: Any) -> dict[str, Any]:
    text, told = program(), {"strategy": strategy}
    told["reading"], rows = _timed(lambda: read_rdf(file))
    told["rules and triples"], db = _timed(lambda: _loaded(text, rows, strategy))
    told["14 goals"], answers = _timed(lambda: {n: len(db.query(goal)) for n, goal in goals("schema").items()})
    told |= {"answers": answers, "given": len(rows), "held": db.relation("Triple").count()}
    some = Random(1).sample(list(rows), min(len(rows), 4 * SIZES[-1]))
    for size in SIZES:
        told[f"{size} triples"] = _median(
            lambda batch: _changed(db, batch), [some[i * size :][:size] for i in range(4)]
        )
    rules = [rule.text for rule in db.rules()]
    told["a rule"] = _median(lambda rule: _without(db, rule), Random(2).sample(rules, 10))
    return told


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def _median(work: Callable[[Any], object], many: Sequence[Any]) -> float:
    """Return what one of the two commits of a change takes."""
    return median(_timed(lambda one=one: work(one))[0] / 2 for one in many)  # type: ignore[misc]


def _loaded(text: str, rows: Any, strategy: Any) -> Database:
    db = Database(text, strategy=strategy)
    with db.transaction() as tx:
        tx.insert("Triple", rows)
    return db


def _changed(db: Database, batch: Sequence[Any]) -> None:
    with db.transaction() as tx:
        tx.delete("Triple", batch)
    with db.transaction() as tx:
        tx.insert("Triple", batch)


def _without(db: Database, rule: str) -> None:
    with db.transaction() as tx:
        tx.remove_rules(rule)
    with db.transaction() as tx:
        tx.add_rules(rule)
