"""Circuits agree with streams by definition, step by step; loops with evaluation from scratch."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.run.dbsp.generate import PAIRS, grid, nested, streams, zsets
from tidelog.run.dbsp.circuits.circuit import Circuit, Wire
from tidelog.run.dbsp.circuits.draw import to_dot, to_mermaid
from tidelog.run.dbsp.circuits.operators import Distinct, Grouped, Join, Operator
from tidelog.run.dbsp.circuits.tagged import Weighted
from tidelog.run.dbsp.zsets.indexed import IndexedZSet
from tidelog.run.dbsp.zsets.stream import Stream, Streams, incremental, lift
from tidelog.run.dbsp.zsets.zset import Row, ZSet

STEPS = 5


def total(group: dict[Row, int]) -> list[Row]:
    """The sum of a column, each row counted as often as its weight, which may be negative here."""
    return [(str(sum(value * weight for (value,), weight in group.items())),)]


def totals(z: ZSet) -> ZSet:
    return IndexedZSet.by(z, [0]).aggregate(total, 1)


def run(build: Callable[[Wire, Wire], Wire], a: Stream[ZSet], b: Stream[ZSet]) -> list[ZSet]:
    circuit = Circuit()
    left, right = circuit.input("a", columns=2), circuit.input("b", columns=2)
    circuit.output("out", build(left, right))
    return [circuit.step(a=x, b=y)["out"] for x, y in zip(a.take(STEPS), b.take(STEPS), strict=True)]


QUERIES: list[tuple[Callable[[Wire, Wire], Wire], Callable[[ZSet, ZSet], ZSet]]] = [
    (lambda a, b: a + b, lambda a, b: a + b),
    (lambda a, b: a - b, lambda a, b: a - b),
    (lambda a, b: -a, lambda a, b: -a),
    (lambda a, b: a.project([1]), lambda a, b: a.project([1])),
    (lambda a, b: a.select(lambda row: row[0] > 1), lambda a, b: a.select(lambda row: row[0] > 1)),
    (lambda a, b: a.map(lambda row: (row[0] + row[1],), 1), lambda a, b: a.map(lambda row: (row[0] + row[1],), 1)),
    (lambda a, b: a.join(b, on=[(1, 0)]), lambda a, b: a.join(b, on=[(1, 0)])),
    (lambda a, b: a.join(a, on=[], keep=[3, 0]), lambda a, b: a.join(a, on=[], keep=[3, 0])),
    (lambda a, b: a.join(b, on=[(0, 1), (1, 0)], keep=[0]), lambda a, b: a.join(b, on=[(0, 1), (1, 0)], keep=[0])),
    (lambda a, b: (a + b).distinct(), lambda a, b: (a + b).distinct()),
    (
        lambda a, b: a.distinct().join(b.distinct(), on=[(0, 0)]),
        lambda a, b: a.distinct().join(b.distinct(), on=[(0, 0)]),
    ),
    (lambda a, b: a.aggregate([0], total, 1), lambda a, b: totals(a)),
    (lambda a, b: a.antijoin(b, on=[(1, 0)]), lambda a, b: a.antijoin(b, on=[(1, 0)])),
]


@settings(max_examples=10)
@pytest.mark.parametrize("number", range(len(QUERIES)))
@given(a=streams(), b=streams())
def test_a_circuit_gives_the_incremental_form(number: int, a: Stream[ZSet], b: Stream[ZSet]) -> None:
    build, function = QUERIES[number]
    expected = incremental(lift(function, PAIRS))(a, b).take(STEPS)
    assert run(build, a, b) == expected


@settings(max_examples=30)
@given(a=streams(), b=streams())
def test_lifting_between_integral_and_difference_is_the_incremental_form(a: Stream[ZSet], b: Stream[ZSet]) -> None:
    def built(left: Wire, right: Wire) -> Wire:
        circuit = left.scope.circuit
        joined = circuit.lift(lambda x, y: x.join(y, on=[(1, 0)], keep=[0, 3]), left.integrate(), right.integrate())
        return joined.differentiate()

    assert run(built, a, b) == run(lambda x, y: x.join(y, on=[(1, 0)], keep=[0, 3]), a, b)


@settings(max_examples=30)
@given(a=streams())
def test_the_delay_of_the_outer_time(a: Stream[ZSet]) -> None:
    assert run(lambda x, y: x.delay(), a, a) == [ZSet.zero(2), *a.take(STEPS - 1)]


def through(operator: Operator, inputs: Sequence[Stream[Stream[ZSet]]], outer: int, inner: int) -> list[list[ZSet]]:
    """What an operator makes of nested streams, every inner time asked for."""
    found = []
    for t in range(outer):
        found.append([operator.step(u, *(stream[t][u] for stream in inputs)) for u in range(inner)])
        operator.settle()
    return found


@settings(max_examples=25)
@given(nested(), nested())
def test_the_join_operator_is_the_doubly_incremental_join(a: Stream[Stream[ZSet]], b: Stream[Stream[ZSet]]) -> None:
    group = Streams(PAIRS)
    doubly = incremental(lift(incremental(lift(lambda x, y: x.join(y, on=[(1, 0)], keep=[0, 3]), PAIRS)), group))
    assert through(Join((2, 2), [(1, 0)], [0, 3]), [a, b], 5, 6) == grid(doubly(a, b), 5, 6)


@settings(max_examples=25)
@given(nested())
def test_distinct_and_aggregates_are_doubly_incremental(a: Stream[Stream[ZSet]]) -> None:
    group = Streams(PAIRS)
    doubly = incremental(lift(incremental(lift(ZSet.distinct, PAIRS)), group))
    assert through(Distinct(2), [a], 5, 6) == grid(doubly(a), 5, 6)
    assert through(Grouped(2, 2, ZSet.distinct, 2), [a], 5, 6) == grid(doubly(a), 5, 6)
    summed = incremental(lift(incremental(lift(totals, PAIRS)), group))
    assert through(Grouped(2, 1, totals, 2), [a], 5, 6) == grid(summed(a), 5, 6)


def closure(edges: ZSet) -> ZSet:
    """The transitive closure, naively."""
    paths = edges.distinct()
    while (longer := (paths + paths.join(edges.distinct(), on=[(1, 0)], keep=[0, 3])).distinct()) != paths:
        paths = longer
    return paths


def closure_circuit() -> Circuit:
    circuit = Circuit()
    edges = circuit.input("edges", columns=2)
    with circuit.loop() as loop:
        edge = loop.introduce(edges).distinct()
        path = loop.feedback(columns=2)
        closed = (edge + path.join(edge, on=[(1, 0)], keep=[0, 3])).distinct()
        path.connect(closed)
    circuit.output("paths", loop.eliminate(closed))
    return circuit


@settings(max_examples=60)
@given(st.lists(zsets(positive=True), min_size=1, max_size=5))
def test_a_recursive_circuit_follows_insertions_and_deletions(batches: list[ZSet]) -> None:
    circuit = closure_circuit()
    edges, paths = ZSet.zero(2), ZSet.zero(2)
    changes = [*batches, *(-batch for batch in reversed(batches[1:]))]
    for change in changes:
        edges += change
        paths += circuit.step(edges=change)["paths"]
        assert paths == closure(edges)


@settings(max_examples=30)
@given(st.lists(zsets(positive=True), min_size=2, max_size=4))
def test_a_snapshot_brings_everything_back(batches: list[ZSet]) -> None:
    circuit = closure_circuit()
    circuit.step(edges=batches[0])
    state = circuit.snapshot()
    there = [circuit.step(edges=batch)["paths"] for batch in batches[1:]]
    circuit.restore(state)
    assert [circuit.step(edges=batch)["paths"] for batch in batches[1:]] == there


def test_mistakes_are_told() -> None:
    circuit = Circuit()
    a = circuit.input("a", columns=2)
    with pytest.raises(ValueError, match="no input b; there are a"):
        circuit.step(b=ZSet.zero(2))
    with pytest.raises(ValueError, match="has 2 columns, the change 1"):
        circuit.step(a=ZSet.zero(1))
    with circuit.loop() as loop:
        with pytest.raises(ValueError, match="take it in by `introduce`"):
            a.distinct()
        inside = loop.introduce(a)
        with pytest.raises(ValueError, match="outer time"):
            inside.integrate()
        with circuit.loop() as second:
            with pytest.raises(ValueError, match="outside of the loop around this one: take it in there first"):
                second.introduce(a)
            with pytest.raises(ValueError, match="outside the loop: take it in by `introduce`"):
                inside.distinct()
            with circuit.loop(), pytest.raises(ValueError, match="may be nested 3 deep"), circuit.loop():
                pass
            deeper = second.introduce(inside)
        with pytest.raises(ValueError, match="in a loop: `eliminate`"):
            inside + deeper
        with pytest.raises(ValueError, match="not in this loop"):
            loop.feedback(columns=2).connect(a)
        loop.feedback(columns=2).connect(inside)
        loop._feedbacks[0].connect(inside)
    with pytest.raises(ValueError, match="take it out by `eliminate`"):
        circuit.output("x", inside)
    with pytest.raises(ValueError, match="feeds nothing back"), circuit.loop() as loop:
        loop.feedback(columns=1)


def build_mistakes() -> dict[str, tuple[Callable[[Circuit, Wire, Wire], object], str]]:
    """What is refused while a circuit is built, with a part of the message; a has two columns, b three."""
    other = Circuit().input("other", columns=2)
    return {
        "sum": (lambda c, a, b: a + b, "`a` has 2 columns, `b` has 3"),
        "difference": (lambda c, a, b: a - b, "`a` has 2 columns, `b` has 3"),
        "no wire": (lambda c, a, b: a + 3, "expected a wire"),
        "other circuit": (lambda c, a, b: a + other, "in another circuit"),
        "other kind": (lambda c, a, b: a + c.input("n", zero=Weighted()), "carries"),
        "project": (lambda c, a, b: a.project([2]), "there is no column 2; `a` has 2"),
        "project backwards": (lambda c, a, b: a.project([-1]), "there is no column -1"),
        "project text": (lambda c, a, b: a.project("01"), "expected the number of a column"),
        "join": (lambda c, a, b: a.join(b, on=[(3, 0)]), "there is no column 3; `a` has 2"),
        "join right": (lambda c, a, b: a.join(b, on=[(0, 3)]), "there is no column 3; `b` has 3"),
        "keep": (lambda c, a, b: a.join(b, on=[(0, 0)], keep=[5]), "keep: there is no column 5; there are 5"),
        "antijoin": (lambda c, a, b: a.antijoin(b, on=[(2, 0)]), "there is no column 2; `a` has 2"),
        "aggregate": (lambda c, a, b: a.aggregate([2], total, 1), "there is no column 2"),
        "aggregate twice": (lambda c, a, b: a.aggregate([0, 0], total, 1), "named twice"),
        "aggregate columns": (lambda c, a, b: a.aggregate([0], total, -1), "expected a number of columns"),
        "map": (lambda c, a, b: a.map(lambda row: row, True), "expected a number of columns"),
        "function": (lambda c, a, b: a.select(3), "expected a function of rows"),
        "lift nothing": (lambda c, a, b: c.lift(len), "a function of no wires"),
        "input twice": (lambda c, a, b: c.input("a", 1), "there is an input a already"),
        "output twice": (lambda c, a, b: (c.output("o", a), c.output("o", b)), "there is an output o already"),
        "output of another": (lambda c, a, b: c.output("o", other), "in another circuit"),
        "introduce later": (lambda c, a, b: c.loop().introduce(a), "in its `with` block"),
        "eliminate outside": (lambda c, a, b: c.loop().eliminate(a), "is not in this loop"),
        "late": (lambda c, a, b: (c.step(), a.distinct()), "has taken a step"),
    }


@pytest.mark.parametrize("name", build_mistakes())
def test_mistakes_are_told_when_a_circuit_is_built(name: str) -> None:
    act, message = build_mistakes()[name]
    circuit = Circuit()
    a, b = circuit.input("a", columns=2), circuit.input("b", columns=3)
    with pytest.raises((ValueError, TypeError), match=re.escape(message)):
        act(circuit, a, b)


def stopped_loop(circuit: Circuit, a: Wire) -> None:
    with circuit.loop() as loop:
        inside = loop.introduce(a)
        with pytest.raises(ValueError, match="must end before a step"):
            circuit.step()
        with pytest.raises(ValueError, match="inside already"):
            loop.introduce(inside)
        with pytest.raises(ValueError, match="given in a loop"):
            circuit.input("b")
        wire = loop.feedback(columns=2)
        with pytest.raises(ValueError, match="has 2 columns"):
            wire.connect(inside.project([0]))
        wire.connect(inside)
        with pytest.raises(ValueError, match="connected already"):
            wire.connect(inside)
        raise KeyError


def test_a_loop_that_is_not_finished_is_gone() -> None:
    circuit = Circuit()
    a = circuit.input("a", columns=2)
    with pytest.raises(KeyError):
        stopped_loop(circuit, a)
    circuit.output("a", a)
    assert circuit.step(a=ZSet.of({(1, 2): 1}))["a"] == ZSet.of({(1, 2): 1})


@pytest.mark.parametrize("made", [(1,), (1, 2, 3), 5])
def test_rows_that_functions_make_have_the_columns_promised(made: Any) -> None:
    builds: list[Callable[[Wire], Wire]] = [
        lambda a: a.map(lambda row: made, 2),
        lambda a: a.aggregate([0], lambda group: [made], 2),
    ]
    for build in builds:
        circuit = Circuit()
        circuit.output("o", build(circuit.input("a", columns=2)))
        with pytest.raises((ValueError, TypeError), match="the function returned"):
            circuit.step(a=ZSet.of({(1, 2): 1}))


def test_a_circuit_is_drawn() -> None:
    dot, mermaid = to_dot(closure_circuit()), to_mermaid(closure_circuit())
    assert 'label="edges", shape=ellipse' in dot
    assert "subgraph cluster0 {" in dot
    assert dot.count("style=dashed") == 1
    assert mermaid.startswith('flowchart LR\n  n0(["edges"])\n  subgraph loop0["loop"]\n')
    assert mermaid.count("-.->") == 1
