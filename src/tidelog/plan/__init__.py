"""How to compute a program: strata, join plans, delta variants, index choice. Imports `base` and `logic`.

* `nodes`: the algebra and the plan, which is all that engines see; `lazy`: its sequences.
* `passes`: from a program to a plan, in order; `stratify`.
* `bounds`: minima and maxima in recursion. `demand`: of some relations only what is asked for.
* `join`: one rule in algebra, its orders and delta variants. `rewrite`: rules before it, and backwards.
* `closures`: kinds of recursion that engines know a better way for. `show`: plans for people and tools.
"""
