"""Tidelog: typed Datalog that stays true while facts and rules change.

The folders are the pipeline, and alphabetical order is the order of data flow and of imports:

``base``     words every layer shares: spans, diagnostics, errors, types, values, graphs
``lang``     what the user wrote: grammar, syntax tree, parser, formatter
``logic``    what it means: names resolved, types checked, sugar removed, origin kept
``plan``     how to compute it: strata, join plans, delta variants
``run``      computing it: maintenance algorithms and the engines they run on
``session``  a living database: transactions, changes, sources and sinks
``shell``    faces: the command line
"""
