"""How to compute a program: strata, join plans, delta variants, index choice. Imports `base` and `logic`.

* `nodes`: the algebra and the plan, which is all that engines see; `lazy`, `spine`: its sequences, walking its trees.
* `passes`: from a program to a plan, in order: `separate_facts`, `isolate_aggregates`, `project_negations`, `stratify`,
  `plan_rules` (`translate`, `propagate_equalities`, `order_joins`, `delta_variants`), `choose_indexes`.
* `parts`, `assemble`, `estimate`, `may_fail`: what orders of joins are found with; `rederive`, `rediscover`: rules
  backwards.
* `overdelete`, `derive_again`: the programs of DRed as the Shapiro paper has them; `show_dred` writes them.
* `translation_steps`: the translation as the Shapiro paper has it, step by step.
* `classify`, `closures`, `same_generation`, `linearise`, `decompose`, `spread`: kinds of recursion, for engines
  that know a better way; `split_closures`, `split_modules`: what feeds a closure apart from it.
* `show_text`, `show_tree`, `show_json`, `show_dot`, `show_mermaid` (with `rule_graph`): plans for people and tools.
* `codes`: the codes of mistakes that planning finds.
"""
