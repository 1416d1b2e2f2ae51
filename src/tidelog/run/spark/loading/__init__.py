"""Stored facts. Imports `frames` and `rules`.

* `facts`: which of those given are new, which of those taken were there.
* `loads`: those that are kept in parcels for the one stratum that reads them.
"""
