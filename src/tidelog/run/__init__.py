"""Computing a plan: the maintenance algorithms, written once, and the engines they run on.

Imports `base` and `plan`.
"""
