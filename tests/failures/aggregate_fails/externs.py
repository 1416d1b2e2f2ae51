"""A median that needs three values."""

from tidelog.base.extern import Externs
from tidelog.base.values import Group

externs = Externs()


@externs.register("middle")
def middle(group: Group) -> int:
    """Return the middle of three values."""
    if len(group.members) != 3:
        raise ValueError("three values are needed")
    value: int = group.members[1][0]
    return value
