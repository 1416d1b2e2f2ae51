"""What feeds a closure and the steps it takes, as columns of codes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidelog.base.expr import Var
from tidelog.plan.nodes import Rule, Scan
from tidelog.run.columnar.arrays import Words
from tidelog.run.columnar.join import Probe, match
from tidelog.run.columnar.paired import Columns
from tidelog.run.columnar.pipeline import Bag
from tidelog.run.columnar.store import Store
from tidelog.run.columnar.table import unit
from tidelog.run.maintain.rounds import full
from tidelog.run.phases import View


def all_fed(store: Store, relation: str, feeds: Sequence[Rule]) -> Columns:
    """Return what rules derive of a relation."""
    return columns_of(store.derive(full(feeds)).get(relation, ()), store.relation(relation).arity)


def columns_of(bags: Sequence[Bag], arity: int) -> Columns:
    """Return the codes of derived tuples by column."""
    found = {}
    for column in range(arity):
        parts = [bag.layout.codes(bag.rows, column) for bag in bags]
        found[column] = np.concatenate(parts) if parts else np.empty(0, np.uint64)
    return found


def step(store: Store, scan: Scan, columns: tuple[int, int], view: View) -> tuple[Words, Words]:
    """Return the sources and targets of the steps that a scan finds in a view, once for each tuple."""
    probe = Probe(scan.terms, (), store.codec)
    matches = match(unit(), probe, probe.see(store.relation(scan.relation), view))
    if matches is None:
        return np.empty(0, np.uint64), np.empty(0, np.uint64)
    near, far = (term.name for c in columns if isinstance(term := scan.terms[c], Var))
    table = matches.table_of(probe, (near, far))
    return table.codes(near), table.codes(far)
