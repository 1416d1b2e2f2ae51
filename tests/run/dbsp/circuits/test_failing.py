"""Random circuits whose functions fail: after every failed step the circuit is as before, and the step can be taken."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

from tidelog.run.dbsp.circuits.circuit import Circuit, Wire
from tidelog.run.dbsp.zsets.zset import Row, ZSet

CIRCUITS = int(os.environ.get("TIDELOG_CIRCUITS", "500"))


class FuseError(Exception):
    """What a function of the user raises."""


class Fuse:
    """What lets a function fail the n-th time that one is called, counted from now."""

    def __init__(self) -> None:
        self.left = -1
        self.calls = 0

    def burn(self) -> None:
        self.calls += 1
        self.left -= 1
        if self.left == 0:
            raise FuseError


def build(seed: int, fuse: Fuse) -> Circuit:
    """Return a circuit of operators drawn at random, with a loop now and then; all wires have two columns."""
    random, circuit = Random(seed), Circuit()

    def failing(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*arguments: Any) -> Any:
            fuse.burn()
            return function(*arguments)

        return called

    def one(wires: Sequence[Wire], *, inside: bool) -> Wire:
        a, b = random.choice(wires), random.choice(wires)
        number = random.randrange(2)
        makers: list[Callable[[], Wire]] = [
            lambda: a + b,
            lambda: a - b,
            lambda: a.select(failing(lambda row: row[0] != number)),
            lambda: a.project([1, 0]),
            lambda: a.map(failing(lambda row: (row[1], (row[0] + number) % 4)), 2),
            lambda: a.join(b, on=[(1, 0)], keep=[0, 3]),
            lambda: a.antijoin(b, on=[(number, 0)]),
            a.distinct,
            lambda: a.aggregate([number], failing(largest), 1),
        ]
        if not inside:
            makers += [
                a.delay,
                lambda: a.integrate().distinct(),
                a.differentiate,
                lambda: circuit.lift(failing(lambda x: x + x), a),
            ]
        return random.choice(makers)()

    wires = [circuit.input(name, columns=2) for name in "ab"]
    for _ in range(random.randrange(1, 6)):
        wires.append(one(wires, inside=False))
    if random.random() < 0.6:
        with circuit.loop() as loop:
            edge = loop.introduce(random.choice(wires)).distinct()
            path = loop.feedback(columns=2)
            mine = failing(lambda row: row[0] != row[1])
            closed = (edge + path.join(edge, on=[(1, 0)], keep=[0, 3]).select(mine)).distinct()
            path.connect(closed)
            inside = [edge, path, closed]
            if random.random() < 0.3:
                with circuit.loop() as inner:
                    start, back = inner.introduce(random.choice(inside)), inner.feedback(columns=2)
                    found = (start + one([back, start], inside=True).select(mine)).distinct()
                    back.connect(start)
                inside.append(inner.eliminate(found))
            extra = one(inside, inside=True)
        wires += [loop.eliminate(closed), loop.eliminate(extra)]
    for _ in range(random.randrange(3)):
        wires.append(one(wires, inside=False))
    for number, wire in enumerate(wires):
        circuit.output(str(number), wire)
    return circuit


def largest(group: dict[Row, int]) -> list[Row]:
    return [max(group)] if all(weight > 0 for weight in group.values()) else []


def change(random: Random) -> dict[str, ZSet]:
    rows = {
        (random.randrange(4), random.randrange(4)): random.choice((1, 1, 2, -1)) for _ in range(random.randrange(6))
    }
    return {random.choice("ab"): ZSet.of(rows, 2)}


def state(circuit: Circuit) -> list[Any]:
    """What the operators hold, as something that can be compared."""

    def plain(held: Any) -> Any:
        return [plain(one) for one in held] if isinstance(held, list | tuple) else held

    return [plain(wire.operator.snapshot()) for wire in circuit.wires()]


@pytest.mark.long(reason="500 circuits, as many as the library promises in a run")
def test_a_failed_step_leaves_the_circuit_as_before() -> None:
    failed = loops = 0
    for seed in range(CIRCUITS):
        random, fuse, never = Random(-seed - 1), Fuse(), Fuse()
        tried, smooth = build(seed, fuse), build(seed, never)
        for _ in range(4):
            changes = change(random)
            calls = never.calls
            expected = smooth.step(**changes)
            calls = never.calls - calls
            for _ in range(min(calls, random.randrange(1, 3))):
                before = state(tried)
                fuse.left = random.randint(1, calls)
                with pytest.raises(FuseError):
                    tried.step(**changes)
                fuse.left = -1
                assert state(tried) == before, f"seed {seed}"
                failed += 1
            assert tried.step(**changes) == expected, f"seed {seed}"
        loops += any(not isinstance(part, Wire) for part in tried.body)
    assert failed > 2 * CIRCUITS
    assert loops > CIRCUITS // 2
