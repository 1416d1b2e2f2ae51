"""Distributed: relations are DataFrames, rules are queries; whole strata run inside executors where they decompose.

Nothing outside this folder imports PySpark.
"""
