"""Evaluating one rule. Imports `storage` and `arrays`.

* `join_plan`, `evaluate`: what each step binds and makes; bindings through the steps to the head.
* `bindings`, `join`, `meeting`, `semijoin`: bindings, and how they meet relations; the step that closes a cycle.
* `ordering`: join orders from live sizes. `head_bitmap`: the tuples of a head as bits.
* `aggregate`, `groups`, `scalars`, `vectors`: groups reduced; expressions on whole columns.
"""
