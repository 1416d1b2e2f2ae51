"""Relations that keep the least or greatest value of each key: what their rules may do, and how they are computed.

* `flow`: how an expression's value moves as bounds get better.
* `check_flow`: rules whose heads would get worse as bounds get better, as diagnostics.
* `split_bounds`: bounds as an auxiliary relation, and the best of each key read off.
"""
