"""Strata evaluated by the columnar engine inside executors. Imports `frames` and `rules`.

* `single`, `by_key`, `exchanging`: by one executor, by a partition column, by partitions that exchange what is new.
* `local`, `seeds`, `tail`: the columnar engine at work; from given tuples; for the last rounds, on the driver.
* `parcels`, `loads`, `facts`, `difference`: many tuples in one cell; facts loaded so; stored facts; what has changed.
"""
