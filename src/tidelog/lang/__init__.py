"""What the user wrote: the syntax tree, faithful to the text, and the ways in and out of it. Imports `base`.

* `syntax`: the tree, a closed sum for each of declarations, rules, expressions and types.
* `parse`: from text to the tree, all mistakes of a text at once.
* `format`: from the tree to the canonical text, comments kept.
* `build`, `build_terms`: the same tree from Python.
* `escape`: escape sequences both ways.
"""
