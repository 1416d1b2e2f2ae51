from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tidelog
from tests.session.strategies import DEFINITIONS
from tidelog.base import types as t
from tidelog.base.errors import DataError
from tidelog.base.plain.plain import Plain
from tidelog.base.tuning.table import DEFAULT
from tidelog.base.types import UNIT, Field, Named
from tidelog.base.values import Variant
from tidelog.plan.nodes import Relation
from tidelog.session.frames.rows import NumberRows, RowReader

EDGE = Relation("Edge", "input", (Field("a", t.Bit(16)), Field("b", t.STRING)), UNIT)
READER = RowReader.of(EDGE, Plain(DEFINITIONS))
MANY = DEFAULT.rows.array_rows

Pair = namedtuple("Pair", "b a")  # noqa: PYI024  (what users have)


@dataclass
class Edge:
    b: str
    a: int


@pytest.mark.parametrize(
    "row", [(1, "x"), [1, "x"], {"b": "x", "a": 1}, Edge("x", 1), Pair(1, "x"), Variant("Edge", 0, (1, "x"))], ids=repr
)
def test_forms_of_a_row(row: Any) -> None:
    reader = READER
    if isinstance(row, Variant):
        reader = RowReader.of(Relation("Edge", "input", EDGE.columns, Named("Edge")), Plain(DEFINITIONS))
    assert reader.read([row]) == [(1, "x")]


def test_rows_may_come_from_a_generator() -> None:
    assert READER.read((i, "x") for i in range(2)) == [(0, "x"), (1, "x")]
    assert READER.read({(1, "x")}) == [(1, "x")]
    assert READER.read([]) == []


def test_proper_rows_are_taken_as_they_are() -> None:
    rows = [(1, "x"), (2, "ü")]
    assert READER.read(rows) == rows
    assert next(iter(READER.read(rows[:1]))) is rows[0]


def test_a_relation_without_columns() -> None:
    reader = RowReader.of(Relation("Go", "input", (), UNIT), Plain({}))
    assert reader.read([()]) == [()]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(1, "x"), (1 << 16, "x")], "Edge, rows[1], column `a`: expected bit<16> (0 to 65535), found 65536"),
        ([(1, "x"), (-1, "x")], "Edge, rows[1], column `a`: expected bit<16> (0 to 65535), found -1"),
        ([(1, 2)], "Edge, rows[0], column `b`: expected string, found 2"),
        ([(True, "x")], "Edge, rows[0], column `a`: expected bit<16>, found True"),
        ([(1, "x", 2)], "Edge, rows[0]: expected (a: bit<16>, b: string), found (1, 'x', 2)"),
        (["ax"], "Edge, rows[0]: expected (a: bit<16>, b: string), found 'ax'"),
        ([{"a": 1}], "Edge, rows[0]: column `b` is missing in {'a': 1}"),
        (
            [{"a": 1, "b": "x", "bb": 2}],
            "Edge, rows[0]: there is no column `bb` in (a: bit<16>, b: string); did you mean `b`?",
        ),
        ((1, "x"), "Edge, rows[0]: expected (a: bit<16>, b: string), found 1"),
        ({"a": 1, "b": "x"}, "Edge: expected rows, found {'a': 1, 'b': 'x'}; one row is written [row]"),
        (7, "Edge: expected rows, found 7"),
    ],
)
def test_misfits_are_told(rows: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        READER.read(rows)
    assert str(caught.value) == message


NUMBERS = Relation("N", "input", (Field("a", t.Bit(63)), Field("b", t.Signed(8))), UNIT)


def test_many_rows_of_numbers_are_an_array_as_well() -> None:
    rows = [(2**63 - 1 - i, i - 100) for i in range(MANY)]
    read = RowReader.of(NUMBERS, Plain(DEFINITIONS)).read(rows)
    assert isinstance(read, NumberRows)
    assert list(read) == rows
    assert len(read) == len(rows)
    assert rows[3] in read
    assert (1, 1) not in read
    assert np.asarray(read).tolist() == [list(row) for row in rows]
    assert np.asarray(read, float)[0].tolist() == [float(2**63 - 1), -100.0]


@pytest.mark.parametrize("bad", [(True, 1), (1.0, 1), (1, 128), (-1, 1), (2**63, 1), (1,), (2**70, 1), "xy"], ids=repr)
def test_one_misfit_among_many_is_told_as_it_is_alone(bad: Any) -> None:
    reader = RowReader.of(NUMBERS, Plain(DEFINITIONS))
    with pytest.raises(DataError) as alone:
        reader.read([bad])
    with pytest.raises(DataError) as among:
        reader.read([*[(1, 1)] * MANY, bad])
    assert str(among.value) == str(alone.value).replace("rows[0]", f"rows[{MANY}]")


def test_numbers_of_several_kinds_arrive() -> None:
    db = tidelog.Database("input relation N(a: bit<63>, b: i8)  output relation M(a: bit<63>)  M(a) :- N(a, -1).")
    with db.transaction() as tx:
        tx.insert("N", [(2**63 - 1 - i, -(i % 2)) for i in range(MANY)])
    assert sorted(db.relation("M").rows()) == sorted((2**63 - 1 - i,) for i in range(1, MANY, 2))


def test_arrays_of_numpy() -> None:
    db = tidelog.Database("input relation R(a: u8, b: signed<16>)  input relation T(t: string, n: u8)")
    with db.transaction() as tx:
        tx.insert("R", np.array([[1, -2], [3, 4]]))
        tx.insert("R", np.arange(200, dtype=np.int64).reshape(100, 2))
        tx.insert("T", np.array([["a", 1], ["b", 2]], dtype=object))
        with pytest.raises(DataError, match=r"rows\[0\], column `a`: expected bit<8>"):
            tx.insert("R", np.array([[300, 1]]))
        with pytest.raises(DataError, match=r"expected \(a: bit<8>, b: signed<16>\)"):
            tx.insert("R", np.array([[1, 2, 3]]))
    assert len(db["R"]) == 102
    assert db["T"].rows() == [("a", 1), ("b", 2)]
    assert np.array_equal(np.array(db["R"].where(a=2).to_numpy()), [[2, 3]])
