"""What is worth knowing about a folder of facts although it is no mistake."""

from __future__ import annotations

from dataclasses import field

from tidelog.base.record import record


@record
class Remarks:
    """`warnings` may well be a mistake, such as a file that no relation reads; `notes` are things to know."""

    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
