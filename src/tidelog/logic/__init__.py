"""What a program means: names resolved, types checked, sugar removed, safe, every rule with its origin.

Imports `base` and `lang`. The rooms, each of which imports only those before it:

* `names`: modules, declarations, scopes, types as written. `infer`: types of expressions and patterns.
* `rewrite`: one pass a file. `check`: rules, relations, functions; safety; warnings. `std`: the library.
* `program`, `literals`, `print`: the typed program, what its literals bind and read, and as text.
* `passes`: from a text to it, in order.
"""
