"""Asking a database. Imports `frames`.

* `index`: the indexes that a program declares.
"""
