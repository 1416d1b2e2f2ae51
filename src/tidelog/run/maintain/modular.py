"""DRed^c, delete and rederive with counters: the semi-naive module of Hu, Motik and Horrocks, and what counts for all.

Of every tuple two counters are kept: its nonrecursive derivations, those by rules that read nothing of the stratum, and
all its derivations (the paper has the recursive ones, the difference).

    over-deletion   a tuple that loses a derivation is deleted, unless a nonrecursive derivation is left: then it holds
    rederivation    deleted tuples that the counters say have derivations from what is left come back
    insertion       semi-naive from what came back and what is new

These are the phases of `ranked`, and the counters are ranked support with two ranks only: every tuple of the stratum
has rank 1, so that just the nonrecursive derivations are of a lower rank. Hence there is one `update` for both, and
the backend does the rest under `Support.COUNTED`. Where the rest of a tuple's derivations is recursive its counters do
not show that it stands: it is deleted with the first that is lost, and looked for afterwards.

How this relates to the modules of the paper. Its Algorithm 3 (DRed^c-MOD) splits the recursive rules of a stratum into
modules, each with four functions (`contract.module`); they take turns, each on what all have done. Rounds are these
turns, and the rules that no other module has are the semi-naive module. The others are up to the engine:

* A stratum that is a closure and nothing else is kept by a structure of its own (`run.columnar.closures.claim`), and
  the nonrecursive derivations are the count of the relation that feeds it. Such closures over-delete nothing: the rows
  of the nodes that reach a lost edge are found anew, and compared. That is Del, Red and Add in one.
* A closure that other rules of its stratum feed is one rule (`plan.closures.split_modules`), which the functions of the
  transitive or the symmetric-transitive module evaluate (`run.columnar.closures.modules`). `ranked` drives these, too.
* Strategy `dred-c` has the semi-naive module alone: DRed^c, with which the paper compares.
* Red of the semi-naive module is one step, as in DRed^c, and insertion does the others.
"""

from __future__ import annotations

from tidelog.run.maintain.ranked import update

__all__ = ["update"]
