"""What the user wrote: the syntax tree, faithful to the text, and the ways in and out of it. Imports `base`.

* `grammar.ebnf`: the grammar; each production is a method of the parser.
* `syntax`: the tree, a closed sum for each of declarations, rules, expressions and types.
* `lex`, `cursor`, `parse` with its `parse_*`: from text to the tree, all mistakes of a text at once.
* `format` with its `format_*`, `layout`: from the tree to the canonical text, comments kept.
* `build`, `build_terms`: the same tree from Python.
* `escape`, `codes`: escape sequences both ways; the codes of syntax mistakes.
"""
