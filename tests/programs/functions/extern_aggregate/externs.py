"""The median as an aggregate that sees derivations."""

from statistics import median_low

from tidelog.base.extern import Externs
from tidelog.base.values import Group

EXTERNS = externs = Externs()


@externs.register("median")
def median(group: Group) -> int:
    """Return the middle one of all values, each as often as it was derived."""
    values: list[int] = [value for value, weight in group.members for _ in range(weight)]
    return median_low(values)
