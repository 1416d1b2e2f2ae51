"""A living database: transactions, changes, sources and sinks. Imports every folder before it.

* `database`, `transaction`, `relation`, `changes`, `subscriptions`: what users hold in their hands.
* `store`: the state behind them: an engine, what was committed, the locks. `engines`: the engines by name.
* `rules`, `pending`, `keys`, `index`: rules that change; facts of an open transaction; keys and indexes.
* `frames`: rows in every form one has, checked. `formats`: rows in files; `exchange`, `remarks`: loading, writing.
* `sources`, `programs`: where a program comes from; checking, formatting and planning it.
* `analyze`, `profile`, `progress`: what an evaluation takes, and bounding it.
* `pipeline`: tables on a cluster, kept by a program from run to run.
* `soak`: random programs and histories, which look for mistakes of engines.
"""
