"""Tuples that have lost their support, put just above their rank: there derivations of that rank support them.

For `LazySupport.lift`; `kernels.ranks` says how. Worth it where it is not known whether a tuple has derivations left:
to find them costs as much as finding it again when it is removed, and keeps all that stands on it in its place.
"""

from __future__ import annotations

import numpy as np

from tidelog.run.columnar.arrays.table import Places, chosen
from tidelog.run.columnar.kernels.ranks import Lowest, lifted, note_lifted
from tidelog.run.columnar.storage.batch import Batch, Journal, Ranks
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.contract.phase import Support
from tidelog.run.phases import ALIVE


def lifts(relation: Relation) -> bool:
    """Tell whether tuples that have lost their support may have derivations left: those are not counted."""
    return relation.support is Support.RANKED and relation.lines == 1


def settles(relation: Relation) -> bool:
    """Tell whether tuples that lose support have to be looked at, to know whether they have some."""
    return not relation.counted or lifts(relation)


def lift(relation: Relation, lowest: Lowest, journal: Journal) -> bool:
    """Let dying rows that have room above their rank hold again there, in every order; tell whether there are any.

    They are the view `deleted` then, and the others the delta.
    """
    delta = relation.main.delta
    assert delta is not None
    old = np.unique(delta.ranks())
    new = np.array([lifted(rank, lowest) for rank in old.tolist()], np.int32)
    rises = (new > old)[np.searchsorted(old, delta.ranks())]
    if not rises.any():
        return False
    for order in relation.orders.values():
        order.dying = [(b, left) for b, p in order.dying if len(left := _lifted(b, p, old, new, journal))]
    relation.set_delta(delta.taken(~rises))
    relation.set_deleted(chosen(delta.rows, rises))
    return True


def _lifted(batch: Batch, places: Places, old: Ranks, new: Ranks, journal: Journal) -> Places:
    """Let rows at some places hold again if their rank is one that rises; return the places of the others."""
    number = np.searchsorted(old, batch.ranks()[places])
    rises = (new > old)[number]
    journal.write(batch.ranks(), places[rises], new[number[rises]])
    journal.mark(batch, places[rises], ALIVE)
    left: Places = places[~rises]
    return left


def note(relation: Relation, ranks: Ranks) -> None:
    """Note the ranks of tuples that were lifted."""
    lowest = relation.lowest.copy()
    for rank in np.unique(ranks).tolist():
        note_lifted(rank, lowest)
    relation.lowest = lowest
