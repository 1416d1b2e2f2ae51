"""What happens once in a process: no candidate pays for it.

The worker loads modules and kernels, calls kernels, which takes a millisecond for each the first time, and lets every
candidate do something tiny, before any child is forked. A child does the same something tiny again before it is
measured: the first commit after a fork finds every page that it writes to shared with the parent, and copying pages
took 2 ms, more than many commits.
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
from tidelog.base.tuning.table import DEFAULT as DEFAULT_TUNING
from tidelog.session.engines import StrategyName

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

CALLING = """
input relation Edge(a: u32, b: u32)
output relation Path(a: u32, b: u32)
output relation Near(a: u32, b: u32)
output relation Same(a: u32, b: u32)
output relation Triple(a: u32, p: u32, b: u32)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
Near(a, b) :- Edge(a, b), a < 9.
Near(a, c) :- Near(a, b), Edge(b, c), a != c, not Edge(c, a).
Same(x, y) :- Edge(p, x), Edge(p, y).
Same(x, y) :- Edge(p, x), Same(p, q), Edge(q, y).
Triple(a, 1, b) :- Edge(a, b).
Triple(a, 2, c) :- Triple(a, 1, b), Triple(b, p, c), p > 0.
"""
"""Rules that need most kernels."""

_databases: dict[Candidate, Database] = {}


def warm() -> None:
    """Load all that children need, and make a tiny database of each candidate."""
    for package in pkgutil.walk_packages(tidelog.run.__path__, "tidelog.run."):
        if ".spark" not in package.name:
            importlib.import_module(package.name)
    load_kernels()
    for strategy in ("auto", "ranked", "dred", "recompute"):
        _call_kernels(strategy)
    for candidate in (DEFAULT, *alternatives()):
        _databases[candidate] = Database(TINY, **candidate.options)
        commit_tiny(candidate)
    gc.collect()
    gc.freeze()


def _call_kernels(strategy: StrategyName) -> None:
    """Let a database with other thresholds, which shares nothing but kernels, use them from one row on."""
    tuning = DEFAULT_TUNING.having({"compiling.rows": 0, "compiling.edges": 0})
    database = Database(CALLING, strategy=strategy, tuning=tuning)
    edges = [(n, (n * n + 1) % 97) for n in range(60)]
    for insert, some in ((True, edges), (False, edges[::7]), (True, edges[::7]), (False, edges[3:4]), (False, edges)):
        with database.transaction() as transaction:
            (transaction.insert if insert else transaction.delete)("Edge", some)


def commit_tiny(candidate: Candidate) -> None:
    """Let a candidate commit a few facts and take them out again."""
    database = _databases[candidate]
    for insert in (True, False):
        with database.transaction() as transaction:
            (transaction.insert if insert else transaction.delete)("Edge", [(1, 2), (2, 3), (3, 4)])
