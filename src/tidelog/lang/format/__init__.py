"""From the syntax tree to text, in one canonical layout.

* `layout`: a pretty printer, after Wadler and Oppen. `comments`: where comments of the source go.
* `expressions`, `blocks`, `rules`, `declarations`: documents for each, in classes that inherit from each other.
* `format`: a whole module, or one declaration, rule, expression or type.
"""
