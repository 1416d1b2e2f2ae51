"""Regret: what the default costs over the best of all strategies and engines, on workloads that are drawn, not chosen.

    python -m benchmarks regret [--quick] [--count N] [--seed S] [--suite NAME] [--data DIR] [--json FILE]

| module | what |
| --- | --- |
| `graphs` | families of graphs |
| `families`, `other_families` | families of programs, with facts made for them |
| `changes` | what comes and goes after the load |
| `workloads` | a seed is a workload |
| `named` | workloads with names, in which a default was once far from the best |
| `candidates` | who is measured |
| `warm` | what happens once in a process, done before anything is measured |
| `kernels` | compiled code, loaded before anything is measured |
| `child` | one candidate on one workload, in a process of its own |
| `examine` | all candidates on a workload, with the rules that keep noise from being taken for regret |
| `worker` | the process that all of these are forked from |
| `judge` | regret in time, memory and work |
| `report` | the distribution against its goals, and the worst with their reasons |
| `run` | the command |
"""
