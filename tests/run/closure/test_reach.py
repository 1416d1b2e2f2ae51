"""What nodes reach, in every form of rows, and pairs written out."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random

import numpy as np
import pytest

from tidelog.run.closure import functions, pairs, reach
from tidelog.run.closure.pairs import Pairs
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


def graph_of(nodes: int, edges: Edges) -> Graph:
    sources, targets = (np.array([edge[side] for edge in edges], np.int32) for side in (0, 1))
    return Graph.of(sources, targets, nodes)


def written(found: Reach, nodes: int, pool: ThreadPoolExecutor | None = None) -> list[tuple[int, int]]:
    left = np.arange(nodes, dtype=np.uint64).reshape(1, -1) << np.uint64(32)
    right = np.arange(nodes, dtype=np.uint64).reshape(1, -1)
    rows = Pairs(found.rows, found.row, found.counts).write(left, right, pool)[0].tolist()
    return [(row >> 32, row & 0xFFFFFFFF) for row in rows]


@pytest.fixture(params=["plain", "compiled"], autouse=True)
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use either form of the functions."""
    monkeypatch.setattr(functions, "COMPILE_AT", 0 if request.param == "compiled" else 1 << 60)
    monkeypatch.setattr(functions, "_tables", functions._tables[:1])


@pytest.mark.parametrize("rows", [BitRows, SearchedRows])
def test_reach(rows: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reach, "SEARCH_COST", 1 << 40 if rows is BitRows else 0)
    for seed in range(60):
        nodes, edges = random_edges(seed)
        found = reach.reach(graph_of(nodes, edges), np.arange(nodes, dtype=np.int32))
        assert isinstance(found.rows, rows) or not edges
        assert written(found, nodes) == sorted(naive(edges))
        held = Pairs(found.rows, found.row, found.counts)
        assert {(u, v) for u in range(nodes) for v in range(nodes) if held.has(u, v)} == naive(edges)


def test_reach_undirected() -> None:
    for seed in range(60):
        nodes, edges = random_edges(seed)
        found = reach.reach_undirected(graph_of(nodes, edges), np.arange(nodes, dtype=np.int32))
        assert isinstance(found.rows, ListRows)
        assert written(found, nodes) == sorted(naive(edges, undirected=True))


def test_nodes_that_are_not_wanted() -> None:
    place = np.array([-1, 0, -1, 1], np.int32)
    found = reach.reach(graph_of(4, [(0, 1), (1, 2), (2, 3)]), place)
    assert found.counts.tolist() == [2, 1, 1, 0]


def test_parts_are_written_by_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "PART", 3)
    monkeypatch.setattr(reach, "SHARE_FROM", 0)
    with ThreadPoolExecutor(2) as pool:
        for seed in range(30):
            nodes, edges = random_edges(seed)
            found = reach.reach(graph_of(nodes, edges), np.arange(nodes, dtype=np.int32), pool)
            assert written(found, nodes, pool) == sorted(naive(edges))


def test_writing_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "PART", 3)

    def stop() -> None:
        raise KeyboardInterrupt

    found = reach.reach(graph_of(3, [(0, 1), (1, 2), (2, 0)]), np.arange(3, dtype=np.int32))
    words = np.arange(3, dtype=np.uint64).reshape(1, -1)
    with pytest.raises(KeyboardInterrupt):
        Pairs(found.rows, found.row, found.counts).write(words, words, look=stop)
