"""What a scan sees in each phase of an update: the columnar engine's views, which this engine's relations share."""

from tidelog.run.columnar.phases import AFTER, BEFORE, DELETED, INSERTED, MIDDLE, delta_below, view_below, view_own

__all__ = ["AFTER", "BEFORE", "DELETED", "INSERTED", "MIDDLE", "delta_below", "view_below", "view_own"]
