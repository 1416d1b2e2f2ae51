"""What a program means: names resolved, types checked, sugar removed, safe, every rule with its origin.

Imports `base` and `lang`.
"""
