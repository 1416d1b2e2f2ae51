"""What happens once in a process: no candidate pays for it.

The worker loads modules and kernels, and lets every candidate do something tiny, before any child is forked. A child
does the same something again before it is measured: the first commit after a fork finds every page that it writes to
shared with the parent, and copying pages took 2 ms, more than many commits.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil

import tidelog.run
import tidelog.session.frames.arrow
from benchmarks.regret.candidates import DEFAULT, Candidate, alternatives
from benchmarks.regret.kernels import load_kernels
from tidelog import Database

TINY = """
input relation Edge(a: u32, b: u32)
output relation Path(a: u32, b: u32)
output relation Alone(a: u32)
output relation Size(a: u32, n: usize)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
Alone(a) :- Edge(_, a), not Path(a, _).
Size(a, n) :- Path(a, b), var n = b.group_by(a).count().
"""

_databases: dict[Candidate, Database] = {}


def warm() -> None:
    """Load all that children need, and make a tiny database of each candidate."""
    for package in pkgutil.walk_packages(tidelog.run.__path__, "tidelog.run."):
        if ".spark" not in package.name:
            importlib.import_module(package.name)
    load_kernels()
    for candidate in (DEFAULT, *alternatives()):
        _databases[candidate] = Database(TINY, **candidate.options)
        commit_tiny(candidate)
    gc.collect()
    gc.freeze()


def commit_tiny(candidate: Candidate) -> None:
    """Let a candidate commit a few facts and take them out again."""
    database = _databases[candidate]
    for insert in (True, False):
        with database.transaction() as transaction:
            (transaction.insert if insert else transaction.delete)("Edge", [(1, 2), (2, 3), (3, 4)])
