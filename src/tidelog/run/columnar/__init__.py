"""The in-process engine: typed columns as codes, packed rows in sorted batches, compiled kernels.

| file | what |
| --- | --- |
| `engine`, `equipment` | `ColumnarEngine`: what a session drives, and what it lends each update |
| `store`, `absorb` | the relations of a program and the operations the maintenance algorithms use |
| `lifting` | tuples that have lost their support put where they have some |
| `cost` | what the operations cost, for whoever has to choose |
| `iterations` | derivations that wait for their iteration |
| `course`, `pipeline`, `join`, `ordering` | evaluating one rule: bindings through joins to heads, in a good order |
| `meeting` | the step that closes a cycle |
| `small_rounds`, `told`, `script`, `forms`, `workbench` | rounds of a few tuples by one kernel: what it is told, lent |
| `semijoin` | tuples without a partner left out early |
| `known`, `foreseen` | the tuples of a head as bits, where codes spread little; how many new ones there will be |
| `aggregate`, `regroup` | groups and their reductions, and what changes do to them |
| `scalars`, `vectors` | expressions on whole columns |
| `claim`, `closed`, `generations`, `nodes`, `fed`, `paired` | strata evaluated by `run.closure`, and what feeds them |
| `relation`, `batch`, `lazy` | sorted batches of packed rows in several orders; their ranks, support and journals |
| `table`, `layout`, `encode`, `rows` | bindings; columns side by side in words; values as codes; rows in and out |
| `verify` | whether every support count is right |
| `functions`, `arrays`, `narrow`, `tally` | tables of array functions, the one in use, and counting derivations |
| `kernels/` | its compiled form |
"""
