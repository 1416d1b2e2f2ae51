"""Types of expressions and patterns: from `lang.syntax` to typed `base.expr`. Imports `names`.

* `infer` is the entry; `access`, `calls`, `control`, `lambdas`, `literals`, `operators`, `patterns`, `places` have one
  kind of expression each.
* `overload`: which function a call means; `mismatch`: how a type error is explained.
* `exhaustive`, `cover`: whether patterns fit every value.
* `finish`: unknown types replaced by what they became, by `typed_rewrite`, which rebuilds typed trees.
"""
