"""Circuits of incremental operators. Imports `zsets`.

* `operators`: the incremental operators. `circuit`: circuits with loops, to build and step; `draw`: to see.
* `tagged`: several Z-sets on one wire.
"""
