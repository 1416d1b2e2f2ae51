"""Random programs and histories, and a database followed through them.

* `spec`: programs as data, which know their text; `grow` makes them, `histories` lets facts and rules change.
* `graphs`: histories of well-known programs over larger graphs.
* `brute`: evaluates them by brute force, sharing nothing with the engines.
* `soak`: follows histories on two engines at once; `shrink`: a failing history, as small as possible.
"""
