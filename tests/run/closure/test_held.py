"""Rows kept true while edges come and go: the rows of a graph made anew, and exactly the difference."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest

from tests.run.closure.test_reach import Edges, functions_by, graph_of, naive
from tidelog.run.closure import reach
from tidelog.run.closure.functions import Functions
from tidelog.run.closure.held import Held
from tidelog.run.closure.pairs import Pairs

Found = set[tuple[int, int]]


@pytest.fixture(params=["plain", "compiled"])
def form(request: pytest.FixtureRequest) -> str:
    """Either form of the functions."""
    return str(request.param)


def pairs_of(pairs: Pairs, nodes: int) -> Found:
    left = np.arange(nodes, dtype=np.uint64).reshape(1, -1) << np.uint64(32)
    right = np.arange(nodes, dtype=np.uint64).reshape(1, -1)
    rows = pairs.write(left, right)[0].tolist()
    assert len(rows) == len(set(rows)) == pairs.size
    return {(row >> 32, row & 0xFFFFFFFF) for row in rows}


def as_edges(edges: Edges) -> np.ndarray:
    return np.array(edges, np.int32).reshape(-1, 2).T


@pytest.mark.parametrize("steps", [0, 1_000])
@pytest.mark.parametrize("rows", ["bits", "searched", "both ways"])
def test_changes(rows: str, steps: int, form: str) -> None:
    functions = functions_by(form, search_cost=1 << 40 if rows == "bits" else 0, walk_steps=steps, compared=5)
    for seed in range(10):
        play(Random(seed), functions, both_ways=rows == "both ways")


def play(random: Random, functions: Functions, *, both_ways: bool) -> None:
    nodes = random.randint(1, 9)
    present: Counter[tuple[int, int]] = Counter()

    def some(count: int) -> Edges:
        return [(random.randrange(nodes), random.randrange(nodes)) for _ in range(count)]

    def directed(edges: Edges) -> Edges:
        return [way for u, v in edges for way in ((u, v), (v, u))] if both_ways else edges

    first = some(random.randint(0, 2 * nodes))
    present.update(first)
    place = np.arange(nodes, dtype=np.int32)
    graph = graph_of(nodes, directed(first), functions)
    found = (reach.reach_both_ways if both_ways else reach.reach)(graph, place)
    state = Held.of(graph, place, found, undirected=both_ways)
    before = naive(first, undirected=both_ways)
    for _ in range(8):
        if random.random() < 0.2:
            nodes += random.choice((1, 70))
        lost = random.sample(sorted(present.elements()), min(present.total(), random.choice((0, 1, 1, 2, 4))))
        gained = some(random.choice((0, 1, 1, 2, 4)))
        present = present - Counter(lost) + Counter(gained)
        place = np.arange(nodes, dtype=np.int32)
        earlier = state
        state, difference = state.change(as_edges(directed(lost)), as_edges(directed(gained)), place)
        after = naive(list(present), undirected=both_ways)
        assert pairs_of(Pairs(state.reach.rows, state.reach.row, state.reach.counts), nodes) == after
        deleted, inserted = difference.of(np.ones(nodes, bool), place)
        assert (pairs_of(deleted, nodes), pairs_of(inserted, nodes)) == (before - after, after - before)
        size = earlier.graph.nodes
        assert pairs_of(Pairs(earlier.reach.rows, earlier.reach.row, earlier.reach.counts), size) == before
        before = after


def test_an_edge_that_can_be_walked_round_changes_nothing(form: str) -> None:
    for rows in (0, 1 << 40):
        edges = [(0, 1), (1, 3), (0, 2), (2, 3), (0, 3)]
        graph = graph_of(4, edges, functions_by(form, search_cost=rows))
        place = np.arange(4, dtype=np.int32)
        state = Held.of(graph, place, reach.reach(graph, place))
        state, difference = state.change(as_edges([(0, 3)]), as_edges([(0, 3), (0, 3)]), place)
        assert not len(difference.nodes)
        state, difference = state.change(as_edges([(0, 3), (1, 3)]), as_edges([]), place)
        assert difference.nodes.tolist() == [0, 1]  # 0 reaches 1, and might have needed it


def test_rows_named_after_affected_nodes(form: str) -> None:
    """Node 0 names the row that it shares with 1; when it reaches nothing any more, 1 still reaches itself."""
    apart = [(2 * n, 2 * n + 1) for n in range(1, 201)]
    nodes = 402
    functions = functions_by(form, search_cost=0)
    graph, place = graph_of(nodes, [(1, 1), (0, 1), *apart], functions), np.arange(nodes, dtype=np.int32)
    state = Held.of(graph, place, reach.reach(graph, place))
    state, difference = state.change(as_edges([(0, 1)]), as_edges([]), place)
    assert pairs_of(Pairs(state.reach.rows, state.reach.row, state.reach.counts), nodes) == {(1, 1), *apart}
    assert pairs_of(difference.of(np.ones(nodes, bool), place)[0], nodes) == {(0, 1)}
