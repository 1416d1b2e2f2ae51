"""Races and measurements: `python -m benchmarks WHAT`, where `--help` says what there is.

| module | what |
| --- | --- |
| `workloads` | the programs with their inputs and known sizes |
| `inputs`, `generate`, `lubm` | the inputs, made once into a folder of `R.facts` files |
| `racers`, `race_tidelog`, `race_duckdb`, `race_clingo` | who runs: each in a process of its own |
| `measure` | a process with its time, processor time and peak memory |
| `batch`, `updates`, `strategies`, `closures`, `loading`, `start`, `spark`, `commits` | measurements |
| `papers`, `dyre` | measurements of the papers' algorithms, as the papers tell them |
| `update`, `strategy` | one workload under updates, the child processes of `updates` and `strategies` |
| `race_spark` | the lanes of `spark`, each in a process of its own |
| `goals` | what updates should cost, held against what they did |
| `tables` | numbers as text |
| `regret` | what the default costs over the best of all ways, on workloads that are drawn |
| `large_program` | parsing, checking and planning 4,000 rules (a script of its own) |

Times on a shared machine are noisy: only ratios within one run mean something. Processor time stands beside.
"""
