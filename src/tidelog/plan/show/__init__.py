"""Plans for people and tools. Imports every other room of `plan`.

* `text`: strata, rules and pipelines as text. `json`: everything, in a stable order.
* `dot`, `mermaid`: pictures of `rule_graph`. `dred`: the programs that DRed evaluates.
"""
