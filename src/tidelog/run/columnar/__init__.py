"""The in-process engine: typed columns as codes, packed rows in sorted batches, compiled kernels.

The rooms, each of which imports only those before it:

* `kernels`, `arrays`: compiled array functions, and the table of them. `functions`: the table in use.
* `storage`: relations. `facts`: changing stored facts.
* `store`: what all who work on a program's relations in one update share; `cost`: work in units.
* `rules`: evaluating one rule. `support`: from derivations to tuples.
* `machine`: small rounds by a virtual machine. `backend`: the operations that the maintenance algorithms use.
* `closures`: strata that are closures.
* `engine`, `equipment`: `ColumnarEngine`, what a session drives, and what it lends each update.
"""
