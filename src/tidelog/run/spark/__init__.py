"""Distributed: relations are DataFrames, rules are queries; whole strata run inside executors where they decompose.

The rooms, each of which imports only those before it:

* `fit`: which ways fit, and on how many partitions, by bytes.
* `cluster`: the session, its jobs and workers. `frames`: tuples as DataFrames. `rules`: rules as queries.
* `loading`: stored facts. `durability`: commits that outlive executors.
* `store`: the relations of a program and the algorithms' operations, a job a round.
* `partitions`: strata by the columnar engine inside executors.
* `choose_way`: the one place that decides how a stratum is evaluated; `follow` does so.
* `engine`: `SparkEngine`, what a session drives; small programs stay on the driver.

Nothing outside this folder imports PySpark.
"""
