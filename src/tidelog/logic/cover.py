"""What is asked at the end of inference: whether patterns fit every value of a type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tidelog.base.expr import Pattern
from tidelog.base.span import Span
from tidelog.base.types import Type


@dataclass(frozen=True, slots=True)
class Cover:
    """Patterns, with their places, that must fit every value of a type; `what` is the construct they belong to."""

    type: Type
    patterns: tuple[Pattern, ...]
    spans: tuple[Span, ...]
    span: Span
    what: Literal["match", "for", "var"]
