"""Compiled array functions. A kernel takes arrays and returns arrays; it knows nothing of relations or rules.

Each kernel is the fast twin of a function in `run.columnar.arrays.table`, which defines it in numpy. Kernels are
generic over arity and key width, so that a new rule never compiles anything; they are compiled once, cached on disk,
and run without the interpreter lock. `sorting` sorts packed rows, `emitting` makes rows of matches, `narrow` is for
codes that spread little, `tallying` counts derivations, `words` does everything else with them. `ranks` gives ranks,
and `memory` reads and writes at addresses, also for the virtual machine (`run.columnar.machine`). Only numpy and numba
are imported here, and what compiles.
"""

HERE, LOST, DOUBTFUL = 1, 2, 3
"""What becomes of a head: it is in a batch; and has no support left; and has lost some where nobody knows how much."""
