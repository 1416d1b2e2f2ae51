"""Rows that count as often as they are derived.

* `count_derivations`: multisets. `group_derivations`: groups in the dialect of DDlog.
"""
