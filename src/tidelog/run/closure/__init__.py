"""Closures in structures of their own: what the nodes of a graph reach, in far less work than one step a derivation.

* `reach`: components, rows of bits, searches and union-find; which of them suits a graph.
* `pairs`: a set of pairs held as rows, counted without being written, and written in order.
* `held`: rows kept true while edges come and go, and what that changes.
* `generations`: pairs of nodes that steps lead on from, side by side.
* `functions`: which form of the functions on graphs is used: `plain`, their definition, or `kernels`, compiled.

`plan.closures.recognise` recognises the strata that are closures. The engines number the values of theirs as nodes.
"""
