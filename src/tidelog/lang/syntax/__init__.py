"""The syntax tree: what the user wrote, faithfully, and nothing about what it means.

The parser and the Python builder make it, the formatter prints it, `logic` gives it meaning. A closed sum of frozen,
slotted dataclasses with tuples; `span` takes no part in equality, so two texts that differ only in layout have equal
trees. Patterns are written in the expression language (DDlog's rule), so they are `Expr` here; `logic` tells which
expressions are patterns.

In three files: `expressions` (with types and patterns), `rules`, `declarations`; `walk` walks expressions and types.
"""

from __future__ import annotations

from tidelog.lang.syntax.declarations import *  # noqa: F403  (one form in three files)
from tidelog.lang.syntax.expressions import *  # noqa: F403
from tidelog.lang.syntax.rules import *  # noqa: F403
