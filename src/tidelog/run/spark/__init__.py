"""Distributed: relations are DataFrames, rules are queries; whole strata run inside executors where they decompose.

| file | what |
| --- | --- |
| `engine` | `SparkEngine`: what a session drives; small programs stay on the driver |
| `store`, `absorb`, `checkpoint` | the relations of a program and the algorithms' operations, a job a round |
| `replay` | later rounds by the physical plan of an earlier one |
| `pipeline`, `scalars`, `aggregate`, `named` | rules as queries, expressions as Columns |
| `worker`, `daemon` | what Spark has no functions for, in its Python workers |
| `claim`, `seeds`, `local` | whole strata in one job, by the columnar engine |
| `spread`, `parcels`, `sets` | strata by partitions that exchange what is new; many tuples in one cell |
| `whole` | all strata that an update reaches, by one executor |
| `loads`, `difference` | facts for such strata, and their changes when they are evaluated anew, in parcels |
| `tail` | the last rounds of a long recursion, by the columnar engine on the driver |
| `saved`, `recovery` | commits in files, and starting again from them when executors are lost |
| `facts` | which facts of an update are news, and where they are kept |
| `relation`, `encode`, `rows`, `frames` | tuples as DataFrames; values as cells; rows and DataFrames in and out |
| `session`, `jobs`, `java` | the Spark session, the jobs of an update, and the Java to run on |

Nothing outside this folder imports PySpark.
"""
