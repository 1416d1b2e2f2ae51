"""Tuples as DataFrames. Imports `cluster`.

* `encode`, `rows`, `frames`: values as cells; rows in and out; the user's DataFrames in and out.
* `relation`, `sets`, `named`: a relation's tuples, sets of rows in Arrow tables, columns that every round uses.
* `finish`: what a relation holds after an update.
* `checkpoint`, `internals`: computing a DataFrame once; the private classes of Spark that this uses.
* `accounts`: what jobs have read and spilled.
* `recovery`: starting again when an executor is lost.
* `grouped`: an equivalence as groups of nodes.
* `parcels`, `difference`: many tuples in one cell; what relations in parcels have gained and lost.
* `worker`: what Spark has no functions for, in its Python workers.
"""
