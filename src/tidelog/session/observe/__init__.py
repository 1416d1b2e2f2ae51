"""What an evaluation takes. Imports no other room.

* `profile`: the work of a commit by stratum; `analyze`: by rule; `totals`: of many commits.
* `progress`: looking on while an evaluation runs.
"""
