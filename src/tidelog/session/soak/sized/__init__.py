"""Histories of many rows.

* `programs`: programs that are also written as SQL; `oracle`: DuckDB; `at_size`: a history compared with it.
"""
