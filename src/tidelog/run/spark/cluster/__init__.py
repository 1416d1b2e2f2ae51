"""The cluster: `session` and `java` start Spark, `jobs` groups and cancels jobs, `daemon` forks its Python workers.

`explain` says in a sentence what Spark says in pages. `memory` is what one Python worker may take.
"""
