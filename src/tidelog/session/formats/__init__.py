"""Rows in files. Imports `frames`.

* `files`: which file belongs to which relation; `mistakes`: what is wrong with a file, collected.
* `delimited`, `delimited_arrow`: CSV and tab-separated text, small and large; `jsonlines`, `parquet`.
* `notation`: values in JSON by their type.
"""
