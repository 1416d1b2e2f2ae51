"""Asking a database. Imports `frames`, `program`.

* `goal`: goals, checked and planned as a rule more; `answers`: their rows.
* `index`: the indexes that a program declares. `tables`: rows by some of their columns, for engines without indexes.
"""
