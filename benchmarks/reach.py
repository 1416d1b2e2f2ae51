"""Whom one node reaches: by demand, with the source written into the program, all kept, in Soufflé.

The closure of a random graph of 10,000 nodes and that of SF (a road network, 80 million pairs, left out where its file
is not there) are asked for one node, in three forms of the rules: left-linear, right-linear and nonlinear. Goal: by
demand at most `MOST` times the processor time of a program that has the source written into it. Soufflé runs
interpreted, without and with magic sets, where it is installed. Then a thousand views: a commit that touches one of
them, and one alone.
"""

from __future__ import annotations

import csv
import gzip
import resource
import shutil
import subprocess
import time
from collections.abc import Callable
from statistics import median

import numpy as np
import pyarrow as pa

from benchmarks.batch import Settings
from benchmarks.tables import seconds, table
from tidelog import Database

LINKS = "input relation Link(a: u32, b: u32)\n"
WRITTEN = (
    LINKS
    + "output relation From(a: u32, b: u32)\nFrom({0}, b) :- Link({0}, b).\nFrom(a, c) :- From(a, b), Link(b, c).\n"
)
REACH = "relation Reach(a: u32, b: u32)\nReach(a, b) :- Link(a, b).\n"
FORMS = {
    "left-linear": "Reach(a, c) :- Reach(a, b), Link(b, c).\n",
    "right-linear": "Reach(a, c) :- Link(a, b), Reach(b, c).\n",
    "nonlinear": "Reach(a, c) :- Reach(a, b), Reach(b, c).\n",
}
SOUFFLE = """
.decl Link(a: unsigned, b: unsigned)
.input Link(delimiter=",", filename="Link.csv")
.decl Reach(a: unsigned, b: unsigned)
Reach(a, b) :- Link(a, b).
Reach(a, c) :- Reach(a, b), Link(b, c).
.decl Answer(b: unsigned)
Answer(b) :- Reach({0}, b).
.printsize Answer
"""
REPEATS = 5
MOST = 2.0
"""By demand may take this many times what a program with the source in it takes, and so may a thousand views."""
SLACK = 0.005
"""Seconds: what takes less than this is not compared."""
VIEWS = 1000


def run_reach(settings: Settings, *, quick: bool) -> list[str]:
    """Measure reach from one node and a thousand views, print tables, and return what is wrong."""
    random = np.random.default_rng(3).integers(0, 1000 if quick else 10_000, (3000 if quick else 30_000, 2), np.uint32)
    graphs = {"random": pa.table([random[:, 0], random[:, 1]], names=["a", "b"])}
    roads = settings.data / "graphs/SF.cedge.csv.gz"
    if roads.exists() and not quick:
        with gzip.open(roads, "rt") as file:
            pairs = np.array([(int(a), int(b)) for a, b, *_ in csv.reader(file)], np.uint32)
        graphs["SF"] = pa.table([pairs[:, 0], pairs[:, 1]], names=["a", "b"])
    wrong: list[str] = []
    lines: list[tuple[str, str, str, str]] = []
    for name, links in graphs.items():
        source = links["a"][0].as_py()
        Database(WRITTEN.format(source), facts={"Link": links})  # compiles what is compiled once
        least, rows = _least(lambda links=links, source=source: _written(links, source))  # type: ignore[misc]
        lines.append((name, "source written into the program", f"{rows}", seconds(least)))
        for form, rule in FORMS.items():
            took, found = _least(lambda links=links, rule=rule, source=source: _asked(links, rule, source))  # type: ignore[misc]
            lines.append((name, f"{form}, by demand", f"{found}", seconds(took)))
            if found != rows or took > MOST * max(least, SLACK):
                wrong.append(f"reach in {name}, {form}: {found} rows in {took:.4f} s, not {rows} in {least:.4f}")
        if name == "random":
            took, found = _timed(lambda links=links, source=source: _kept(links, source))  # type: ignore[misc]
            lines.append((name, "all rows kept", f"{found}", seconds(took)))
        lines += [(name, *line) for line in _souffle(links, source, settings)]
    print("\n== reach from one node, processor time with loading")
    print(table(("graph", "how", "rows", "time"), lines), flush=True)
    views = 20 if quick else VIEWS
    alone, many = _commit(1), _commit(views)
    print(f"a commit that touches one view: {seconds(alone)} with that alone, {seconds(many)} with {views}", flush=True)
    if many > MOST * max(alone, SLACK):
        wrong.append(f"a commit with {views} views takes {many:.4f} s, with one {alone:.4f}")
    return wrong


def _timed(run: Callable[[], int]) -> tuple[float, int]:
    started = time.process_time()
    found = run()
    return time.process_time() - started, found


def _least(run: Callable[[], int]) -> tuple[float, int]:
    return min(_timed(run) for _ in range(REPEATS))


def _written(links: pa.Table, source: int) -> int:
    return len(Database(WRITTEN.format(source), facts={"Link": links}).relation("From"))


def _asked(links: pa.Table, rule: str, source: int) -> int:
    db = Database(LINKS + REACH + rule, facts={"Link": links}, demand=True)
    return len(db.query("Reach($from, x)", {"from": source}))


def _kept(links: pa.Table, source: int) -> int:
    db = Database(LINKS + REACH + FORMS["left-linear"], facts={"Link": links}, strategy="recompute")
    return len(db.query("Reach($from, x)", {"from": source}))


def _souffle(links: pa.Table, source: int, settings: Settings) -> list[tuple[str, str, str]]:
    if "souffle" not in settings.peers or shutil.which("souffle") is None:
        return []
    folder = settings.work / "reach"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "Link.csv").open("w", newline="") as file:
        csv.writer(file).writerows(zip(*(column.to_pylist() for column in links.columns), strict=True))
    program = folder / "reach.dl"
    program.write_text(SOUFFLE.format(source))
    lines: list[tuple[str, str, str]] = []
    for how, more in (("souffle", []), ("souffle, magic sets", ["--magic-transform=*"])):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = ["souffle", "-F", str(folder), "-D", str(folder), *more, str(program)]
        try:
            told = subprocess.run(command, capture_output=True, text=True, timeout=settings.bounds.seconds, check=True)
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
            lines.append((how, "-", "stopped"))
            continue
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        lines.append((how, told.stdout.split()[-1], seconds(took)))
    return lines


def _commit(views: int) -> float:
    """Return how long a commit takes that touches one of so many views, each of a chain of its own."""
    links = [(chain * 32 + place, chain * 32 + place + 1) for chain in range(VIEWS) for place in range(20)]
    db = Database(LINKS + REACH + FORMS["left-linear"], facts={"Link": links}, demand=True)
    heard: list[object] = []
    for chain in range(views):
        db.watch("Reach($from, x)", {"from": chain * 32}, heard.append)
    times = []
    for number in range(60):
        started = time.process_time()
        with db.transaction() as tx:
            (tx.delete if number % 2 else tx.insert)("Link", [(20, 25)])
        times.append(time.process_time() - started)
    assert len(heard) == 60, "the view that is touched hears of each commit"
    return median(times[10:])
