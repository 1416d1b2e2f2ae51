"""Rows in every form a user has them, checked. Imports no other room of `session`.

* `rows`: from lists, dictionaries, frames and tables to tuples of values; `misfit`: what does not fit, and where.
* `plain` (`plain_read`, `plain_write`): values as plain Python objects, and back.
* `tabular`: rows of typed columns as users look at them.
* `arrow`, `structured`: relations as Arrow tables; structures in Spark DataFrames.
"""
