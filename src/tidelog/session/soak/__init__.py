"""Random programs and histories, and a database followed through them.

* `spec`: programs as data, which know their text; `grow` makes them, `histories` lets facts and rules change.
* `looks`: what a history looks at and does beside committing.
* `closures`, `graphs`: programs of closures, and well-known ones over graphs; `families` draws from all of these.
* `brute`: evaluates them by brute force, sharing nothing with the engines.
* `settings`: engine, strategy, thresholds for a history; `following`: goes through it on two engines at once.
* `sized`: programs over many rows, also as SQL; `oracle`: DuckDB; `at_size`: a history compared with it.
* `soak`: follows many, `processes` in several processes; `shrink`: a failing history, as small as possible; `poison`:
  fills arrays that nobody has written.
"""
