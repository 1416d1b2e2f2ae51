"""The state of a pipeline: tables of Delta Lake that are read and written without a session of Spark.

`log` is one such table: files, and the log that says which belong to it. `versions` is the table of versions, whose
rows are the commit points; `facts` keeps input relations as a base and signed changes, in columns that `cells` makes,
also Spark those of times and what may be null (`structured`). `carried` takes over the folder that Tidelog wrote before
there were tables.
"""
