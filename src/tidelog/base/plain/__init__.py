"""Values of the language as plain Python objects, and back.

* `plain`: readers and writers for the types of a program; `read` and `write` make them, by the kind of type.
* `call`: Python functions called with plain values. `misfit`: what does not fit a type, and where.
"""
