"""The codes of the mistakes that planning finds."""

from __future__ import annotations

CODES: dict[str, str] = {
    "E0601": "a relation depends on its own negation",
    "E0602": "a relation depends on an aggregate over itself",
}
