"""The table of thresholds: each has a reason and can be drawn, and the environment can change some."""

from __future__ import annotations

from random import Random

import pytest

from tidelog.base.tuning.table import DEFAULT, Tuning, all_paths, all_thresholds, in_use
from tidelog.base.tuning.thresholds import Paths

THRESHOLDS = [pytest.param(one, id=name) for name, one in all_thresholds()]


@pytest.mark.parametrize("one", THRESHOLDS)
def test_a_threshold_can_be_drawn(one) -> None:  # type: ignore[no-untyped-def]
    about = one.metadata
    assert about["fitted"], "the benchmark it was fitted on, or `none` and why"
    assert about["draws"]
    assert one.default not in about["draws"]
    assert len(set(about["draws"])) == len(about["draws"])
    assert all(type(value) is type(one.default) for value in about["draws"])


def test_a_drawn_table_has_values_of_each_threshold() -> None:
    paths = Paths()
    tables = [Tuning.drawn(Random(seed), paths) for seed in range(40)]
    for name, one in all_thresholds():
        part, _, field = name.partition(".")
        values = {getattr(getattr(table, part), field) for table in tables}
        assert values == {*one.metadata["draws"], one.default}, name
    assert not paths.taken, "to draw is not to compare"


def test_every_threshold_has_paths() -> None:
    paths = all_paths() | all_paths(elsewhere=True)
    assert {name for name, _ in paths} == {name for name, _ in all_thresholds()}
    assert ("closures.sample", "under") in paths
    assert ("sorting.insertion", "= 3") in paths


def test_the_environment_says_from_where_on_kernels_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TIDELOG_COMPILE_AT", raising=False)
    assert in_use() == Tuning()
    monkeypatch.setenv("TIDELOG_COMPILE_AT", "7")
    assert (in_use().compiling.rows, in_use().compiling.edges) == (7, 7)
    monkeypatch.setenv("TIDELOG_COMPILE_AT", "never")
    with pytest.raises(ValueError, match="TIDELOG_COMPILE_AT should be a number of rows, and is 'never'"):
        in_use()


def test_a_table_can_have_other_values() -> None:
    other = DEFAULT.having({"joins.few": 0, "joins.tiny": 1, "sorting.apart": 3})
    assert (other.joins.few, other.joins.tiny, other.sorting.apart) == (0, 1, 3)
    assert other.joins.matches == DEFAULT.joins.matches
    assert DEFAULT.joins.few == 64


def test_a_product_with_a_float_is_noted() -> None:
    paths = Paths()
    worth = paths.drawn("worth", 2)
    assert worth * 1.5 < 4.0
    assert worth * 1.5 > 2.0, "the threshold stands on the left: a float knows integers, and asks nobody"
    assert set(paths.taken) == {("worth", "over"), ("worth", "under")}
