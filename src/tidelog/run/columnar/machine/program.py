"""The program of a stratum in a phase: the instructions of its rules, as far as they do not depend on batches.

Most updates find relations in the same layouts, and of about the sizes, that an earlier one has left: then they have
the same program (`program_of`), and only the batches that it reads are others (`inputs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from weakref import WeakKeyDictionary

import numpy as np

from tidelog.base.record import record
from tidelog.plan.closures.split_modules import ClosureRule
from tidelog.plan.nodes import AntiJoin, Project, Rule, Scan
from tidelog.run.columnar.arrays.table import Words
from tidelog.run.columnar.machine.instructions import Compiler, Instructions, Line, lines_of
from tidelog.run.columnar.machine.kernels import operands as op
from tidelog.run.columnar.rules.ordering import Orders
from tidelog.run.columnar.storage.layout import Layout
from tidelog.run.columnar.storage.order import Columns
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.columnar.store import Store
from tidelog.run.contract.phase import Phase
from tidelog.run.maintain.rounds import rederivation
from tidelog.run.phases import View, view_of


@record
class Sight:
    """What an instruction sees: a relation in one order. Of one of the stratum (`own`) also recent tuples."""

    relation: str
    columns: Columns
    view: View
    own: bool


class Program:
    """The variants of some rules in a phase; an instruction has the number of its sight in place of its batches."""

    def __init__(self, store: Store, rules: Sequence[Rule], phase: Phase, compiler: Compiler) -> None:
        self.rules = rules
        self._phase = phase
        self._places = {name: place for place, name in enumerate(sorted(store.members))}
        self._variants: list[Line] = []
        self._steps: list[Line] = []
        self._fields: list[Line] = []
        self._layouts: dict[tuple[str, Columns], Layout] = {}
        self.sights: dict[Sight, int] = {}
        self.registers, self.wide, self.deep = 1, 1, 0
        """How many registers a variant has at most, how many words a key, and how many instructions a variant."""
        self.blocked = {name for rule in rules for name in self._add_rule(store, rule, compiler)}
        """The relations whose delta is read by variants that are no instructions."""
        self.read = sorted({name for rule in rules for name in rule.reads})
        """The relations that the rules read."""
        self._shape = self._shape_of(store)
        self.variants, self.steps = lines_of(self._variants, op.VARIANT), lines_of(self._steps, op.STEP)
        self.fields: Words = np.array(self._fields, np.uint64).reshape(len(self._fields), op.FIELD)

    def holds(self, store: Store) -> bool:
        """Tell whether it would be the same now: relations have these orders and layouts, and about these sizes."""
        for (name, columns), layout in self._layouts.items():
            order = store.relation(name).orders.get(columns)
            if order is None or order.layout is not layout:
                return False
        return self._shape == self._shape_of(store)

    def _shape_of(self, store: Store) -> list[int]:
        again = int(store.tuning.estimates.again)
        return [store.relation(name).count().bit_length() // again for name in self.read]

    def _add_rule(self, store: Store, rule: Rule, compiler: Compiler) -> list[str]:
        """Add the variants of a rule; return the relations whose delta is read by variants that are no instructions."""
        if isinstance(rule, ClosureRule):
            return [] if self._phase is Phase.COUNT else list(rule.reads)  # its tuples have no other derivation
        if self._phase is Phase.COUNT and any(rule.aggregated):
            return [rule.head]
        blocked: list[str] = []
        for delta, tree in self._trees(rule):
            join_plan = store.orders.best(rule, tree, store.relation)
            ways = compiler.compiled(join_plan)
            if not ways:
                blocked.append(delta)
            else:
                twins = [twin for twin in ways[1:] if _serves(store, twin)]
                self._add_variant(store, rule, ways[0], len(twins))
                for twin in twins:
                    self._add_variant(store, rule, twin, 0)
        return blocked

    def _trees(self, rule: Rule) -> list[tuple[str, Project]]:
        """Return the trees of a rule in this phase, each with the relation whose delta it reads."""
        if self._phase is Phase.COUNT:
            return [(rule.head, rederivation(rule))]
        reading = [(rule.reads[v.delta], v.tree) for v in rule.variants if v.delta is not None]
        return [(delta, tree) for delta, tree in reading if delta in self._places]

    def _add_variant(self, store: Store, rule: Rule, instructions: Instructions, twins: int) -> None:
        first = len(self._steps)
        delta, *links = instructions.links
        assert isinstance(delta.step, Scan)
        member, head = store.relation(delta.step.relation), store.relation(rule.head)
        for place, link in enumerate(links, 1):
            step = link.step
            scan = step.right if isinstance(step, AntiJoin) else step
            assert isinstance(scan, Scan)
            self._add_step(store, rule, instructions, place, scan, anti=scan is not step)
        self.registers, self.deep = max(self.registers, instructions.registers), max(self.deep, len(links))
        bound = self._add(instructions.operands(0, self._layout(member, member.main.columns)).new)
        given = self._add(instructions.head(self._layout(head, head.main.columns)))
        places = self._places[member.name], first, len(self._steps), self._places[head.name]
        self._variants.append((*places, *bound, *given, twins))

    def _add_step(
        self, store: Store, rule: Rule, instructions: Instructions, place: int, scan: Scan, *, anti: bool
    ) -> None:
        own = scan.relation in self._places
        relation = store.relation(scan.relation)
        view = view_of(scan, rule, self._phase, store.members, negated=anti)
        columns = relation.order(instructions.links[place].probe.columns).columns
        operands = instructions.operands(place, self._layout(relation, columns))
        self.wide = max(self.wide, operands.full + 1)
        sight = Sight(relation.name, columns, View(view.limit, view.inserted) if own else view, own)
        number = self.sights.setdefault(sight, len(self.sights))
        key, new = self._add(operands.key), self._add(operands.new)
        old = own and not view.delta
        self._steps.append((anti, number, number, operands.full, operands.shift, *key, *new, old, own))

    def _layout(self, relation: Relation, columns: Columns) -> Layout:
        layout = self._layouts[relation.name, columns] = relation.orders[columns].layout
        return layout

    def _add(self, fields: Sequence[Line]) -> tuple[int, int]:
        start = len(self._fields)
        self._fields += fields
        return start, len(self._fields)


def _serves(store: Store, instructions: Instructions) -> bool:
    """Tell whether the orders that these instructions search are all there."""
    for link in instructions.links[1:]:
        if isinstance(link.step, Scan):
            bound, orders = link.probe.columns, store.relation(link.step.relation).orders
            if not any(frozenset(columns[: len(bound)]) == bound for columns in orders):
                return False
    return True


@record
class Programs:
    """What an engine keeps of its programs."""

    compiler: Compiler = field(default_factory=Compiler)
    made: dict[tuple[Phase, tuple[int, ...]], Program] = field(default_factory=dict)


_programs: WeakKeyDictionary[Orders, Programs] = WeakKeyDictionary()
"""Those of each engine, by the join orders that they follow."""


def program_of(store: Store, rules: Sequence[Rule], phase: Phase) -> Program:
    """Return the program of rules in a phase; made anew when relations have changed much.

    In COUNT these are the rules evaluated backwards.
    """
    programs = _programs.get(store.orders)
    if programs is None:
        programs = _programs[store.orders] = Programs()
    made, key = programs.made, (phase, tuple(map(id, rules)))
    found = made.get(key)
    if found is None or not found.holds(store):
        if len(made) >= store.tuning.estimates.programs:
            made.clear()
        found = made[key] = Program(store, rules, phase, programs.compiler)
    return found
