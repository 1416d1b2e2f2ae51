"""From text to the syntax tree.

* `grammar.ebnf`: the grammar; each production is a method of the parser.
* `lex`: tokens. `cursor`: the place among them, expectations, recovery from mistakes.
* `types`, `literals`, `expressions`, `blocks`, `rules`, `statements`, `functions`, `declarations`: the productions of
  each, in classes that inherit from each other in this order.
* `parse`: a whole text, or one expression, type or rule.
"""
