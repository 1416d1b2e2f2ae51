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
modules, each with functions of its own: Add closes new facts under the module's rules, Diff finds what changes below do
to it, Del over-deletes and Red rederives; they take turns, each on what all have done. This is the module whose
functions are all semi-naive, and its rounds are the turns. The others are up to the engine:

* A stratum that is a closure and nothing else is kept by a structure of its own (`run.columnar.closures.claim`), and
the
  nonrecursive derivations are the count of the relation that feeds it. Such closures over-delete nothing: the rows of
  the nodes that reach a lost edge are found anew, and compared. That is Del, Red and Add in one.
* A transitive or symmetric-transitive closure that other rules of its stratum feed is a module beside them: the plan
  keeps external facts apart, and paths grow by one of them at a time (`plan.closures.split_modules`), which is what
  Algorithms 4 to 6 evaluate. The paper's symmetric-transitive module keeps components (Algorithms 7 to 9); here it has
  paths, too.
* Red of this module is one step, as in DRed^c, and insertion does the others. The paper's takes all steps, so that
  modules with structures of their own can repair them.
"""

from __future__ import annotations

from tidelog.run.maintain.ranked import update

__all__ = ["update"]
