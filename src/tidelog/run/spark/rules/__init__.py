"""Rules as queries. Imports `frames`.

* `query`, `scalars`, `aggregate`: trees as DataFrames, expressions as Columns, reductions that Spark has.
* `absorb`: from derivations to tuples.
"""
