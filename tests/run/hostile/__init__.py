"""Programs that would take all time or all memory: `programs` has them, `child` runs some under limits."""
