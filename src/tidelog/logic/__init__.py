"""What a program means: names resolved, types checked, sugar removed, safe, every rule with its origin.

Imports `base` and `lang`.

* `program`, `print`: the typed program, and as text. `passes`: from a text to it, in order.
* Modules and names: `modules`, `names`, `declare`, `environment`, `resolve`, `relations`, `attributes`.
* Sugar, while rules are still syntax: `imperative_rules`, `expand_disjunction`, `split_heads`, `replace_aggregates`,
  `lift_expressions` (with `traverse`, `pattern_names`, `rule_names`).
* Types: `infer` with its `infer_*`, over `unify` and `scope`; `overload`, `exhaustive`, `cover`, `finish`, `mismatch`.
* Functions: `functions`, `externs`, `instantiate` (with `typed_rewrite`), `shipped`; the library is in `std`.
* Rules: `check_rules`, `check_atoms`, `finish_rule` give `checked` rules; then `flatten_patterns`, `split_groups`,
  `unfold_rows`, `order_body`, `fold_constants` (with `rows`, `auxiliaries`, `padding`).
* `rule_mistakes`, `warn`, `codes`: what can be wrong, or doubtful, in words.
"""
