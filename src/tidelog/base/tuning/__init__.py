"""Thresholds: the constants by which engines, the planner and sessions choose how to compute something.

* `thresholds`: what a threshold is, and one drawn at random for tests, whose comparisons are noted.
* `table`: all of them, `Tuning`, with the values in use. By who compares with them:
* `columnar`, `rounds`, `updates`: the columnar engine, its small rounds and threads; budgets, closures, compiling;
* `plans`, `spark`, `files`: planning, traces and tuples; Spark; rows, files and pipelines of sessions.
"""
