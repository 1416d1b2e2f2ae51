"""Strata that are closures, evaluated by `run.closure`. Imports `rules` and `storage`.

* `claim`: which strata, and how they follow changes. `closed`: one closure; `generations`: same generation.
* `price`: what rules would cost in the place of a structure, so that one gives way to the other.
* `modules`: closures among other rules, by the functions of modules; `replaced`: the module of rules that replace
  equals; `edges`, `answers`: what these know of facts, and how they answer.
* `nodes`, `fed`, `paired`: values as numbered nodes, what feeds a closure, pairs of nodes as tuples.
"""
