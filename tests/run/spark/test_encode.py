"""Cells: every value survives the way to Spark and back, and equal cells mean equal values."""

import pytest

from tidelog.base import types as t
from tidelog.base.types import Constructor, Field, Type, TypeDefinition
from tidelog.base.values import NAN, FrozenMap, Variant
from tidelog.run.spark.encode import Cells, arrow_type

SHAPE = TypeDefinition(
    "Shape", (), (Constructor("Dot", "Shape", 0, ()), Constructor("Box", "Shape", 1, (Field("w", t.Bit(8)),)))
)
CELLS = Cells({"Shape": SHAPE})
VALUES: list[tuple[Type, list[object]]] = [
    (t.BOOL, [True, False]),
    (t.STRING, ["", "tide", 'a "b"\n', "λ\U0001f30a"]),
    (t.DOUBLE, [0.0, -1.5, float("inf"), NAN]),
    (t.Bit(8), [0, 255]),
    (t.Bit(64), [0, 2**63 - 1, 2**63, 2**64 - 1]),
    (t.Signed(64), [-(2**63), 2**63 - 1]),
    (t.Bit(128), [2**127]),
    (t.BIGINT, [-(10**40), 7]),
    (t.Tuple((t.Bit(8), t.STRING)), [(1, "x, y"), (2, ")")]),
    (t.Named(t.SET, (t.STRING,)), [frozenset(), frozenset({"b", "a"})]),
    (t.Named(t.MAP, (t.Bit(8), t.BOOL)), [FrozenMap({2: True, 1: False})]),
    (t.Named(t.VEC, (t.DOUBLE,)), [(0.1, NAN), ()]),
    (t.Named("Shape"), [Variant("Dot", 0, ()), Variant("Box", 1, (3,))]),
    (t.Named(t.REF, (t.Bit(64),)), [2**64 - 1]),
    (t.Named("Opaque"), [complex(1, 2)]),
]


@pytest.mark.parametrize(
    ("type", "values"), VALUES, ids=lambda part: t.show(part) if not isinstance(part, list) else ""
)
def test_there_and_back(type: Type, values: list[object]) -> None:
    array = CELLS.array(values, type)
    assert array.type == arrow_type(type)
    assert array.null_count == 0
    back = CELLS.values(array, type)
    assert all(a is b or a == b for a, b in zip(back, values, strict=True))


def test_equal_values_have_equal_cells() -> None:
    type = t.Named(t.SET, (t.Tuple((t.STRING, t.Bit(8))),))
    one, other = frozenset([("a", 1), ("b", 2)]), frozenset([("b", 2), ("a", 1)])
    assert CELLS.cell(one, type) == CELLS.cell(other, type)
