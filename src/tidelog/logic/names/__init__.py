"""What names mean: modules found, declarations collected, types resolved. Imports no other room of `logic`.

* `modules`, `names`, `declare`: which file an import means; the names a module declares; their environments.
* `environment`, `scope`: what a name means in a module, and at a place in a rule or function.
* `prefixes`: prefixed names are IRIs.
* `resolve`, `unify`: from written types to `base.types`; first-order unification of types that are not known yet.
* `attributes`, `externs`: what stands before declarations, or comes from Python.
* `patterns`: which expressions are patterns, and what they bind.
* `redeclare`: the modules with more declarations, or without some.
"""
