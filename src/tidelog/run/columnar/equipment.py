"""What an engine lends the store of each update."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidelog.base.record import record
from tidelog.base.tuning.table import Tuning
from tidelog.plan.closures.split_modules import ClosureRule
from tidelog.run.closure.functions import Functions, functions_of
from tidelog.run.columnar.functions import Arrays, arrays_of
from tidelog.run.columnar.rules.ordering import Orders
from tidelog.run.columnar.rules.scalars import Scalars
from tidelog.run.columnar.storage.dictionary import Codec
from tidelog.run.contract.module import Module
from tidelog.run.contract.phase import Support


@record
class Tools:
    """A table of thresholds, and functions on arrays and on graphs that choose by it."""

    tuning: Tuning
    arrays: Arrays
    functions: Functions

    @staticmethod
    def of(tuning: Tuning) -> Tools:
        """Return the tools for a table of thresholds."""
        return Tools(tuning, arrays_of(tuning), functions_of(tuning))


@record
class Equipment:
    """What an engine keeps from one update to the next besides its relations."""

    tools: Tools
    codec: Codec
    scalars: Scalars
    orders: Orders
    support: Support
    divided: bool | None
    """Whether `elastic` looks for tuples that left with its filter divided; None: where less work is expected."""
    closing: Callable[[ClosureRule, Any], Module]
    """What makes the module of a closure's rule, given the store."""
    bare: frozenset[str] = frozenset()
    """Relations whose tuples have no support, whatever others have."""
    modules: frozenset[str] = frozenset()
    """Relations that closures among other rules make: no other rule derives them."""
