"""A function that does not know how small its result must be."""

from tidelog.base.extern import Externs

externs = Externs()


@externs.register("square")
def square(x: int) -> int:
    """Return the square of a number."""
    return x * x
