"""A function that forgets that integers stay integers."""

from typing import Any

from tidelog.base.extern import Externs

externs = Externs()


@externs.register("half")
def half(x: int) -> Any:
    """Return half a number, as a float."""
    return x / 2
