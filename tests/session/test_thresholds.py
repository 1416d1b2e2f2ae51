"""Rows in and out give the same facts, or the same mistakes, whichever way the thresholds of the table choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.session.formats.test_files import PLAIN, arrow_contents, cells, contents, relation, text_of
from tests.session.strategies import DEFINITIONS
from tidelog.base import types as t
from tidelog.base.errors import DataError
from tidelog.base.plain.plain import Plain
from tidelog.base.tuning.table import Tuning, all_paths
from tidelog.base.tuning.thresholds import Paths
from tidelog.base.types import Type
from tidelog.plan.nodes import Relation
from tidelog.run.contract.engine import Row
from tidelog.session.formats.delimited import COMMA, FACTS, TAB, read_rows
from tidelog.session.formats.files import read_facts, write_outputs
from tidelog.session.formats.jsonlines import read_jsonlines
from tidelog.session.frames.arrow import make_table
from tidelog.session.frames.rows import RowReader

SIMPLE: list[Type] = [t.STRING, t.Bit(8), t.Signed(8), t.Bit(64), t.BOOL, t.DOUBLE, t.BIGINT]
TEXTS = {".csv": COMMA, ".tsv": TAB, ".facts": FACTS}
seeds = st.integers(0, 1 << 30)
AGAIN = settings(derandomize=True, max_examples=200)
"""The same examples each time: all paths must be among those that they take."""


def outcome(work: Callable[[], Any]) -> Any:
    """What some work gives: rows, in order, or the text of a mistake."""
    try:
        return list(work())
    except DataError as error:
        return str(error)


def missing(part: str, paths: Paths) -> set[tuple[str, str]]:
    every = all_paths() | all_paths(elsewhere=True)
    return {path for path in every if path[0].startswith(part)} - paths.taken.keys()


@st.composite
def texts(draw: st.DrawFn) -> tuple[Relation, list[list[str]]]:
    columns = draw(st.lists(st.sampled_from(SIMPLE), min_size=1, max_size=2))
    declared = relation("R", "input", **{f"c{i}": type for i, type in enumerate(columns)})
    line = st.lists(cells, min_size=len(columns), max_size=len(columns))
    return declared, draw(st.lists(st.one_of(line, st.just([f"c{i}" for i in range(len(columns))])), max_size=12))


def test_text_files(tmp_path: Path) -> None:
    """Files with anything in them, also mistakes."""
    paths = Paths()

    @AGAIN
    @given(texts(), st.sampled_from(sorted(TEXTS)), st.sampled_from(["\n", "\r\n"]), seeds)
    def check(written: tuple[Relation, list[list[str]]], ending: str, end: str, seed: int) -> None:
        declared, lines = written
        path, dialect = tmp_path / f"R{ending}", TEXTS[ending]
        path.write_bytes("".join(dialect.separator.join(line) + end for line in lines).encode())
        tuning = Tuning.drawn(Random(seed), paths)
        found = outcome(lambda: read_facts(tmp_path, {"R": declared}, PLAIN, tuning).rows["R"])
        assert found == outcome(lambda: read_rows(path, declared, PLAIN, dialect))
        path.unlink()

    check()
    assert missing("files.read_bytes", paths) == missing("files.block_bytes", paths) == set()


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Values of all types, in every format that has them."""
    paths = Paths()

    @AGAIN
    @given(st.one_of(contents(), arrow_contents()), seeds)
    def check(made: tuple[Relation, list[Row]], seed: int) -> None:
        declared, rows = made
        tuning = Tuning.drawn(Random(seed), paths)
        (path,) = write_outputs(tmp_path, {"R": rows}, {"R": declared}, PLAIN, tuning)
        assert path.read_bytes().decode() == text_of(rows, declared)
        assert set(read_facts(tmp_path, {"R": declared}, PLAIN, tuning).rows["R"]) == set(rows)
        path.unlink()
        if declared.columns:
            parquet = tmp_path / "R.parquet"
            pq.write_table(make_table(rows, declared.columns, PLAIN), parquet)
            assert list(read_facts(tmp_path, {"R": declared}, PLAIN, tuning).rows["R"]) == rows
            parquet.unlink()

    check()
    assert missing("files.written_rows", paths) == missing("files.slice_rows", paths) == set()


NUMBERS = relation("R", "input", a=t.Bit(63), b=t.Signed(8))
MIXED = relation("R", "input", a=t.Bit(63), b=t.STRING)
number = st.one_of(st.integers(0, 9), st.sampled_from([127, 128, -128, -129, 2**63 - 1, 2**63, 2**70, -1]))
odd: st.SearchStrategy[Any] = st.sampled_from([True, 1.0, None, "x", "é", (), {}])
given_rows = st.lists(st.tuples(number, st.one_of(number, odd)), max_size=5)


def forms(rows: list[tuple[Any, Any]]) -> Iterator[Any]:
    """The same rows in every form that a user may have them."""
    yield rows
    yield [list(row) for row in rows]
    yield [dict(zip("ba", reversed(row), strict=True)) for row in rows]
    yield [row if place % 2 else list(row) for place, row in enumerate(rows)]
    yield (row for row in rows)


@pytest.mark.parametrize("declared", [NUMBERS, MIXED], ids=["numbers", "mixed"])
def test_rows_in_every_form(declared: Relation) -> None:
    paths = Paths()

    @AGAIN
    @given(given_rows, seeds)
    def check(rows: list[tuple[Any, Any]], seed: int) -> None:
        plain = Plain(DEFINITIONS)
        drawn = RowReader.of(declared, plain, Tuning.drawn(Random(seed), paths).rows)
        by_rows = RowReader.of(declared, plain)
        for form, same in zip(forms(rows), forms(rows), strict=True):
            assert outcome(partial(drawn.read, form)) == outcome(partial(by_rows.read, same))

    check()
    assert not missing("rows.array_rows", paths)


def test_json_lines_are_read_in_one_way(tmp_path: Path) -> None:
    path = tmp_path / "R.jsonl"
    path.write_text('[1, -1]\n{"b": 2, "a": 3}\n' * 40)
    for seed in range(5):
        tuning = Tuning.drawn(Random(seed), Paths())
        found = read_facts(tmp_path, {"R": NUMBERS}, PLAIN, tuning).rows["R"]
        assert found == read_jsonlines(path, NUMBERS, PLAIN) == [(1, -1), (3, 2)] * 40
