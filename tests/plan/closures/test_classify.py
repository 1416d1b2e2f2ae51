"""The columns by which a recursive stratum falls apart."""

from __future__ import annotations

import pytest

from tests.plan.small import plan
from tidelog.plan.closures.classify import decompositions, recursive_scans
from tidelog.plan.nodes import Stratum

BASE = "T(x, y) :- E(x, y).\n"


def last(text: str) -> Stratum:
    return plan(text).strata[-1]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ("", []),
        ("T(x, z) :- T(x, y), E(y, z).", [{"T": 0}]),
        ("T(x, z) :- E(x, y), T(y, z).", [{"T": 1}]),
        ("T(x, z) :- T(x, y), T(y, z).", []),
        ("T(x, z) :- T(x, y), E(y, z).\nT(x, z) :- E(x, y), T(y, z).", []),
        ("T(x, y) :- T(y, x).", []),
        ("T(x, y) :- T(x, y), E(x, y).", [{"T": 0}, {"T": 1}]),
        # Same generation keeps no column.
        ("T(x, y) :- E(a, x), T(a, b), E(b, y).", []),
        # Computed and constant columns are not copies.
        ("T(x + 1, y) :- T(x, y).", [{"T": 1}]),
        # Through two relations, by another column in each.
        ("S(z, x) :- T(x, y), E(y, z).\nT(x, y) :- S(y, x), E(x, y).", [{"T": 0, "S": 1}, {"S": 0, "T": 1}]),
        (
            "S(z, x) :- T(x, y), E(y, z).\nT(x, y) :- S(y, x), E(x, y).\nT(x, y) :- T(x, z), E(z, y).",
            [{"T": 0, "S": 1}],
        ),
    ],
)
def test_decompositions(rules: str, expected: list[dict[str, int]]) -> None:
    found = decompositions(last(BASE + rules))
    if "S(" not in rules:
        assert list(found) == expected
    else:
        assert found[0] in expected


def test_every_decomposition_is_real() -> None:
    stratum = last(BASE + "S(z, x) :- T(x, y), E(y, z).\nT(x, y) :- S(y, x), E(x, y).")
    assert decompositions(stratum)
    for columns in decompositions(stratum):
        for rule in stratum.rules:
            for scan in recursive_scans(rule, stratum):
                assert rule.body.expressions[columns[rule.head]] == scan.terms[columns[scan.relation]]
