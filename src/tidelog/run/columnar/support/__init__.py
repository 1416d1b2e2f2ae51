"""From derivations to tuples: ranks and support kept. Imports `rules` and `storage`.

* `absorb`: counting support, finding what is new and what is lost; `lifting`: tuples moved above their rank.
* `regroup`: what changes do to aggregates. `iterations`: derivations that wait for their iteration.
* `cost`: work in units. `verify`: whether every count is right.
"""
