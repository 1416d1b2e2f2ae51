"""Circuits of incremental operators. Imports `zsets`.

* `clock`: the times of a loop in a loop. `operators`: the incremental operators.
* `circuit`: circuits with loops, to build and step; `draw`: to see.
* `build`: what is checked while a circuit is built.
* `tagged`: several Z-sets on one wire.
"""
