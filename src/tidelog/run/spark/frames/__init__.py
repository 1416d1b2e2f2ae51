"""Tuples as DataFrames. Imports `cluster`.

* `encode`, `rows`, `frames`: values as cells; rows in and out; the user's DataFrames in and out.
* `relation`, `sets`, `named`: a relation's tuples, sets of rows in Arrow tables, columns that every round uses.
* `checkpoint`, `recovery`: computing a DataFrame once; starting again when an executor is lost.
* `worker`: what Spark has no functions for, in its Python workers.
"""
