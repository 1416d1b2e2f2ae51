"""Rewrites of programs before they are planned, and rules evaluated backwards. Imports `join`.

* Before: `separate_facts`, `take_out_of_groups`, `isolate_aggregates`, `project_negations`.
* Backwards: `rederive` and `rediscover` find the derivations that given tuples still have.
* `overdelete`, `derive_again`: the programs of DRed as the Shapiro paper has them.
"""
