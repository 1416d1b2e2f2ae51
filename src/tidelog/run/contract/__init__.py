"""The contracts: between a session and an engine, and between the maintenance algorithms and an engine's backend.

* `engine`: what a session asks of an engine, and what it gives and gets: rows, changes, limits.
* `columns`: rows as columns of values, each value once.
* `phase`: what an update is doing to a stratum (`Phase`), and what is kept of tuples (`Support`).
* `backend`: the leaf operations that every engine has which is driven by `run.maintain`.
* `module`: the four functions of a module of rules (`Module`).
* `optional`: abilities that some backends have beyond these, each a protocol of its own.
"""
