"""Strata evaluated in one step instead of round by round: closures (`plan.closures`), by `run.closure`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidelog.base.expr import Var
from tidelog.plan.closures import Closure, closures
from tidelog.plan.nodes import Scan, Stratum
from tidelog.run.columnar.arrays import Words
from tidelog.run.columnar.batch import Batch
from tidelog.run.columnar.closed import Shape, closed
from tidelog.run.columnar.join import Probe, match
from tidelog.run.columnar.layout import range_of
from tidelog.run.columnar.pipeline import Bag
from tidelog.run.columnar.rows import pack_columns
from tidelog.run.columnar.store import Store
from tidelog.run.columnar.table import unit
from tidelog.run.contract import Phase
from tidelog.run.limits import Watch
from tidelog.run.maintain.rounds import full
from tidelog.run.maintain.seminaive import bootstrap
from tidelog.run.phases import AFTER, View


def closure_of(stratum: Stratum) -> Closure | None:
    """Return the closure that a stratum is, if it is nothing else."""
    found = closures(stratum)
    return found[0] if len(found) == 1 and found[0].alone else None


def evaluate(store: Store, stratum: Stratum, watch: Watch) -> int:
    """Evaluate a stratum from scratch; return the number of rounds."""
    closure = closure_of(stratum)
    if closure is None:
        return bootstrap(store, stratum, watch)
    watch.begin_round(stratum, 1)
    store.enter(Phase.BOOT, frozenset(stratum.relations))
    target = store.touch(closure.relation)
    bags = store.derive(full(closure.feeds)).get(closure.relation, ())
    shape = Shape.of(closure, store.codec)
    fed = _columns(bags, target.arity)
    fits = shape.fits(fed)
    edges = fed if fits.all() else {column: codes[fits] for column, codes in fed.items()}
    steps = [
        stepped(store, scan, columns, AFTER)
        for scan, columns in zip(closure.steps, closure.step_columns, strict=True)
        if shape.own
    ]
    found = closed(shape, edges, steps)
    watch.look()
    watch.add_tuples(found.pairs.size)
    if found.pairs.size:
        target.admit(found.ranges(target.arity))
    if not fits.all():
        others = [codes[~fits] for codes in fed.values()]
        target.admit([range_of(codes) for codes in others])
        target.set_delta(Batch(pack_columns(others, (), target)))
        target.settle()
    if found.pairs.size:
        target.hold(found.batch(target.layout), found.ranges(target.arity))
    return 1


def _columns(bags: Sequence[Bag], arity: int) -> dict[int, Words]:
    """Return the codes of derived tuples by column."""
    found = {}
    for column in range(arity):
        parts = [bag.layout.codes(bag.rows, column) for bag in bags]
        found[column] = np.concatenate(parts) if parts else np.empty(0, np.uint64)
    return found


def stepped(store: Store, scan: Scan, columns: tuple[int, int], view: View) -> tuple[Words, Words]:
    """Return the sources and targets of the steps that a scan finds in a view, once for each tuple."""
    probe = Probe(scan.terms, (), store.codec)
    matches = match(unit(), probe, probe.see(store.relation(scan.relation), view))
    if matches is None:
        return np.empty(0, np.uint64), np.empty(0, np.uint64)
    near, far = (term.name for c in columns if isinstance(term := scan.terms[c], Var))
    table = matches.table_of(probe, (near, far))
    return table.codes(near), table.codes(far)
