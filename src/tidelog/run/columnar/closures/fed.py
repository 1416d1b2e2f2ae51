"""What feeds a closure and the steps it takes, as columns of codes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidelog.base.expr import Var
from tidelog.plan.closures.recognise import head_terms
from tidelog.plan.join.spine import spine
from tidelog.plan.nodes import Rule, Scan
from tidelog.run.columnar.arrays.table import Words
from tidelog.run.columnar.closures.paired import CodeColumns
from tidelog.run.columnar.rules.bag import Bag
from tidelog.run.columnar.rules.bindings import unit
from tidelog.run.columnar.rules.deriving import Deriving
from tidelog.run.columnar.rules.join import Probe, match
from tidelog.run.limits import analysis
from tidelog.run.maintain.rounds import full
from tidelog.run.phases import AFTER, View


def all_fed(store: Deriving, relation: str, feeds: Sequence[Rule]) -> CodeColumns:
    """Return what rules derive of a relation."""
    scan = _copied(feeds)
    if scan is not None and analysis.get() is None:
        return _columns_of_all(store, scan, feeds[0])
    return columns_of(store.derive(full(feeds)).get(relation, ()), store.relation(relation).arity)


def _copied(feeds: Sequence[Rule]) -> Scan | None:
    """Return the scan of the only feed, if its tuples are those that are found, perhaps with columns exchanged."""
    if len(feeds) != 1:
        return None
    head, nodes = head_terms(feeds[0]), spine(feeds[0].body)
    if head is None or len(nodes) != 2 or not isinstance(nodes[0], Scan):
        return None
    terms = nodes[0].terms
    plain = all(isinstance(term, Var) for term in terms) and len(set(terms)) == len(terms)
    return nodes[0] if plain and set(terms) == set(head) else None


def _columns_of_all(store: Deriving, scan: Scan, rule: Rule) -> CodeColumns:
    """Return the tuples of a relation by the columns of a head that they become, as they stand."""
    relation = store.relation(scan.relation)
    parts = [relation.nothing().rows]
    for batch, limit in relation.batches(relation.main, AFTER):
        parts.append(batch.rows if batch.mark is None else batch.rows[:, batch.mark <= limit])
    rows = parts[1] if len(parts) == 2 else np.concatenate(parts, axis=1)
    store.derivations += rows.shape[1]
    places = {term.name: place for place, term in enumerate(scan.terms) if isinstance(term, Var)}
    head = (term.name for term in rule.body.expressions if isinstance(term, Var))
    return {column: relation.layout.codes(rows, places[name]) for column, name in enumerate(head)}


def columns_of(bags: Sequence[Bag], arity: int) -> CodeColumns:
    """Return the codes of derived tuples by column."""
    found = {}
    for column in range(arity):
        parts = [bag.layout.codes(bag.rows, column) for bag in bags]
        found[column] = np.concatenate(parts) if parts else np.empty(0, np.uint64)
    return found


def step(store: Deriving, scan: Scan, columns: tuple[int, int], view: View) -> tuple[Words, Words]:
    """Return the sources and targets of the steps that a scan finds in a view, once for each tuple."""
    probe = Probe(scan.terms, (), store.codec)
    matches = match(unit(), probe, probe.see(store.relation(scan.relation), view))
    if matches is None:
        return np.empty(0, np.uint64), np.empty(0, np.uint64)
    near, far = (term.name for c in columns if isinstance(term := scan.terms[c], Var))
    table = matches.table_of(probe, (near, far))
    return table.codes(near), table.codes(far)
