"""Evaluating rules. Imports `storage` and `arrays`.

* `join_plan`, `evaluate`: what each step binds and makes; bindings through the steps to the head.
* `bindings`, `join`, `meeting`, `semijoin`: bindings, and how they meet relations; the step that closes a cycle.
* `sieve`: which small deltas lead nowhere. `ordering`: join orders from live sizes.
* `head_bitmap`, `head_bitmaps`: tuples of a head as bits, of all heads.
* `aggregate`, `scalars`, `vectors`: groups reduced; expressions on whole columns.
* `bag`: what a rule derives. `deriving`: the rules of a round.
"""
