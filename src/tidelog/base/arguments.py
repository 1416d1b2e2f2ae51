"""Arguments of the wrong kind are refused where they are given, with what was expected, before they do harm."""

from __future__ import annotations

from tidelog.base.text.integers import show_integer


def brief(value: object, limit: int = 80) -> str:
    """Return a value's repr, cut to a length that fits a message."""
    try:
        shown = repr(value)
    except Exception:  # noqa: BLE001  (an integer of some thousand digits, or somebody else's class)
        shown = show_integer(value) if isinstance(value, int) else object.__repr__(value)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


def expect(value: object, kinds: type | tuple[type, ...], name: str, expected: str) -> None:
    """Raise `TypeError` if an argument is not of one of these kinds.

    >>> expect(3, str, "engine", "a name")
    Traceback (most recent call last):
    ...
    TypeError: engine: expected a name, found 3
    """
    if not isinstance(value, kinds):
        raise TypeError(f"{name}: expected {expected}, found {brief(value)}")
