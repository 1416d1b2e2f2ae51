"""What an engine lends the store of each update."""

from __future__ import annotations

from tidelog.base.record import record
from tidelog.run.columnar.encode import Codec
from tidelog.run.columnar.ordering import Orders
from tidelog.run.columnar.scalars import Scalars
from tidelog.run.contract import Support


@record
class Equipment:
    """What an engine keeps from one update to the next besides its relations."""

    codec: Codec
    scalars: Scalars
    orders: Orders
    support: Support
    divided: bool | None
    """Whether `elastic` looks for tuples that left with its filter divided; None: where less work is expected."""
    bare: frozenset[str] = frozenset()
    """Relations whose tuples have no support, whatever others have."""
