"""Maintenance algorithms, one a file, written once over `run.contract.Backend`; each reads like its paper.

* `seminaive`: a stratum from scratch, each tuple with its rank and support.
* `ranked`: a stratum brought up to date by ranked support.
* `choose`: which of them, and the way back to the first when the second takes too long.
"""
