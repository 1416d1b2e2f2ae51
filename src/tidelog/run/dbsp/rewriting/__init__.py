"""What the interpreter's circuit does with rules: rewrites in columns, and their operators. Imports `circuits`.

* `kit`: what rules say to the interpreter: steps, directions, signals, join orders. `parts`: rewrites in columns.
* `rewrites`: facts and rewrites so far, arranged for look-ups, and which of them go along a direction.
* `product`, `ground`, `aggregates`: rewrites extended by facts; those that become facts; groups.
"""
