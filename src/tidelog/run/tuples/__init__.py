"""The engine that compares ways to evaluate: Python tuples, with the evaluator and the index of one's choice.

| file | what |
| --- | --- |
| `engine` | `TuplesEngine`: what a session drives |
| `store`, `absorb`, `iterations` | the relations of a program and the operations the maintenance algorithms use |
| `door` | which bounds are admitted |
| `evaluator` | what evaluators are and see |
| `substitution` | the one that extends substitutions atom by atom |
| `algebra` | the one that joins sets of tuples |
| `probe`, `aggregate`, `scalars` | what both need: atoms as look-ups, groups, expressions |
| `relation` | tuples, what is kept of them, and what an update changes |
| `index` | finding rows by key: hash, sorted array, spine |
| `verify` | whether what is kept of tuples is right |
"""
