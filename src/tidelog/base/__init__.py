"""Words every layer shares. Imports only the standard library.

* `span`, `diagnostic`, `errors`: where something stands in a text, what is wrong with it, what Tidelog raises.
* `types`, `values`, `conform`: the types of the language, their values in Python, and whether the two agree.
* `defaults`: some value of a type.
* `expr`, `free`: typed expressions, which `logic` makes and engines evaluate; their parts and variables.
* `text`: expressions and values as text, and back.
* `plain`: values as plain Python objects, and back.
* `tuning`: the table of thresholds, which choose how something is computed.
* `process`: what a process has of time, memory, locks and folders.
* `extern`: Python functions that programs may call. `arguments`: refusing an argument of the wrong kind.
* `record`, `walk`: frozen dataclasses that cost little to define, and walks over trees of them.
* `graph`: components, paths and cycles.
"""
