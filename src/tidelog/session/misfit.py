"""A value that does not fit a type: where in the value, what was expected, what was found."""

from __future__ import annotations

from tidelog.base.integers import show_integer


class Misfit(Exception):  # noqa: N818  (always caught here and told as a DataError with its place)
    """A value does not fit a type; `path` leads to it from the outermost value."""

    def __init__(self, expected: str, found: object, path: str = "") -> None:
        super().__init__(expected, found, path)
        self.expected = expected
        self.found = found
        self.path = path

    def inside(self, step: str) -> Misfit:
        """Return the same misfit as seen from the value that holds it."""
        return Misfit(self.expected, self.found, step + self.path)

    def __str__(self) -> str:
        place = f" at {self.path}" if self.path else ""
        return f"expected {self.expected}{place}, found {brief(self.found)}"


def brief(value: object, limit: int = 80) -> str:
    """Return a value's repr, cut to a length that fits a message."""
    try:
        shown = repr(value)
    except Exception:  # noqa: BLE001  (an integer of some thousand digits, or somebody else's class)
        shown = show_integer(value) if isinstance(value, int) else object.__repr__(value)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."
