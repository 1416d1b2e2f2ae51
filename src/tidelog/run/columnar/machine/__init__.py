"""A virtual machine for small rounds: rules compiled to instructions, run by one kernel over registers and relations.

* `instructions`, `program`: join plans as instructions with operands; the program of a stratum.
* `inputs`, `workbench`: what a call reads and the memory it works in. `small_rounds`: a call, and its results.
* `kernels/`: the interpreter of instructions, compiled.
"""
