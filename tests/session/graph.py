"""The database of most tests of this folder: a graph whose reachability is maintained."""

from collections.abc import Callable

import tidelog
from tidelog import Database

GRAPH = """
input relation Edge(a: u32, b: u32)
input relation Owner(node: u32, who: string) primary key (o) o.node
output relation Reach(a: u32, b: u32)
#[name = "step"]
Reach(a, b) :- Edge(a, b).
Reach(a, c) :- Reach(a, b), Edge(b, c).
output relation Owned(who: string)
Owned(w) :- Owner(_, w).
"""

Open = Callable[..., Database]


def edges(db: Database, *rows: tuple[int, int]) -> tidelog.Commit:
    """Insert edges in a transaction of their own."""
    with db.transaction() as tx:
        tx.insert("Edge", rows)
    return tx.result
