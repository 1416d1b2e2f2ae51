"""The doors of the library refuse what is of the wrong kind, and say what was expected."""

from collections.abc import Callable
from typing import Any

import pytest

from tidelog.dbsp import Circuit, Dyre, ZSet, read, to_dot, to_mermaid

EDGES = ZSet.of({(1, 2): 1, (2, 3): 2})
ODD: list[Any] = [None, 3, 2.5, True, b"x", [], [1], (), object(), len, {1, 2}]
TEXTS: list[Any] = ["abc", ""]
MAPPINGS: list[Any] = [{"ab": 1}, {1: 1}, {(1,): None}, {(1,): "x"}, {(1,): 1.5}]


def circuit() -> Circuit:
    made = Circuit()
    made.output("o", made.input("e", 2).distinct())
    return made


REFUSED: dict[str, tuple[Callable[[Any], object], list[Any]]] = {
    "ZSet.of": (ZSet.of, [*ODD, *TEXTS, *MAPPINGS]),
    "+": (lambda value: EDGES + value, [*ODD, *TEXTS, *MAPPINGS]),
    "-": (lambda value: EDGES - value, [*ODD, *TEXTS, *MAPPINGS]),
    "input": (lambda value: Circuit().input(value, 2), [*ODD, *MAPPINGS]),
    "columns": (lambda value: Circuit().input("e", value), [None, -1, 2.5, True, "2", [2]]),
    "output": (lambda value: circuit().output("x", value), [*ODD, *TEXTS, *MAPPINGS]),
    "step": (lambda value: circuit().step(e=value), [*ODD, *TEXTS, *MAPPINGS]),
    "push": (lambda value: Dyre().push(value), [*ODD, *MAPPINGS]),
    "retract": (lambda value: Dyre().retract(value), [*ODD, *MAPPINGS]),
    "read": (read, [*ODD, *MAPPINGS]),
    "to_dot": (to_dot, [*ODD, *TEXTS, *MAPPINGS]),
    "to_mermaid": (to_mermaid, [*ODD, *TEXTS, *MAPPINGS]),
}


@pytest.mark.parametrize("what", REFUSED)
def test_wrong_kinds_are_refused(what: str) -> None:
    act, values = REFUSED[what]
    for value in values:
        with pytest.raises(TypeError, match=r"expected|unsupported operand|can only concatenate"):
            act(value)


def test_widths_are_compared() -> None:
    with pytest.raises(ValueError, match="a Z-set of 2 columns and one of 1 cannot be added"):
        EDGES + ZSet.of({(1,): 1})
    with pytest.raises(ValueError, match="the input e has 2 columns, the change 1"):
        circuit().step(e=ZSet.of({(1,): 1}))
