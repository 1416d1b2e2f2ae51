"""Where files are: on this machine, or in an object store, read and written in the same way.

`addresses` qualifies every path of a pipeline once. A `place` is a folder that the driver, and `executors`, read
and write without Spark's file systems: `local` on this machine, `objects` below an address of an object store. A
`data_file` is what a footer says of a file there. `lease` lets one process at a time make versions.
"""
