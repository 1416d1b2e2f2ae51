"""Rows in files. Imports `frames`.

* `files`: which file belongs to which relation; `mistakes`: what is wrong with a file, collected;
  `remarks`: what is worth knowing although it is no mistake.
* `delimited`, `delimited_arrow`: CSV and tab-separated text, small and large; `jsonlines`, `parquet`.
* `rdf`: triples and quads, in all syntaxes of RDF.
* `notation`: values in JSON by their type.
"""
