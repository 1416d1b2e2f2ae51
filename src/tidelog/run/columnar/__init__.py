"""The in-process engine: typed columns as codes, packed rows in sorted batches, compiled kernels.

The rooms, each of which imports only those before it:

* `kernels`, `arrays`: compiled array functions, and the table of them. `functions`: the table in use.
* `storage`: relations. `rules`: evaluating one rule. `support`: from derivations to tuples.
* `machine`: small rounds by a virtual machine. `closures`: strata that are closures.
* `store`: the relations of a program and the operations the maintenance algorithms use; `facts`: changing stored facts;
  `foreseen`: sizes of heads.
* `engine`, `equipment`: `ColumnarEngine`, what a session drives, and what it lends each update.
"""
