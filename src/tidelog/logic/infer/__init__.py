"""Types of expressions and patterns: from `lang.syntax` to typed `base.expr`. Imports `names`.

* `infer` is the entry: a table of what infers each form of expression. `inference`: what is known so far of one body.
* `access`, `calls`, `control`, `lambdas`, `literals`, `operators`, `patterns`, `places`: a kind of expression each.
* `overload`: which function a call means; `mismatch`: how a type error is explained.
* `exhaustive`: whether patterns fit every value.
* `finish`: unknown types replaced by what they became, by `typed_rewrite`, which rebuilds typed trees.
"""
