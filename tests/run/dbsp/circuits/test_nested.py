"""Loops inside loops: operators agree with streams of streams of streams, circuits with evaluation from scratch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.run.dbsp.generate import PAIRS, zsets
from tidelog.run.dbsp.circuits.circuit import Circuit, Wire
from tidelog.run.dbsp.circuits.clock import DEEPEST, Clock
from tidelog.run.dbsp.circuits.draw import to_dot, to_mermaid
from tidelog.run.dbsp.circuits.operators import Join, Nested, Operator
from tidelog.run.dbsp.zsets.indexed import IndexedZSet
from tidelog.run.dbsp.zsets.stream import Stream, Streams, incremental, lift
from tidelog.run.dbsp.zsets.zset import Row, ZSet

SIZE = 3
"""How many times of each kind are compared: outer ones, and the iterations of both loops."""
Cube = Stream[Stream[Stream[ZSet]]]


def cubes() -> st.SearchStrategy[Cube]:
    """Streams of streams of streams with a few Z-sets in them."""
    lines, planes = Streams(PAIRS), Streams(Streams(PAIRS))
    places = st.tuples(*[st.integers(0, SIZE - 1)] * 3)

    def cube(values: dict[tuple[int, ...], ZSet]) -> Cube:
        def line(t: int, i: int) -> Stream[ZSet]:
            return Stream(PAIRS, lambda j: values.get((t, i, j), ZSet.zero(2)))

        return Stream(planes, lambda t: Stream(lines, lambda i: line(t, i)))

    return st.dictionaries(places, zsets(), max_size=4).map(cube)


def in_all_times(function: Callable[..., ZSet]) -> Callable[..., Cube]:
    """Return the form of a function on Z-sets that is incremental in the outer time and in two loops."""
    line = incremental(lift(function, PAIRS))
    plane = incremental(lift(line, Streams(PAIRS)))
    return incremental(lift(plane, Streams(Streams(PAIRS))))


def values(cube: Cube) -> list[ZSet]:
    return [cube[t][i][j] for t in range(SIZE) for i in range(SIZE) for j in range(SIZE)]


def through(operator: Operator, inputs: Sequence[Cube]) -> list[ZSet]:
    """What an operator makes of changes, asked for every time."""
    clock, found = Clock(2), []
    for t in range(SIZE):
        for i in range(SIZE):
            for j in range(SIZE):
                found += [operator.step(clock.packed((i, j)), *[cube[t][i][j] for cube in inputs])]
            # What is kept for iterations that were not looked at is of no use.
        if isinstance(operator, Nested):
            operator._waiting.clear()
        operator.settle()
    return found


@settings(max_examples=25)
@given(cubes(), cubes())
def test_joins(a: Cube, b: Cube) -> None:
    expected = in_all_times(lambda x, y: x.join(y, on=[(1, 0)], keep=[0, 3]))(a, b)
    assert through(Join((2, 2), [(1, 0)], [0, 3], clock=Clock(2)), [a, b]) == values(expected)


@settings(max_examples=25)
@given(cubes())
def test_groups(a: Cube) -> None:
    assert through(Nested(2, 2, ZSet.distinct, 2, Clock(2)), [a]) == values(in_all_times(ZSet.distinct)(a))
    assert through(Nested(2, 1, largest, 2, Clock(2)), [a]) == values(in_all_times(largest)(a))


def largest(z: ZSet) -> ZSet:
    return IndexedZSet.by(z, [0]).aggregate(lambda group: [max(group)] if min(group.values()) > 0 else [], 1)


@pytest.mark.parametrize("depth", range(1, DEEPEST + 1))
def test_times(depth: int) -> None:
    clock = Clock(depth)
    time = clock.packed([*range(3, 3 + depth)])
    assert clock.unpacked(time) == (*range(3, 3 + depth),)
    if depth > 1:
        with pytest.raises(OverflowError, match="more than"):
            clock.packed([1 << clock.bits, *[0] * (depth - 1)])


def with_jumps(edges: ZSet, jumps: ZSet) -> ZSet:
    """What is reached by edges, and from wherever that is by a jump, of which there may be one between closures."""
    known = ZSet.zero(2)
    while True:
        paths = base = (edges + known.join(jumps, on=[(1, 0)], keep=[0, 3])).distinct()
        while (longer := (base + paths.join(edges, on=[(1, 0)], keep=[0, 3])).distinct()) != paths:
            paths = longer
        if paths == known:
            return known
        known = paths


def with_jumps_circuit() -> Circuit:
    circuit = Circuit()
    edges, jumps = circuit.input("edges", columns=2), circuit.input("jumps", columns=2)
    with circuit.loop() as outer:
        edge, jump = outer.introduce(edges).distinct(), outer.introduce(jumps).distinct()
        known = outer.feedback(columns=2)
        base = (edge + known.join(jump, on=[(1, 0)], keep=[0, 3])).distinct()
        with circuit.loop() as inner:
            start, link = inner.introduce(base), inner.introduce(edge)
            path = inner.feedback(columns=2)
            closed = (start + path.join(link, on=[(1, 0)], keep=[0, 3])).distinct()
            path.connect(closed)
        found = inner.eliminate(closed)
        known.connect(found)
    circuit.output("paths", outer.eliminate(found))
    return circuit


Changes = list[tuple[ZSet, ZSet]]


@settings(max_examples=60)
@given(st.lists(st.tuples(zsets(positive=True), zsets(positive=True)), min_size=1, max_size=4))
def test_a_closure_in_a_loop_follows_insertions_and_deletions(batches: Changes) -> None:
    circuit = with_jumps_circuit()
    edges = jumps = paths = ZSet.zero(2)
    for e, j in [*batches, *((-e, -j) for e, j in reversed(batches[1:]))]:
        edges, jumps = edges + e, jumps + j
        paths += circuit.step(edges=e, jumps=j)["paths"]
        assert paths == with_jumps(edges.distinct(), jumps.distinct())


def sum_of_closures(depth: int) -> Circuit:
    """Loops so deep around a closure; each adds, one iteration later, what the loop in it has found turned around."""
    circuit = Circuit()

    def inside(edges: Wire, left: int) -> Wire:
        with circuit.loop() as loop:
            edge = loop.introduce(edges).distinct()
            path = loop.feedback(columns=2)
            if left:
                turned = path.project([1, 0]).select(lambda row: row[0] < row[1])
                found = inside((edge + turned).distinct(), left - 1)
            else:
                found = (edge + path.join(edge, on=[(1, 0)], keep=[0, 3])).distinct()
            path.connect(found)
        return loop.eliminate(found)

    circuit.output("found", inside(circuit.input("edges", columns=2), depth - 1))
    return circuit


@settings(max_examples=25)
@given(st.integers(1, DEEPEST), st.lists(zsets(positive=True), min_size=2, max_size=4))
def test_loops_of_any_depth_give_the_same_in_one_step_and_in_several(depth: int, batches: list[ZSet]) -> None:
    circuit, edges, found = sum_of_closures(depth), ZSet.zero(2), ZSet.zero(2)
    for change in [*batches, -batches[0]]:
        edges += change
        found += circuit.step(edges=change)["found"]
        assert found == sum_of_closures(depth).step(edges=edges)["found"]


def test_a_failed_step_leaves_loops_as_before() -> None:
    class FuseError(Exception):
        pass

    left = [0]

    def fuse(row: Row) -> bool:
        left[0] -= 1
        if not left[0]:
            raise FuseError
        return True

    def built() -> Circuit:
        circuit = Circuit()
        edges = circuit.input("edges", columns=2)
        with circuit.loop() as outer:
            taken = outer.introduce(edges)
            with circuit.loop() as inner:
                edge = inner.introduce(taken)
                path = inner.feedback(columns=2)
                closed = (edge + path.join(edge, on=[(1, 0)], keep=[0, 3]).select(fuse)).distinct()
                path.connect(closed)
        with pytest.raises(ValueError, match="a loop is built in its"):
            outer.introduce(edges)
        circuit.output("paths", outer.eliminate(inner.eliminate(closed)))
        return circuit

    tried, smooth = built(), built()
    chain: list[dict[str, Any]] = [
        {"edges": ZSet.of({(n, n + 1): 1 for n in range(5)})},
        {"edges": ZSet.of({(2, 3): -1, (2, 4): 1})},
    ]
    for change in chain:
        expected = smooth.step(**change)
        for number in (1, 2, 3):
            left[0] = number
            with pytest.raises(FuseError):
                tried.step(**change)
        left[0] = 0
        assert tried.step(**change) == expected


def test_drawing() -> None:
    circuit = with_jumps_circuit()
    assert to_mermaid(circuit).count("subgraph") == to_dot(circuit).count("subgraph") == 2
