"""A living database: transactions, changes, sources and sinks. Imports every folder before it.

* `database`, `transaction`, `relation`, `changes`, `subscriptions`, `live`: what users hold in their hands;
  `live_goals`: the goals that `live` follows.
* `store`: what is behind them: an engine, the locks; `state`: what was committed. `engines`: the engines by name.
* `exchange`: loading folders of facts and writing results.
* `program`: where a program comes from, its rules, which change, and looking at it without running it.
* `facts`: facts of an open transaction, and primary keys. `queries`: indexes.
* `observe`: what an evaluation takes, and looking on while it runs.
* `frames`: rows in every form one has, checked. `formats`: rows in files.
* `pipeline`: tables on a cluster, kept by a program from run to run.
* `soak`: random programs and histories, which look for mistakes of engines.
"""
