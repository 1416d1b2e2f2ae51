"""Computing only what is asked for: magic sets. Imports `join`, `closures`, `stratify`.

* `choose_demanded`: which relations are computed by demand. `restrict_to_demand`: the program that computes them so.
* `adorn`: the rules of a relation of which some columns are given. `order_literals`: sideways information passing.
* `turn_closures`: closures written so that the end that is given stays.
"""
