"""Maintenance algorithms, one a file, written once over `contract.Backend`; each reads like its paper.

* `commit`: the driver of an update: facts, strata, changes, the next state.
* `seminaive`: a stratum from scratch, each tuple with the support that is kept.
* `ranked`: a stratum brought up to date by ranked support.
* `dred`: a stratum brought up to date by deleting too much and deriving again, with nothing kept.
* `elastic`: a stratum brought up to date iteration by iteration, each tuple with its first one.
* `modular`: a stratum brought up to date by deleting what has no nonrecursive derivation left and deriving again.
* `rounds`: the phases and rounds that the update algorithms share.
* `choose`: which of them, and the way back to the first when another takes too long; `cost`: how long that is.
"""
