"""Facts that a writer gives. Imports `frames` and `program`.

* `pending`: what an open transaction would do to the facts of a relation. `reading`: what users give,
  checked. `keys`: primary keys, and rows by them. `passing`: what passes with a commit, of streams and of the past.
"""
