"""Expressions and values as text, and values from text.

* `show`: typed expressions and values for people, without their types.
* `write`, `read`: values by their types, in a form that reads back.
* `terms`: terms of RDF, which are written as N-Triples do.
* `integers`: integers of any length in decimal.
"""
