"""Sources: what a pipeline reads, checked value by value.

Tables are read by `reading` in Spark, whose values `values` converts into those of the language, or by `reading_here`
in this process. Files of RDF are read by `triples_here` in this process, lines of triples by `triples` in Spark. Files
of changes are distinguished by `files`, and their signed rows add up (`adding`). `watch` follows a folder of them, and
streams of Spark, batch by batch.
"""
