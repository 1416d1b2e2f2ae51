"""What nodes reach, in every form of rows, and pairs written out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random
from threading import Event

import numpy as np
import pytest

from tidelog.base.errors import LimitError
from tidelog.base.process.meter import Meter
from tidelog.base.tuning.table import DEFAULT
from tidelog.base.tuning.thresholds import Number
from tidelog.run.closure import reach
from tidelog.run.closure.functions import Functions
from tidelog.run.closure.pairs import Pairs
from tidelog.run.closure.plain import NEVER
from tidelog.run.closure.reach import BitRows, Graph, ListRows, Reach, SearchedRows

Edges = list[tuple[int, int]]


def naive(edges: Edges, *, undirected: bool = False) -> set[tuple[int, int]]:
    """The closure by its definition."""
    found = set(edges) | ({(v, u) for u, v in edges} if undirected else set())
    while more := {(u, z) for u, v in found for w, z in found if v == w} - found:
        found |= more
    return found


def random_edges(seed: int) -> tuple[int, Edges]:
    random = Random(seed)
    nodes = random.randint(1, 12)
    return nodes, [(random.randrange(nodes), random.randrange(nodes)) for _ in range(random.randint(0, 2 * nodes))]


def graph_of(nodes: int, edges: Edges, functions: Functions) -> Graph:
    sources, targets = (np.array([edge[side] for edge in edges], np.int32) for side in (0, 1))
    return Graph.of(sources, targets, nodes, functions)


def functions_by(form: str, **thresholds: Number) -> Functions:
    """Return either form of the functions, with some thresholds of closures."""
    values: dict[str, Number] = {f"closures.{name}": value for name, value in thresholds.items()}
    return Functions(DEFAULT.having({"compiling.edges": 0 if form == "compiled" else 1 << 60, **values}))


def written(found: Reach, nodes: int, pool: ThreadPoolExecutor | None = None) -> list[tuple[int, int]]:
    left = np.arange(nodes, dtype=np.uint64).reshape(1, -1) << np.uint64(32)
    right = np.arange(nodes, dtype=np.uint64).reshape(1, -1)
    rows = Pairs(found.rows, found.row, found.counts).write(left, right, pool)[0].tolist()
    return [(row >> 32, row & 0xFFFFFFFF) for row in rows]


@pytest.fixture(params=["plain", "compiled"])
def form(request: pytest.FixtureRequest) -> str:
    """Either form of the functions."""
    return str(request.param)


@pytest.mark.parametrize("rows", [BitRows, SearchedRows])
def test_reach(rows: type, form: str) -> None:
    functions = functions_by(form, search_cost=1 << 40 if rows is BitRows else 0)
    for seed in range(60):
        nodes, edges = random_edges(seed)
        found = reach.reach(graph_of(nodes, edges, functions), np.arange(nodes, dtype=np.int32))
        assert isinstance(found.rows, rows) or not edges
        assert written(found, nodes) == sorted(naive(edges))
        held = Pairs(found.rows, found.row, found.counts)
        assert {(u, v) for u in range(nodes) for v in range(nodes) if held.has(u, v)} == naive(edges)


def test_reach_undirected(form: str) -> None:
    functions = functions_by(form)
    for seed in range(60):
        nodes, edges = random_edges(seed)
        found = reach.reach_undirected(graph_of(nodes, edges, functions), np.arange(nodes, dtype=np.int32))
        assert isinstance(found.rows, ListRows)
        assert written(found, nodes) == sorted(naive(edges, undirected=True))


def test_nodes_that_are_not_wanted(form: str) -> None:
    place = np.array([-1, 0, -1, 1], np.int32)
    found = reach.reach(graph_of(4, [(0, 1), (1, 2), (2, 3)], functions_by(form)), place)
    assert found.counts.tolist() == [2, 1, 1, 0]


@pytest.mark.parametrize("rows", [BitRows, SearchedRows])
def test_rows_of_sources_alone(rows: type, form: str) -> None:
    """Odd nodes are never reached: their rows are asked for, and those of even nodes only where they are needed."""
    functions = functions_by(form, search_cost=1 << 40 if rows is BitRows else 0)
    for seed in range(60):
        nodes, between = random_edges(seed)
        random = Random(seed)
        starts = [(2 * random.randrange(nodes) + 1, 2 * random.randrange(nodes)) for _ in range(random.randint(0, 4))]
        edges = [*((2 * u, 2 * v) for u, v in between), *starts]
        place = np.full(2 * nodes, NEVER, np.int32)
        place[::2] = np.arange(nodes)
        found = reach.reach(graph_of(2 * nodes, edges, functions), place)
        assert isinstance(found.rows, rows) or not starts
        pairs = Pairs(found.rows, found.row[1::2], found.counts[1::2])
        expected = {(u // 2, v // 2) for u, v in naive(edges) if u % 2}
        assert {(u, v) for u in range(nodes) for v in range(nodes) if pairs.has(u, v)} == expected
        assert pairs.size == len(expected)
        if rows is SearchedRows:
            assert set(found.row[found.counts > 0].tolist()) <= set(found.row[1::2].tolist())


def test_parts_are_written_by_several_threads(form: str) -> None:
    functions = functions_by(form, written=3, share_from=0)
    with ThreadPoolExecutor(2) as pool:
        for seed in range(30):
            nodes, edges = random_edges(seed)
            found = reach.reach(graph_of(nodes, edges, functions), np.arange(nodes, dtype=np.int32), pool)
            assert written(found, nodes, pool) == sorted(naive(edges))


def test_writing_can_be_stopped(form: str) -> None:
    found = reach.reach(
        graph_of(3, [(0, 1), (1, 2), (2, 0)], functions_by(form, written=3)), np.arange(3, dtype=np.int32)
    )
    words = np.arange(3, dtype=np.uint64).reshape(1, -1)
    with Meter(seconds=0.0), pytest.raises(LimitError):
        Pairs(found.rows, found.row, found.counts).write(words, words)


def test_writing_does_not_wait_for_helpers_that_wait(form: str) -> None:
    """A helper may wait for the one who writes: for the order of a closure, which is made from what is written."""
    functions = functions_by(form, written=3, share_from=0)
    free = Event()
    with ThreadPoolExecutor(1) as pool, ThreadPoolExecutor(1) as writer:
        busy = pool.submit(free.wait)
        try:
            nodes, edges = random_edges(3)
            graph = graph_of(nodes, edges, functions)
            found = writer.submit(reach.reach, graph, np.arange(nodes, dtype=np.int32), pool).result(timeout=30)
            rows = writer.submit(written, found, nodes, pool).result(timeout=30)
        finally:
            free.set()
        assert busy.result()
        assert rows == sorted(naive(edges))
