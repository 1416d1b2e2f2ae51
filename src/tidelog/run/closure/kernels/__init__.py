"""Compiled functions on graphs. Each is the fast twin of the function of its name in `plain`, which defines it.

A graph is `offsets` and `targets` (the successors of u are targets[offsets[u]:offsets[u + 1]]). A *row* is the set of
nodes that some node reaches by one step or more, as bits, as a list, or as the node to search from. `place` gives the
position of a node in rows, -1 for nodes that are not wanted there, `NEVER` if besides no edge leads to them. Only numpy
and numba are imported here, and the decorator that compiles.

* `rows`: components, rows, searches, union-find, writing pairs.
* `changes`: edges that come and go, and how rows differ.
* `generations`: pairs that steps lead on from, side by side.
* `words`: bits of a word.
"""

from tidelog.run.closure.kernels.changes import altered, apart, bits_differing, bypassed, list_bits, lists_without
from tidelog.run.closure.kernels.generations import generations
from tidelog.run.closure.kernels.rows import (
    alike,
    bit_rows,
    carried,
    chained,
    components,
    count_bits,
    count_searched,
    fill_bits,
    fill_lists,
    fill_searched,
    linked,
    list_searched,
    reached,
    turned,
    united,
)

__all__ = [
    "alike",
    "altered",
    "apart",
    "bit_rows",
    "bits_differing",
    "bypassed",
    "carried",
    "chained",
    "components",
    "count_bits",
    "count_searched",
    "fill_bits",
    "fill_lists",
    "fill_searched",
    "generations",
    "linked",
    "list_bits",
    "list_searched",
    "lists_without",
    "reached",
    "turned",
    "united",
]
