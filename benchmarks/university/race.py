"""The general rules of OWL 2 RL on the triples of LUBM(1) and its ontology, beside other reasoners for them.

Each runs in a process of its own, from the files to the number of triples that hold. `owlrl` (Python, over rdflib) and
`reasonable` (Rust) take part where they can be imported. What counts as a triple differs a little: with literals as
subjects or without, with what holds of every name or without.
"""

from __future__ import annotations

import gzip
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from benchmarks.batch import Settings
from benchmarks.measure import CHECKOUT, measure
from benchmarks.tables import megabytes, seconds, table
from tidelog import read_rdf, show_term

TIDELOG = """
import sys, tidelog
modules = "import rdf\\nimport rdf::graph\\nimport {rules}"
db = tidelog.Database(modules)
with db.transaction() as tx:
    for file in sys.argv[1:]:
        tx.insert("rdf::graph::Triple", tidelog.read_rdf(file))
print(db["rdf::graph::Triple"].count())
"""
RACERS = {
    "tidelog": ("tidelog", TIDELOG.format(rules="rdf::owl2rl")),
    "tidelog, without datatypes": ("tidelog", TIDELOG.format(rules="rdf::owl2rl::rules")),
    "owlrl": (
        "owlrl",
        """
import sys, owlrl, rdflib
graph = rdflib.Graph()
for file in sys.argv[1:]:
    graph.parse(file, format="nt")
owlrl.DeductiveClosure(owlrl.OWLRL_Semantics).expand(graph)
print(len(graph))
""",
    ),
    "reasonable": (
        "reasonable",
        """
import os, sys, reasonable
reasoner = reasonable.PyReasoner()
for file in sys.argv[1:]:
    turtle = file.removesuffix(".nt") + ".ttl"  # N-Triples are Turtle, the only syntax that it reads by itself
    if not os.path.exists(turtle):
        os.symlink(file, turtle)
    reasoner.load_file(turtle)
print(len(reasoner.reason()))
""",
    ),
}
"""The package of each, and what it runs on the names of files."""


def run_race(folder: Path, settings: Settings) -> list[str]:
    """Let each reasoner close LUBM(1), print a table, and return what is wrong."""
    settings.work.mkdir(parents=True, exist_ok=True)
    ontology = settings.work / "univ-bench.nt"
    statements = read_rdf(folder / "univ-bench.owl")
    ontology.write_text("".join(f"{' '.join(map(show_term, row))} .\n" for row in statements))
    data = settings.work / "lubm1.nt"
    with gzip.open(folder / "lubm1.nt.gz") as packed, data.open("wb") as plain:
        shutil.copyfileobj(packed, plain)
    lines: list[tuple[str, ...]] = []
    wrong: list[str] = []
    for name, (package, script) in RACERS.items():
        if package != "tidelog" and (package not in settings.peers or find_spec(package) is None):
            continue
        command = [sys.executable, "-c", script, str(data), str(ontology)]
        run = measure(command, settings.bounds, CHECKOUT if package == "tidelog" else None)
        found = run.output.strip() if run.status == "ok" else run.status
        lines.append((name, found, seconds(run.cpu), megabytes(run.memory)))
        if run.status != "ok" and package == "tidelog":
            wrong.append(f"{name}: {run.status}\n{run.errors[-1000:]}")
    print("\n== LUBM(1) by the general rules of OWL 2 RL, from files, processor time of a process")
    print(table(("reasoner", "triples", "time", "memory"), lines), flush=True)
    return wrong
