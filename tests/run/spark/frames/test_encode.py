"""Cells: every value survives the way to Spark and back, and equal cells mean equal values."""

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tidelog import Database
from tidelog.base import types as t
from tidelog.base.types import Constructor, Field, Type, TypeDefinition
from tidelog.base.values import NAN, FrozenMap, Variant
from tidelog.run.spark.frames import rows
from tidelog.run.spark.frames.encode import Cells, arrow_type
from tidelog.session.database import plan_of

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


def test_functions_have_one_text_wherever_they_are_made() -> None:
    """Made twice, by programs that have compiled different things before: the cells and the results are the same."""
    program = """
function half(x: u8): u8 = x / 2
function quarter(x: u8): u8 = half(half(x))
input relation Step(n: u8)
output relation Made(f: function(u8): u8)
Made(|x| quarter(x) + n) :- Step(n).
Made(quarter).
Step(1). Step(2).
"""
    databases = [Database(program, engine="columnar") for _ in range(2)]
    type = plan_of(databases[0]).relations["Made"].columns[0].type
    cells = Cells(plan_of(databases[0]).types)
    texts: list[set[str]] = []
    for database in databases:
        made = [row[0] for row in database.relation("Made").rows()]
        if texts:
            assert made[0](40) in (10, 11, 12)  # the second program has compiled what it calls, the first has not
        texts.append({cells.cell(function, type) for function in made})
    assert texts[0] == texts[1]
    assert sorted(cells.value(text, type)(40) for text in texts[0]) == [10, 11, 12]


@pytest.mark.spark
def test_a_large_table_is_sent_in_several(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a task gets of a table is one message, which may not be larger than Spark allows."""
    monkeypatch.setattr(rows, "BATCH_BYTES", 100)
    table = pa.table({"c0": list(range(130))})
    found = rows.arrow_frame(spark, table)
    assert sorted(row.c0 for row in found.collect()) == list(range(130))
    assert "Union" in str(found._jdf.queryExecution().analyzed().toString())
