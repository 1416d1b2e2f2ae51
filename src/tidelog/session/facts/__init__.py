"""Facts that a writer gives. Imports `frames`.

* `pending`: what an open transaction would do to the facts of a relation. `keys`: primary keys, and rows by them.
"""
