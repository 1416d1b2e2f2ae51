"""`saved`: commits in files, which outlive executors. `replay`: later rounds by the physical plan of an earlier one."""
