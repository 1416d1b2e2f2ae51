"""What can go wrong in a cluster, each played in a process of its own; `tests/run/spark/test_faults.py` runs them.

| file | on | what fails |
| --- | --- | --- |
| `tasks` | `local[2,4]` | a task fails once; a Python worker exits |
| `memory` | the same | nothing, but the state is larger than the memory for it, and than what may go to the driver |
| `executor` | `local-cluster[2,1,1024]` | tasks and workers; executors are killed by their process ids |
| `driver` | both | the driver is killed before it commits, and before Spark notes the batch, which comes again |
"""
