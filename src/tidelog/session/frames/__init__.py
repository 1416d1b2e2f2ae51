"""Rows in every form a user has them, checked. Imports no other room of `session`.

* `rows`: from lists, dictionaries, frames and tables to tuples of values.
* `tabular`: rows of typed columns as users look at them.
* `arrow`, `structured`: relations as Arrow tables; structures in Spark DataFrames.
"""
