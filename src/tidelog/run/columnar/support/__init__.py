"""From derivations to tuples: ranks and support kept. Imports `rules` and `storage`.

* `counting`: what a round derives becomes new and lost tuples; `absorb`: how; `lifting`: tuples moved above their rank.
* `door`: which candidates a relation of bounds admits.
* `regroup`: what changes do to aggregates. `iterations`: derivations that wait for their iteration.
* `verify`: whether every count is right.
"""
