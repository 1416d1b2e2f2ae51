"""Sinks: the rows of a relation, or the signed changes of each version, so that they agree with the versions.

An `output` is what a sink gets: a table on the driver, or a frame in Spark; what a row is depends on the sink's mode
(`shapes`). It is first written where nobody sees it (`staging`), then the version is committed, then it is published,
by one step that can be done again. The `ways` to do so differ: a folder takes its place (`exchange`), a table of Delta
Lake gets a commit with the version as transaction number (`tables`), a database gets what it has not got (`remote`). A
`journal` remembers what is under way, so that the next start ends it, or undoes it if the version was not committed.
`writing` is how the driver writes small files, as Spark would.
"""
