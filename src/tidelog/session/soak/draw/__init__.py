"""Programs drawn at random.

* `grow`: rule by rule; `closures`: of closures in every form; `mixed`: of closures among other rules;
  `graphs`: well-known programs over graphs.
* `families`: draws from all of these.
"""
