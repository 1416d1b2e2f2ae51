"""A data pipeline: tables in, a program kept true over them, results or changes out, on Spark where they are large.

`config` reads the file that describes it, with `parameters`; `places` are where its paths lead, and `paths` checks
those of sinks. `state` keeps what was committed, a version a commit; `sources` reads what comes in, and `sinks` sends
results out; `told` names the source or sink of an error. `databases` opens a version, in this process or on Spark.
`run` makes versions (`facts` fills their transactions, `revise` brings in an edited program, `effect` tells what
changed).
"""
