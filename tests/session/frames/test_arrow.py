from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.session.strategies import DEFINITIONS, simple_types, typed_lists, types, values
from tidelog.base import types as t
from tidelog.base.errors import DataError
from tidelog.base.plain.plain import OPTION, Plain
from tidelog.base.types import UNIT, Field, Named, Type
from tidelog.base.values import Value
from tidelog.plan.nodes import Relation
from tidelog.run.contract.engine import Row
from tidelog.session.frames.arrow import TableRows, arrow_type, as_table, make_array, make_table, read_table

PLAIN = Plain(DEFINITIONS)


def relation(*columns: Type) -> Relation:
    return Relation("R", "input", tuple(Field(f"c{i}", type) for i, type in enumerate(columns)), UNIT)


@given(typed_lists())
def test_a_column_survives(typed: tuple[Type, list[Value]]) -> None:
    type, column = typed
    rows = [(value,) for value in column]
    table = make_table(rows, relation(type).columns, PLAIN)
    assert list(read_table(table, relation(type), PLAIN)) == rows


@given(typed_lists())
def test_the_arrow_type_is_the_promised_one(typed: tuple[Type, list[Value]]) -> None:
    type, column = typed
    assert make_array([], type, PLAIN).type == arrow_type(type, PLAIN)
    array = make_array(column, type, PLAIN)
    assert (
        array.type == arrow_type(type, PLAIN)
        or "bigint" in t.show(type)
        or "<" in t.show(type)
        or type == Named("List")
    )


@st.composite
def tables(draw: st.DrawFn) -> tuple[Relation, list[Row]]:
    columns = draw(st.lists(types, max_size=3))
    return relation(*columns), draw(st.lists(st.tuples(*map(values, columns)), max_size=4))


@given(tables())
def test_a_table_survives(given: tuple[Relation, list[Row]]) -> None:
    declared, rows = given
    assert list(read_table(make_table(rows, declared.columns, PLAIN), declared, PLAIN)) == rows


@given(typed_lists(simple_types))
def test_a_column_survives_polars_and_pandas(typed: tuple[Type, list[Value]]) -> None:
    type, column = typed
    rows = [(value,) for value in column]
    table = make_table(rows, relation(type).columns, PLAIN)
    if not pa.types.is_decimal256(table.schema[0].type):
        assert list(read_table(as_table(pl.from_arrow(table)), relation(type), PLAIN)) == rows
    assert list(read_table(as_table(table.to_pandas(), relation(type).columns), relation(type), PLAIN)) == rows


@settings(max_examples=30)
@given(typed_lists())
def test_a_column_survives_parquet(typed: tuple[Type, list[Value]]) -> None:
    type, column = typed
    rows = [(value,) for value in column]
    sink = pa.BufferOutputStream()
    pq.write_table(make_table(rows, relation(type).columns, PLAIN), sink)
    table = pq.read_table(pa.BufferReader(sink.getvalue()))
    assert list(read_table(table, relation(type), PLAIN)) == rows


@pytest.mark.parametrize(
    ("type", "column", "shown"),
    [
        (t.Bit(1), [0, 1], "uint8"),
        (t.Signed(64), [], "int64"),
        (t.Bit(65), [1], "int64"),
        (t.BIGINT, [2**63], "decimal128(38, 0)"),
        (t.BIGINT, [10**40], "decimal256(76, 0)"),
        (t.BIGINT, [10**80], "string"),
        (UNIT, [()], "null"),
        (Named(OPTION, (t.Bit(8),)), [], "uint8"),
        (Named(OPTION, (Named(OPTION, (t.Bit(8),)),)), [], "struct<tag: string, x: uint8>"),
        (Named("Severity"), [], "string"),
        (Named("lib::Shape"), [], "struct<_tag: string, r: double, tag: string>"),
        (Named("List"), [], "string"),
        (Named(t.SET, (t.BOOL,)), [], "list<item: bool>"),
        (Named(t.MAP, (t.STRING, t.BIGINT)), [], "map<string, int64>"),
    ],
)
def test_arrow_types(type: Type, column: list[Value], shown: str) -> None:
    assert str(make_array(column, type, PLAIN).type) == shown


EDGE = Relation("Edge", "input", (Field("a", t.Bit(16)), Field("b", t.STRING)), UNIT)


@pytest.mark.parametrize(
    "frame",
    [
        pa.table({"b": ["x", "y"], "a": [1, 2]}),
        pa.record_batch({"a": [1, 2], "b": ["x", "y"]}),
        pa.table({"a": pa.array([1, 2], pa.uint8()), "b": pa.array(["x", "y"]).dictionary_encode()}),
        pa.table({"a": pa.array([1, 2], pa.decimal128(5)), "b": pa.array(["x", "y"], pa.large_string())}),
        pd.DataFrame({"a": [1, 2], "b": ["x", "y"]}, index=[5, 6]),
        pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}),
    ],
    ids=lambda frame: type(frame).__module__,
)
def test_frames(frame: Any) -> None:
    assert list(read_table(as_table(frame), EDGE, PLAIN)) == [(1, "x"), (2, "y")]


def test_simple_columns_stay_in_arrow() -> None:
    rows = read_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), EDGE, PLAIN)
    assert isinstance(rows, TableRows)
    assert pa.table(rows).schema == pa.schema([("a", pa.uint16()), ("b", pa.string())])
    assert (len(rows), (1, "x") in rows) == (2, True)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1, 70000], "b": ["x", "y"]}, "Edge, rows[1], column `a`: expected bit<16> (0 to 65535), found 70000"),
        ({"a": [1, None], "b": ["x", "y"]}, "Edge, rows[1], column `a`: expected bit<16>, found None"),
        ({"a": [1.5, 2.0], "b": ["x", "y"]}, "Edge, rows[0], column `a`: expected bit<16>, found 1.5"),
        ({"a": [True, False], "b": ["x", "y"]}, "Edge, rows[0], column `a`: expected bit<16>, found True"),
        ({"a": [1, 2], "b": [1, 2]}, "Edge, rows[0], column `b`: expected string, found 1"),
        ({"a": [1, 2], "c": ["x", "y"]}, "Edge: expected columns (a, b), found (a, c)"),
    ],
)
def test_misfits_are_told(columns: dict[str, list[Any]], message: str) -> None:
    with pytest.raises(DataError) as caught:
        read_table(pa.table(columns), EDGE, PLAIN)
    assert str(caught.value) == message


def test_a_float_column_of_whole_numbers_is_refused_for_integers() -> None:
    with pytest.raises(DataError, match=r"expected bit<16>, found 2\.0"):
        read_table(pa.table({"a": [2.0], "b": ["x"]}), EDGE, PLAIN)
