"""`saved`: commits in files, which outlive executors."""
