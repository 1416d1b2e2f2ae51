"""RDF in files. Imports `frames` and the module `rdf` of the library.

* `graph`: terms and rows of a file, and what relation they fit. `ntriples`: N-Triples and N-Quads, line by line, the
  definition; `ntriples_arrow`: the same by columns. `syntaxes`: Turtle and the others, by pyoxigraph.
* `ontology`, `program`: an ontology as rules of its own, and their text.
* `reading`: which reader a file gets. `writing`: relations of triples as files.
"""
