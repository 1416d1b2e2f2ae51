"""Rules, relations and functions checked. Imports `names`, `infer` and `rewrite`.

* `relations`, `check_rules`, `check_atoms`, `finish_rule`: declarations and rules, typed.
* `check_time`: streams, and relations as they were. `weigh_relations`: whose weights show, in the dialect of DDlog.
* `check_goal`: goals, which are bodies that are asked, and their parameters.
* `order_body`: safety, an order in which every variable is bound before it is read.
* `functions`, `instantiate`: bodies of functions, and generic ones at their type arguments.
* `rule_mistakes`, `warn`: what can be wrong, or doubtful, in words.
"""
