"""Modules among other rules (Hu, Motik and Horrocks): from scratch and under changes, beside the same rules without.

    python -m benchmarks modules [--suite NAME] [--quick] [--timeout SECONDS] [--json FILE]

* `families`: programs of which modules are a part, and facts for them; the paper's benchmarks in shape.
* `child`: one of them under one strategy, in a process of its own.
* `run`: the command, its tables, and goals.
"""
