"""Strata that are closures, evaluated by `run.closure`. Imports `rules` and `storage`.

* `claim`: which strata, and how they follow changes. `closed`: one closure; `generations`: same generation.
* `nodes`, `fed`, `paired`: values as numbered nodes, what feeds a closure, pairs of nodes as tuples.
"""
