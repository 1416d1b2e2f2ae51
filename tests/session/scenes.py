"""What programs do with a database, to be interrupted anywhere: steps of transactions, and scenes made of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import tidelog
from tidelog import Change, Database, Subscription, Transaction
from tidelog.session.engines import StrategyName

Step = Callable[[Transaction], object]
Rows = dict[str, list[tuple[Any, ...]]]

PROGRAM = """
input relation Edge(a: u8, b: u8)
input relation Off(a: u8)
input relation Stock(item: string, count: u32) primary key (s) s.item
output relation Path(a: u8, b: u8)
output relation Reach(a: u8, b: u8)
output relation Reached(b: u8, n: usize)
output relation Lost(a: u8)
output relation Low(item: string, count: u32)
index from_a(a: u8) on Reach(a, _)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
Reach(x, y) :- Edge(x, y), not Off(y).
#[name = "step"]
Reach(x, z) :- Reach(x, y), Reach(y, z).
Reached(b, n) :- Reach(a, b), var n = a.group_by(b).count().
Lost(x) :- Edge(x, _), not Reached(x, _).
Stock("rock", 1).
Low(i, c) :- Stock(i, c), c < 3.
"""
ADDED = 'Lost(x) :- Off(x), Stock("tea", n), n > 1.'
FACTS: Rows = {
    "Edge": [(1, 2), (2, 3), (3, 1), (3, 4), (5, 6), (6, 7)],
    "Off": [(4,)],
    "Stock": [("milk", 2), ("tea", 5)],
}


def facts(tx: Transaction) -> None:
    """Change facts."""
    tx.insert("Edge", [(4, 5), (7, 5)])
    tx.delete("Edge", [(3, 1)])
    tx.insert("Off", [(7,)])
    tx.delete("Off", [(4,)])


def rules(tx: Transaction) -> None:
    """Change rules."""
    tx.remove_rules("step")
    tx.add_rules(ADDED)


def both(tx: Transaction) -> None:
    """Change facts and rules."""
    rules(tx)
    facts(tx)


def keys(tx: Transaction) -> None:
    """Change facts by their keys."""
    tx.insert("Stock", [("salt", 1)])
    tx.upsert("Stock", [("milk", 7)])
    tx.delete_keys("Stock", ["tea"])
    tx.modify("Stock", "salt", {"count": lambda count: count + 1})


def declare(tx: Transaction) -> None:
    """Declare a relation, with rows and a rule."""
    tx.add("input relation More(a: u8)  Lost(a) :- More(a).")
    tx.insert("More", [(9,)])


def more(tx: Transaction) -> None:
    """What a subscriber does."""
    tx.insert("Off", [(1,)])


def back(tx: Transaction) -> None:
    """Go back to what a scene begins with."""
    for relation, rows in FACTS.items():
        tx.clear(relation)
        tx.insert(relation, rows)
    tx.add_rules('#[name = "step"] Reach(x, z) :- Reach(x, y), Reach(y, z).')
    with suppress(tidelog.UserError):  # it may not have been added
        tx.remove_rules(ADDED)
    if "More" in tx.declarations.relations:
        tx.remove("Lost(a) :- More(a).")
        tx.remove("More")


@dataclass
class Stage:
    """Where a scene is played."""

    db: Database
    strategy: StrategyName
    transactions: list[Transaction] = field(default_factory=list)
    subscriptions: list[Subscription] = field(default_factory=list)
    heard: list[int] = field(default_factory=list)

    def commit(self, step: Step) -> None:
        """Make a transaction."""
        with self.db.transaction() as tx:
            self.transactions.append(tx)
            step(tx)


def in_hand(stage: Stage) -> None:
    """Begin, preview and commit without a block."""
    tx = stage.db.transaction()
    try:
        tx.begin()
        stage.transactions.append(tx)
        facts(tx)
        tx.preview()
        tx.commit()
    except BaseException:
        if tx._is_open:  # the interrupt came before `commit` began
            tx.rollback()
        raise


def rolled_back(stage: Stage) -> None:
    """Preview, and roll back by an error and by hand."""
    with suppress(ZeroDivisionError), stage.db.transaction() as tx:
        both(tx)
        tx.preview()
        tx.insert("Off", [(1 // 0,)])
    with stage.db.transaction() as tx:
        keys(tx)
        tx.rollback()


def subscribed(stage: Stage) -> None:
    """Hear of commits, and make one."""

    def hear(change: Change) -> None:
        assert change.commit is not None
        stage.heard.append(change.commit)
        if len(stage.heard) == 2:
            stage.commit(more)

    subscription = stage.db.subscribe("Off", hear, snapshot=True)
    stage.subscriptions.append(subscription)
    with subscription:
        stage.commit(facts)


def followed(stage: Stage) -> None:
    """Go over to another strategy and back."""
    stage.db.set_strategy("recompute")
    stage.db.set_strategy(stage.strategy)


def read(stage: Stage) -> None:
    """Read what nobody has read, and verify."""
    stage.commit(facts)
    assert (7, 5) in stage.db.relation("Path")
    assert stage.db.query_index("from_a", 1) == [(1, 2), (1, 3), (1, 4), (1, 5), (1, 6)]
    assert stage.db.relation("Low").count() == 2
    stage.db.verify()
    stage.db.relation("Path").rows()


def asked(stage: Stage) -> None:
    """Ask goals and look rows up, before a commit and after it."""

    def ask(tx: Transaction) -> None:
        facts(tx)
        assert tx.query("Reach(7, x)").rows() == [(5,), (6,)]

    stage.db.query("Path(x, y), not Reach(x, y)")
    stage.db["Reach"].where(b=1)
    stage.commit(ask)
    assert stage.db.query("Reach($x, $x)", {"x": 1}).rows() == []
    assert stage.db["Reach"].where(b=2).rows() == [(1, 2)]


def watched(stage: Stage) -> None:
    """Watch goals, of which two share their rules, and hear of a commit."""
    with (
        stage.db.watch("Reach($from, x)", {"from": 1}) as view,
        stage.db.watch("Reach($from, x)", {"from": 7}) as other,
    ):
        feed, rows = view.changes(), set(view.rows())
        stage.commit(facts)
        for change in feed:
            rows = rows - set(change.deleted) | set(change.inserted)
        assert sorted(rows) == view.rows() == [(2,), (3,), (4,), (5,), (6,)]
        assert other.rows() == [(5,), (6,)]


@dataclass(frozen=True)
class Scene:
    """What is played, and the transactions that the commits in it amount to."""

    name: str
    act: Callable[[Stage], None]
    steps: tuple[Step, ...]


SCENES = (
    *(Scene(step.__name__, partial(Stage.commit, step=step), (step,)) for step in (facts, rules, both, keys)),
    Scene("declared", partial(Stage.commit, step=declare), (declare,)),
    Scene("in hand", in_hand, (facts,)),
    Scene("rolled back", rolled_back, ()),
    Scene("subscribed", subscribed, (facts, more)),
    Scene("followed", followed, ()),
    Scene("read", read, (facts,)),
    Scene("asked", asked, (facts,)),
    Scene("watched", watched, (facts,)),
)


LONG = followed, read, asked, watched
"""What takes long, and is played only for lines that do not run elsewhere."""
