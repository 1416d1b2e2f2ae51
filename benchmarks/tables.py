"""Numbers as text, and rows of them as a table."""

from __future__ import annotations

from collections.abc import Sequence


def seconds(value: float | None) -> str:
    """Show a time with three digits that mean something.

    >>> seconds(0.01234), seconds(12.34), seconds(None)
    ('12.3 ms', '12.3 s', '-')
    """
    if value is None:
        return "-"
    if value < 0.001:
        return f"{value * 1e6:.0f} us"
    if value < 1:
        return f"{value * 1e3:.3g} ms"
    return f"{value:.3g} s" if value < 1000 else f"{value:.0f} s"


def megabytes(value: float | None) -> str:
    """Show a size of memory."""
    return "-" if value is None else f"{value / 1e6:.0f} MB"


def ratio(value: float | None) -> str:
    """Show how many times."""
    return "-" if value is None else f"{value:.2f}x" if value < 10 else f"{value:.0f}x"


def count(value: int | None) -> str:
    """Show a number of things."""
    return "-" if value is None else f"{value:,}"


def table(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows under a heading, the first column to the left and all others to the right.

    >>> print(table(("who", "time"), [("a", "1 s"), ("bcd", "10 s")]))
    who  time
    a     1 s
    bcd  10 s
    """
    lines = [heading, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heading))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
