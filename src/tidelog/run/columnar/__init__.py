"""The in-process engine: typed columns as codes, packed rows in sorted batches, compiled kernels.

| file | what |
| --- | --- |
| `engine` | `ColumnarEngine`: what a session drives |
| `store` | the relations of a program and the operations the maintenance algorithms use |
| `pipeline`, `join` | evaluating one rule: bindings through joins to head tuples |
| `aggregate` | groups and their reductions |
| `scalars`, `vectors` | expressions on whole columns |
| `closures`, `operators` | expressions value by value |
| `relation` | sorted batches of packed rows in several orders |
| `table`, `layout`, `encode`, `rows` | bindings; columns side by side in words; values as codes; rows in and out |
| `arrays`, `kernels/` | the table of array functions, and its compiled form |
"""
