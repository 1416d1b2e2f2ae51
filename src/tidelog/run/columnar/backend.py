"""The backend of one update (`contract.Backend`), and what the driver of the update asks of it (`maintain.commit`)."""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.plan.nodes import Plan
from tidelog.run.columnar.cost import COMPARED
from tidelog.run.columnar.facts import change_facts
from tidelog.run.columnar.machine.kernels.operands import UNCOUNTED
from tidelog.run.columnar.machine.small_rounds import SmallRounds
from tidelog.run.columnar.rules.bag import Bag
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.columnar.storage.rows import decoded
from tidelog.run.columnar.support.absorb import gather
from tidelog.run.columnar.support.counting import Counting
from tidelog.run.columnar.support.iterations import Following
from tidelog.run.columnar.support.regroup import Regrouping
from tidelog.run.contract.engine import Delta, Rows
from tidelog.run.contract.phase import Support
from tidelog.run.phases import AFTER, View


class ColumnarBackend(SmallRounds, Counting, Following, Regrouping):
    """The operations on the relations of a program in one update, each from the room that does it."""

    def compare(self, relation: str) -> None:
        """Make the difference to what a relation held its net change."""
        old, new = self._aside.pop(relation), self.relations[relation]
        if any(order.inserted or order.removed for order in new.orders.values()):
            new.finish(self.journal)  # facts that come and go with the last rule were changed in what was made anew
        else:
            new.settle()
        self.watch.spend(new.count() * COMPARED)  # also if there is nothing to compare with: there will be next time
        if old.count():
            before = gather(new, [Bag(old.layout, old.rows(AFTER))]).rows  # first, as it may change the layout of `new`
            new.differ(before)
        else:
            new.all_is_new()
        if new.support is Support.RANKED and not new.counted:
            for batch in (*new.main.settled, *new.main.inserted):
                batch.counts = new.counts(batch.size, UNCOUNTED) if batch.counts is None else batch.counts

    def change_facts(self, facts: Mapping[str, Delta]) -> None:
        """Insert and delete stored facts."""
        for name, change in facts.items():
            change_facts(self.touch(name), change, self.codec, self.journal)

    def fill(self, relation: str, facts: Relation) -> None:
        """Let an empty relation hold the tuples of another."""
        target = self.relations[relation]
        target.set_delta(target.stated(gather(target, [Bag(facts.layout, facts.rows())]).rows))
        target.settle()

    def contents(self, name: str, relation: Relation, view: View, plan: Plan) -> Rows:
        """Return the tuples that a view shows of a relation, decoded when they are looked at."""
        if relation.is_empty(view):
            return ()
        columns = [column.name for column in plan.relations[name].columns]
        return decoded(relation, relation.gathered(view, bare=True), columns, self.codec)

    def finish(self) -> None:
        """Make the update final in every relation it touched."""
        for relation in self.touched.values():
            relation.finish(self.journal)
