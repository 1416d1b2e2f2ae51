"""Distributed: relations are DataFrames, rules are queries; whole strata run inside executors where they decompose.

The rooms, each of which imports only those before it:

* `cluster`: the session, its jobs and workers. `frames`: tuples as DataFrames. `rules`: rules as queries.
* `durability`: commits that outlive executors. `partitions`: strata by the columnar engine inside executors.
* `store`: the relations of a program and the algorithms' operations, a job a round.
* `engine`: `SparkEngine`, what a session drives; small programs stay on the driver.

Nothing outside this folder imports PySpark.
"""
