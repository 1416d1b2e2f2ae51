"""Data of universities of any size, in the manner of LUBM: an ontology, a generator, 14 queries, and what they take.

* `ontology.ttl`: the classes and properties. `generate`: triples. `goals`: the queries. `run`: the benchmark.
"""
