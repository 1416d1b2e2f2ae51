"""The table of array functions that the engine is built on, in numpy and compiled. Imports `kernels`.

* `table`: sort, unique, merge, ranges, expand, anti-join, intersect, scatter, gather; numpy defines, kernels compute.
* `narrow`: the same for codes from a small range; `tally`: counting derivations.
"""
