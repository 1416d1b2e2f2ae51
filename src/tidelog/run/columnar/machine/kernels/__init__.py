"""The interpreter of the virtual machine, compiled. Imports numpy, numba and `columnar.kernels`.

* `rounds`: the loop; `gaining`, `losing`: rounds in which tuples become true, or false.
* `deriving`: one instruction after the other for all bindings; `proving`: rules backwards, to the first derivation.
* `searching`: rows of batches, many keys at a time.
* `state`: what it works on, by name; `operands`: what stands where in an instruction.
"""
