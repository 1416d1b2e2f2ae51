"""Words every layer shares. Imports only the standard library.

* `span`, `diagnostic`, `errors`: where something stands in a text, what is wrong with it, what Tidelog raises.
* `types`, `values`, `conform`: the types of the language, their values in Python, and whether the two agree.
* `expr`, `free`: typed expressions, which `logic` makes and engines evaluate; their variables.
* `show`, `text`, `reading`, `integers`: expressions and values as text, and back.
* `meter`, `growth`: what time and memory are left, for whoever may take much of either; values that grow.
* `arguments`: refusing what is given and of the wrong kind.
* `extern`: Python functions that programs may call.
* `record`: frozen dataclasses that cost little to define.
* `tuning`, `thresholds`: the table of constants that choose how something is computed, and how tests draw them;
  `tuning_columnar`, `tuning_rounds`, `tuning_updates`, `tuning_plans`, `tuning_spark`, `tuning_files` have parts of it.
* `cache_folder`: where compiled code may be kept.
* `graph`, `pause`: components and cycles; rest for the cycle collector.
* `lock`: locks that no interrupt leaves taken.
"""
