"""A value that does not fit a type: where in the value, what was expected, what was found."""

from __future__ import annotations

from tidelog.base.arguments import brief


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
