"""What is asked at the end of inference: whether patterns fit every value of a type."""

from __future__ import annotations

from typing import Literal

from tidelog.base.expr import Pattern
from tidelog.base.record import record
from tidelog.base.span import Span
from tidelog.base.types import Type


@record
class Cover:
    """Patterns, with their places, that must fit every value of a type; `what` is the construct they belong to."""

    type: Type
    patterns: tuple[Pattern, ...]
    spans: tuple[Span, ...]
    span: Span
    what: Literal["match", "for", "var"]
