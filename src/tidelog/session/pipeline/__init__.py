"""A data pipeline on Spark: tables in, a program kept true over them, results or signed changes out.

`config` reads the file that describes it, and `paths` checks where its sinks go; `state` keeps what was committed, a
version a commit; `reading` and `writing` are its two ends in Spark; `run` makes versions (`facts` fills
their transactions, `revise` brings in an edited program, `effect` tells what changed), and `watch` makes one for each
batch of `files` that arrives.
"""
