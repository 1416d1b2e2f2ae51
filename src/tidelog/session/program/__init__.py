"""Programs. Imports no other room.

* `sources`: where a text comes from. `rules`: the rules of a living database, which change.
* `standing`: goals that stay, as a part of them. `timed`: which relations change with each commit.
* `static`: what needs no database: checking, formatting, planning.
"""
