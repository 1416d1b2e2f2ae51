"""Each compiled function on graphs does what its plain twin does."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from tidelog.run.closure import kernels, plain
from tidelog.run.closure.plain import Nodes, Places, Words

SEEDS = 40
ROOMS = (1, 2, 5, 1_024)
"""Room that kernels begin with."""
Linked = tuple[int, Places, Nodes, Nodes]


def graphs() -> Iterator[tuple[Random, Linked]]:
    """Random graphs as a number of nodes, offsets, targets, and the positions of nodes, some of which have none."""
    for seed in range(SEEDS):
        random = Random(seed)
        nodes = random.choice((1, 2, 5, 9, 70, 140))
        edges = random.choice((0, 1, nodes // 2, nodes, 2 * nodes, 4 * nodes))
        pairs = [(random.randrange(nodes), random.randrange(nodes)) for _ in range(edges)]
        sources, targets = (np.array([pair[side] for pair in pairs], np.int32) for side in (0, 1))
        wanted = np.array([random.random() < 0.8 for _ in range(nodes)])
        place = np.where(wanted, np.cumsum(wanted) - 1, -1).astype(np.int32)
        yield random, (nodes, *plain.linked(sources, targets, nodes), place)


def same(one: object, other: object) -> None:
    for a, b in zip(*(found if isinstance(found, tuple) else (found,) for found in (one, other)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["linked", "united"])
def test_of_edges(name: str) -> None:
    for _, (nodes, offsets, targets, _) in graphs():
        sources = np.repeat(np.arange(nodes, dtype=np.int32), np.diff(offsets))
        order = np.random.default_rng(nodes).permutation(len(sources))
        given = sources[order], targets[order], nodes
        same(getattr(kernels, name)(*given), getattr(plain, name)(*given))


def test_turned() -> None:
    for _, (_, offsets, targets, _) in graphs():
        same(kernels.turned(offsets, targets), plain.turned(offsets, targets))
        back = kernels.turned(*kernels.turned(offsets, targets))
        assert sorted(zip(_sources(back[0]), back[1], strict=True)) == sorted(
            zip(_sources(offsets), targets, strict=True)
        )


def test_components() -> None:
    for random, (nodes, offsets, targets, _) in graphs():
        inside = np.array([random.random() < 0.9 for _ in range(nodes)])
        found = kernels.components(offsets, targets, inside)
        same(found, plain.components(offsets, targets, inside))
        component = found[0]
        for u in range(nodes):
            for v in targets[offsets[u] : offsets[u + 1]]:
                assert not (inside[u] and inside[v]) or component[v] <= component[u], "successors come first"


def test_components_that_reach_the_same() -> None:
    for random, (nodes, offsets, targets, _) in graphs():
        inside = np.array([random.random() < 0.9 for _ in range(nodes)])
        component, count = plain.components(offsets, targets, inside)
        found = plain.alike(offsets, targets, component, count)
        same(kernels.alike(offsets, targets, component, count), found)
        number, size, cyclic = found
        assert set(number[inside].tolist()) == set(range(size))
        assert (number[~inside] == -1).all()
        reach = [plain._reach(offsets, targets, u) for u in range(nodes)]
        for u in np.flatnonzero(inside).tolist():
            assert not cyclic[u] or u in reach[u]
            assert all(reach[u] == reach[v] for v in np.flatnonzero(number == number[u]).tolist())
            assert all(number[v] <= number[u] for v in targets[offsets[u] : offsets[u + 1]].tolist())


def test_rows_of_bits() -> None:
    for _, (nodes, offsets, targets, place) in graphs():
        component, count = plain.components(offsets, targets, np.ones(nodes, bool))
        starts, members = plain.linked(component, np.arange(nodes, dtype=np.int32), count)
        bits = [np.full((count, (nodes >> 6) + 1), 7, np.uint64) for _ in range(2)]
        for table, rows in zip((kernels, plain), bits, strict=True):
            table.bit_rows(offsets, targets, place, component, starts, members, rows)
        same(*bits)
        some = np.arange(0, count, 2, dtype=np.int32)
        same(kernels.count_bits(bits[0], some), plain.count_bits(bits[0], some))
        searched = plain.count_searched(offsets, targets, place, members[starts[:-1]], np.ones(count, bool))[0]
        same(kernels.count_bits(bits[0], np.arange(count, dtype=np.int32)), searched)


@pytest.mark.long(reason="random graphs")
def test_searches() -> None:
    for random, (nodes, offsets, targets, place) in graphs():
        chosen, room = np.array(random.sample(range(nodes), random.randint(0, nodes)), np.int32), random.choice(ROOMS)
        same(*(table.list_searched(offsets, targets, place, chosen, room) for table in (kernels, plain)))


def test_searches_that_go_on_from_one_another() -> None:
    for _, (nodes, offsets, targets, place) in graphs():
        component, count = plain.components(offsets, targets, np.ones(nodes, bool))
        starts, members = plain.linked(component, np.arange(nodes, dtype=np.int32), count)
        chains = plain.chained(offsets, targets, component, starts, members)
        same(kernels.chained(offsets, targets, component, starts, members), chains)
        via, chosen, fresh = chains
        found = kernels.count_searched(offsets, targets, place, chosen, fresh)
        same(found, plain.count_searched(offsets, targets, place, chosen, fresh))
        all_fresh = plain.count_searched(offsets, targets, place, chosen, np.ones(len(chosen), bool))
        same(found[0], all_fresh[0])
        assert found[1] <= all_fresh[1]
        alone = plain.count_searched(offsets, targets, place, members[starts[:-1]], np.ones(count, bool))[0]
        cyclic = np.array([u in plain._reach(offsets, targets, u) for u in range(nodes)])
        for table in (kernels, plain):
            counts = np.where(via >= 0, 0, alone)
            table.carried(via, component, cyclic, place, counts)
            same(counts, alone)


def test_reached() -> None:
    for random, (nodes, offsets, targets, _) in graphs():
        chosen = np.array([random.randrange(nodes) for _ in range(random.randint(0, 3))], np.int32)
        same(*(table.reached(offsets, targets, chosen) for table in (kernels, plain)))


@pytest.mark.long(reason="random graphs")
@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.parametrize("apart", [False, True])
def test_generations(crossed: bool, apart: bool) -> None:
    for random, (nodes, offsets, targets, _) in graphs():
        pairs = [(random.randrange(nodes), random.randrange(nodes)) for _ in range(random.randint(0, 2 * nodes))]
        sources, others = np.array(pairs, np.int32).reshape(-1, 2).T
        other = plain.linked(sources, others, nodes)
        fed = [random.randrange(nodes) for _ in range(random.choice((0, 1, nodes)))]
        rows = [np.zeros((nodes, (nodes >> 6) + 1), np.uint64) for _ in range(2)]
        how = random.choice((0, 1, 4, 1 << 20)), random.choice((0, 2, 16, 1 << 20)), random.choice(ROOMS)
        most = random.choice((1, 20, 1_000, 1 << 60))
        for table, bits in zip((kernels, plain), rows, strict=True):
            for u in fed:
                bits[u, (nodes - 1 - u) >> 6] |= np.uint64(1 << ((nodes - 1 - u) & 63))
            left = bits
            while len(left):  # in pieces, as under limits, or at once
                given = (offsets, targets, *other, *plain.turned(*other), bits, left)
                left = table.generations(*given, crossed, apart, *how, most)
        same(*rows)


@pytest.mark.parametrize("name", ["fill_bits", "fill_lists", "fill_searched"])
def test_writing(name: str) -> None:
    for random, (nodes, offsets, targets, place) in graphs():
        ends, lists = plain.list_searched(offsets, targets, place, np.arange(nodes, dtype=np.int32), 0)
        counts = np.diff(ends)
        rows = np.array(random.sample(range(nodes), random.randint(0, nodes)), np.int32)
        groups = [[random.randrange(3) for _ in range(random.randint(0, 2))] for _ in rows]
        firsts = np.concatenate(([0], np.cumsum([len(group) for group in groups]))).astype(np.int64)
        members = np.arange(firsts[-1], dtype=np.int32)
        sizes = np.repeat(counts[rows], np.diff(firsts))
        starts = np.cumsum(sizes) - sizes
        left = np.arange(2 * len(members), dtype=np.uint64).reshape(2, -1) << np.uint64(32)
        right = np.arange(2 * nodes, dtype=np.uint64).reshape(2, -1)
        bits = np.zeros((nodes, (nodes >> 6) + 1), np.uint64)
        for row in range(nodes):
            for position in lists[ends[row] : ends[row + 1]].tolist():
                bits[row, position >> 6] |= np.uint64(1 << (position & 63))
        given = {"fill_bits": (bits,), "fill_lists": (ends, lists), "fill_searched": (offsets, targets, place)}[name]
        outs = [np.zeros((2, int(sizes.sum())), np.uint64) for _ in range(2)]
        for table, out in zip((kernels, plain), outs, strict=True):
            getattr(table, name)(*given, rows, firsts, members, starts, left, right, out)
        same(*outs)


def rows_of(offsets: Places, targets: Nodes, place: Nodes) -> tuple[Nodes, Words]:
    """The rows of bits of all nodes."""
    nodes = len(offsets) - 1
    ends, lists = plain.list_searched(offsets, targets, place, np.arange(nodes, dtype=np.int32), 0)
    bits = np.zeros((nodes, (nodes >> 6) + 1), np.uint64)
    for row in range(nodes):
        for position in lists[ends[row] : ends[row + 1]].tolist():
            bits[row, position >> 6] |= np.uint64(1 << (position & 63))
    return np.where(np.diff(ends) > 0, np.arange(nodes), -1).astype(np.int32), bits


def some_edges(random: Random, offsets: Places, targets: Nodes) -> Nodes:
    """Some edges of a graph in order of their sources."""
    chosen = sorted(random.sample(range(len(targets)), random.randint(0, min(4, len(targets)))))
    return np.stack((_sources(offsets)[chosen], targets[chosen]))


def test_altered() -> None:
    for random, (nodes, offsets, targets, _) in graphs():
        lost, gained = some_edges(random, offsets, targets), some_edges(random, offsets, targets)
        found = [table.altered(offsets, targets, nodes + 2, lost, gained) for table in (kernels, plain)]
        same(found[0][0], found[1][0])
        assert found[0][2] == found[1][2] == 0
        edges = [sorted(zip(_sources(ends), reached, strict=True)) for ends, reached, _ in found]
        assert edges[0] == edges[1]
        absent = np.array([[0], [nodes]], np.int32)
        assert {table.altered(offsets, targets, nodes, absent, gained)[2] for table in (kernels, plain)} == {1}


def test_apart_and_bypassed() -> None:
    for random, (nodes, offsets, targets, place) in graphs():
        edges = some_edges(random, offsets, targets)
        middle = plain.altered(offsets, targets, nodes, edges, edges[:, :0])[:2]
        same(*(table.apart(*middle, edges, 1 << 40) for table in (kernels, plain)))
        assert kernels.apart(*middle, edges, 0).all()
        row, bits = rows_of(offsets, targets, place)
        same(*(table.bypassed(*middle, place, row, bits, edges) for table in (kernels, plain)))


@pytest.mark.long(reason="random graphs")
def test_differences() -> None:
    for random, (nodes, offsets, targets, place) in graphs():
        _, bits = rows_of(offsets, targets, place)
        more = np.concatenate((bits, bits), axis=1)
        rows, others = (np.array([random.randrange(-1, nodes) for _ in range(nodes)], np.int32) for _ in range(2))
        same(*(table.bits_differing(bits, rows, more, others, random.choice(ROOMS)) for table in (kernels, plain)))
        one, two = plain.list_bits(bits, rows), plain.list_bits(more, others)
        same(kernels.list_bits(more, others), two)
        same(*(table.lists_without(*one, *two) for table in (kernels, plain)))
        same(
            (*plain.lists_without(*one, *two), *plain.lists_without(*two, *one)),
            plain.bits_differing(bits, rows, more, others, 0),
        )


def _sources(offsets: Places) -> Nodes:
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.int32), np.diff(offsets))
