"""One rule in algebra, and the orders of its joins. Imports `nodes` and `lazy`.

* `translate`, `propagate_equalities`: the definition of what a rule derives; equal variables given one name.
* `parts`, `estimate`, `order_joins`, `assemble`, `may_fail`: a body taken apart, ordered and put together again.
* `plan_rules`, `delta_variants`: each rule from scratch, and once for each atom as delta.
* `choose_indexes`: the fewest column orders that serve all probes. `spine`: walks without recursion.
"""
