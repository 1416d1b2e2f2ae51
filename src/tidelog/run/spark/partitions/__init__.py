"""Strata evaluated by the columnar engine. Imports all rooms before it, and `store`.

* `fixpoint`: from scratch, by one partition, by a key, or by partitions that exchange what is new; `task` is what each
  does in an executor.
* `by_key`: only the pieces that a change touches.
* `components`: an equivalence that is read by groups only.
* `driver`: on the driver, all of a stratum or its last rounds.
* `local`: the columnar engine at work.
"""
