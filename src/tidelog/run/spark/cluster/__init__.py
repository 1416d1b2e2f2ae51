"""The cluster: `session` and `java` start Spark, `jobs` groups and cancels jobs, `daemon` forks its Python workers."""
