"""Sugar removed, one pass a file; `passes` has the order. Imports `names` and `infer`.

* While rules are syntax: `imperative_rules`, `apply_transformers`, `expand_disjunction`, `split_heads`,
  `replace_aggregates`, `lift_expressions`, with `rule_names`.
* When they are typed (`checked`): `flatten_patterns`, `give_parameters`, `split_groups`, `unfold_rows`,
  `fold_constants`, with `rows` and `auxiliaries`.
* `derivations`: rows that count as often as they are derived.
"""
