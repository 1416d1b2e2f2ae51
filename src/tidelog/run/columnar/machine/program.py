"""What `kernels.rounds` is told of the rules of a stratum, as far as it does not depend on what relations hold.

Most updates find relations in the same layouts, and of about the sizes, that an earlier one has left: then variants,
steps and fields are as they were told to that one (`script_of`), and only batches have to be told (`told`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidelog.base.record import record
from tidelog.plan.nodes import AntiJoin, Project, Rule, Scan
from tidelog.run.columnar.arrays.table import Words
from tidelog.run.columnar.machine.instructions import Forms, Line, lines_of
from tidelog.run.columnar.machine.kernels import operands as lines
from tidelog.run.columnar.storage.layout import Layout
from tidelog.run.columnar.storage.relation import Columns, Relation
from tidelog.run.columnar.store import Store
from tidelog.run.contract.phase import Phase
from tidelog.run.maintain.rounds import rederivation
from tidelog.run.phases import View, view_of


@record
class Sight:
    """What a step sees: a relation in one order; `own` if it is of the stratum, so that recent tuples are seen, too."""

    relation: str
    columns: Columns
    view: View
    own: bool


class Script:
    """The variants of some rules in a phase as lines of numbers; a step has the number of its sight for its batches."""

    def __init__(self, store: Store, rules: Sequence[Rule], phase: Phase) -> None:
        self.rules = rules
        self._phase = phase
        self._places = {name: place for place, name in enumerate(sorted(store.members))}
        self._variants: list[Line] = []
        self._steps: list[Line] = []
        self._fields: list[Line] = []
        self._layouts: dict[tuple[str, Columns], Layout] = {}
        self.sights: dict[Sight, int] = {}
        self.names, self.wide, self.deep = 1, 1, 0
        """How many variables a variant has at most, how many words a key, and how many steps a variant."""
        self.blocked = {name for rule in rules for name in self._tell_rule(store, rule)}
        """The relations whose delta is read by variants that cannot be told."""
        self.read = sorted({name for rule in rules for name in rule.reads})
        """The relations that the rules read."""
        self._shape = self._shape_of(store)
        self.variants, self.steps = lines_of(self._variants, lines.VARIANT), lines_of(self._steps, lines.STEP)
        self.fields: Words = np.array(self._fields, np.uint64).reshape(len(self._fields), lines.FIELD)

    def holds(self, store: Store) -> bool:
        """Tell whether the same would be told now: relations have these orders and layouts, and about these sizes."""
        for (name, columns), layout in self._layouts.items():
            order = store.relation(name).orders.get(columns)
            if order is None or order.layout is not layout:
                return False
        return self._shape == self._shape_of(store)

    def _shape_of(self, store: Store) -> list[int]:
        again = int(store.tuning.estimates.again)
        return [store.relation(name).count().bit_length() // again for name in self.read]

    def _tell_rule(self, store: Store, rule: Rule) -> list[str]:
        """Tell the variants of a rule; return the relations whose delta is read by variants that cannot be told."""
        if self._phase is Phase.COUNT and any(rule.aggregated):
            return [rule.head]
        blocked: list[str] = []
        for delta, tree in self._trees(rule):
            course = store.orders.best(rule, tree, store.relation)
            if course.forms is None:
                blocked.append(delta)
            else:
                twins = [forms for forms in course.twins if _serves(store, forms)]
                self._tell_variant(store, rule, course.forms, len(twins))
                for forms in twins:
                    self._tell_variant(store, rule, forms, 0)
        return blocked

    def _trees(self, rule: Rule) -> list[tuple[str, Project]]:
        """Return the trees of a rule in this phase, each with the relation whose delta it reads."""
        if self._phase is Phase.COUNT:
            return [(rule.head, rederivation(rule))]
        reading = [(rule.reads[v.delta], v.tree) for v in rule.variants if v.delta is not None]
        return [(delta, tree) for delta, tree in reading if delta in self._places]

    def _tell_variant(self, store: Store, rule: Rule, forms: Forms, twins: int) -> None:
        first = len(self._steps)
        delta, *links = forms.links
        assert isinstance(delta.step, Scan)
        member, head = store.relation(delta.step.relation), store.relation(rule.head)
        for place, link in enumerate(links, 1):
            step = link.step
            scan = step.right if isinstance(step, AntiJoin) else step
            assert isinstance(scan, Scan)
            self._tell_step(store, rule, forms, place, scan, anti=scan is not step)
        self.names, self.deep = max(self.names, forms.names), max(self.deep, len(links))
        bound = self._add(forms.form(0, self._layout(member, member.main.columns)).new)
        given = self._add(forms.head(self._layout(head, head.main.columns)))
        places = self._places[member.name], first, len(self._steps), self._places[head.name]
        self._variants.append((*places, *bound, *given, twins))

    def _tell_step(self, store: Store, rule: Rule, forms: Forms, place: int, scan: Scan, *, anti: bool) -> None:
        own = scan.relation in self._places
        relation = store.relation(scan.relation)
        view = view_of(scan, rule, self._phase, store.members, negated=anti)
        columns = relation.order(forms.links[place].probe.columns).columns
        form = forms.form(place, self._layout(relation, columns))
        self.wide = max(self.wide, form.full + 1)
        sight = Sight(relation.name, columns, View(view.limit, view.inserted) if own else view, own)
        number = self.sights.setdefault(sight, len(self.sights))
        key, new = self._add(form.key), self._add(form.new)
        old = own and not view.delta
        self._steps.append((anti, number, number, form.full, form.shift, *key, *new, old, own))

    def _layout(self, relation: Relation, columns: Columns) -> Layout:
        layout = self._layouts[relation.name, columns] = relation.orders[columns].layout
        return layout

    def _add(self, fields: Sequence[Line]) -> tuple[int, int]:
        start = len(self._fields)
        self._fields += fields
        return start, len(self._fields)


def _serves(store: Store, forms: Forms) -> bool:
    """Tell whether the orders that these steps search are all there."""
    for link in forms.links[1:]:
        if isinstance(link.step, Scan):
            bound, orders = link.probe.columns, store.relation(link.step.relation).orders
            if not any(frozenset(columns[: len(bound)]) == bound for columns in orders):
                return False
    return True


def script_of(store: Store, rules: Sequence[Rule], phase: Phase) -> Script:
    """Return what is told of rules in a phase; made anew when relations have changed much.

    In COUNT these are the rules evaluated backwards.
    """
    known = store.orders.scripts
    key = phase, tuple(map(id, rules))
    found = known.get(key)
    if found is None or not found.holds(store):
        if len(known) >= store.tuning.estimates.scripts:
            known.clear()
        found = known[key] = Script(store, rules, phase)
    return found
