"""Expressions value by value, for the engines that meet values no array of numbers can hold, or no arrays at all.

* `closures`: typed expressions as Python closures; `operators`: the built-in operators on Python values.
* `failure`: an expression that failed, and how the engines tell it.

The reference engine has its own: it is what these are compared with.
"""
