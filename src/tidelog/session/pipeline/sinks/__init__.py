"""Sinks: the rows of a relation, or the signed changes of each version, so that they agree with the versions.

An `output` is what a sink gets: a table on the driver, or a frame in Spark; what a row is depends on the sink's mode
(`shapes`). It is first written where nobody sees it (`staging`), then the version is committed, then it is published,
by one step that can be done again: a folder takes its place (`place`), a table of Delta Lake gets a commit with the
version as transaction number, by `lake` if it is merged into or in an object store, a database gets what it has not got
(`remote`). A `journal` remembers what is under way, so that the next start ends it, or undoes it if the version was not
committed. `local` writes small files on the driver, as Spark would.
"""
