"""Computing a plan: the maintenance algorithms, written once, and the engines they run on. Imports `base` and `plan`.

* `contract`: `Engine`, what a session asks; `Backend` and `Phase`, what the algorithms ask of an engine.
* `phases`: what a scan sees of a relation in each phase; `scalar`: expressions value by value.
* `base_store`: what the backends have in common, relations by name and the phase at work.
* `limits`: bounds on rounds, tuples, time and memory, and looking on.
* `threads`: the threads that share the work of large operations.
* `compiling`, `kernel_cache`: whether kernels were compiled before; compiling them, and keeping their code.
* `kernel_types`: what kernels take, as their annotations say.
* `maintain`: the algorithms.
* `closure`: structures for transitive closures and equivalences, which engines use for strata that are nothing else.
* `reference`: the definition of the semantics, naive over Python sets.
* `dbsp`: circuits over streams of Z-sets, and Datalog as such a circuit; the library `tidelog.dbsp`.
* `tuples`: in this process, one tuple at a time, with the evaluator and the index of one's choice.
* `columnar`: in this process, on sorted arrays and compiled kernels.
* `spark`: on a cluster. Files of the same name in two engines do the same thing.
"""
