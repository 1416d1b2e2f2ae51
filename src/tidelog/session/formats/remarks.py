"""What is worth knowing about a folder of facts although it is no mistake."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from tidelog.base.record import record

Header = Literal["auto", "yes", "no"]
"""Whether the first line of a text file is a header; `auto`: if it has the names of the columns."""


@record
class Remarks:
    """`warnings` may well be a mistake, such as a file that no relation reads; `notes` are things to know."""

    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
