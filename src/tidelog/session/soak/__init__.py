"""Random programs and histories, and a database followed through them.

* `spec`: programs as data, which know their text; `draw` draws them. `histories` lets facts and rules change; `looks`:
  what a history looks at and does beside committing.
* `brute`: evaluates programs by brute force, sharing nothing with the engines.
* `settings`: engine, strategy, thresholds for a history; `following`: goes through it on two engines at once.
* `sized`: histories of many rows, compared with DuckDB.
* `soak`: follows many, `processes` in several processes; `shrink`: a failing history, as small as possible; `poison`:
  fills arrays that nobody has written.
"""
