"""Arguments of the wrong kind are refused where they are given, with what was expected, before they do harm."""

from __future__ import annotations

from tidelog.session.misfit import brief


def expect(value: object, kinds: type | tuple[type, ...], name: str, expected: str) -> None:
    """Raise `TypeError` if an argument is not of one of these kinds.

    >>> expect(3, str, "engine", "a name")
    Traceback (most recent call last):
    ...
    TypeError: engine: expected a name, found 3
    """
    if not isinstance(value, kinds):
        raise TypeError(f"{name}: expected {expected}, found {brief(value)}")
