"""What the virtual machine reads of a stratum: a program, and the batches that it sees, as lines of numbers.

The addresses hold as long as the relations are left alone. Marks of batches that have none are lent: where the kernel
has used them, the batch takes them over (`take_marks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tidelog.plan.nodes import Rule
from tidelog.run.columnar.arrays.table import Marks
from tidelog.run.columnar.machine.instructions import Line, Numbers, lines_of
from tidelog.run.columnar.machine.kernels import operands as op
from tidelog.run.columnar.machine.kernels.state import Code
from tidelog.run.columnar.machine.program import Program, Sight, program_of
from tidelog.run.columnar.machine.workbench import Shape, lend
from tidelog.run.columnar.storage.batch import Batch, address
from tidelog.run.columnar.storage.order import Order, Where
from tidelog.run.columnar.store import Store
from tidelog.run.columnar.support.lifting import lifts, settles
from tidelog.run.contract.phase import Phase
from tidelog.run.phases import ALIVE


class Inputs:
    """The program of a stratum in a phase with its batches, and the bench for it."""

    def __init__(self, store: Store, rules: Sequence[Rule]) -> None:
        self._store = store
        thresholds = store.tuning.small_rounds
        self.largest = int(thresholds.derivations)
        """Derivations that a round may have."""
        self.room = int(thresholds.room) * self.largest
        """Tuples of a relation that can be recent."""
        self._losing = store.phase is Phase.DELETE
        self.relations = [store.relation(name) for name in sorted(store.members)]
        self._program = program_of(store, rules, store.phase)
        self._settling = self._losing and any(map(settles, self.relations))
        self._counting = program_of(store, rules, Phase.COUNT) if self._settling else self._program
        """The rules that find what tuples have left which lose support, where that has to be known."""
        self._batches: list[Line] = []
        self._recent: list[tuple[int, Order]] = []
        """The lines that are the recent tuples in an order."""
        self._held: dict[int, Batch] = {}
        """The batches in which tuples may die, or be counted, by their op."""
        self._lent: dict[int, Marks] = {}
        self.orders = [(place, order) for place, one in enumerate(self.relations) for order in one.orders.values()]
        """The orders of all relations, the main one of each first."""
        self.width = max(order.layout.words for _, order in self.orders)
        registers = max(self._program.registers, self._counting.registers)
        wide = max(self._program.wide, self._counting.wide)
        deep = max(self._program.deep, self._counting.deep)
        visits = max(int(thresholds.sight) * self.largest, deep + 1)  # `proving` has a binding for each step
        sizes = len(self.relations), len(self.orders), self.width, registers, wide, self.room, self.largest, visits
        self.workbench = lend(Shape(*sizes))
        if self._settling:
            for _, order in self.orders:
                for batch in (*order.settled, *order.inserted):
                    batch.ranks()  # each may change by itself
        self.code, self.counting = self._load()

    def orders_of(self, place: int) -> list[tuple[int, Order]]:
        """Return the orders of a relation with their numbers, the main one first."""
        return [(number, order) for number, (owner, order) in enumerate(self.orders) if owner == place]

    @property
    def held(self) -> list[Batch]:
        """The batches in which tuples may die, or be counted."""
        return list(self._held.values())

    @property
    def kept(self) -> list[Any]:
        """What must stay where it is while addresses are in use."""
        return [self._lent, *(array for batch in self.held for array in (batch.counts, batch.rank))]

    def take_marks(self) -> list[Batch]:
        """Let batches have the marks that the kernel has made; return these batches."""
        gone = {line: count for line in self._held if (count := int(self.code.batches[line, op.GONE]))}
        for line, count in gone.items():
            batch = self._held[line]
            batch.mark = self._marks(batch)
            batch.gone += count
        return [self._held[line] for line in gone]

    def _marks(self, batch: Batch) -> Marks:
        """Return the marks of a batch, or some that it may have."""
        if batch.mark is not None:
            return batch.mark
        return self._lent.setdefault(id(batch), np.zeros(batch.size, np.uint8))

    def places(self, where: Numbers) -> Where:
        """Return the rows that stand in some lines at some places."""
        if not len(where):
            return []
        batches, places = np.ascontiguousarray(where.T)
        found: Where = []
        for line in range(int(batches.min()), int(batches.max()) + 1):
            these = places[batches == line]
            if len(these):
                found.append((self._held[line], these))
        return found

    def _steps(self, program: Program) -> Numbers:
        """Return the instructions of a program with the batches that they see, which get op."""
        steps = program.steps.copy()
        if program.sights:
            seen = np.array([self._see(sight) for sight in program.sights], np.int64)
            steps[:, op.BATCHES], steps[:, op.END] = seen[program.steps[:, op.BATCHES]].T
        return steps

    def _load(self) -> tuple[Code, Code]:
        """Return the program with batches and relations, and the same of the rules that find what is left."""
        program, counting = self._program, self._counting
        steps = self._steps(program)
        steps_back = self._steps(counting) if self._settling else steps
        orders: list[Line] = []
        paths: list[npt.NDArray[np.uint64]] = []
        for place, order in self.orders:
            relation, start, first = self.relations[place], sum(map(len, paths)), len(self._batches)
            paths.append(order.path(relation.layout))
            if self._losing or order is relation.main:
                self._hold(order)
            orders.append((order.layout.words, start, start + len(paths[-1]), first, len(self._batches)))
        members: list[Line] = []
        for place, relation in enumerate(self.relations):
            those = [number for number, _ in self.orders_of(place)]
            read, blocked = relation.name in program.read, relation.name in program.blocked
            settled = 0 if not self._settling or not settles(relation) else op.COUNTS_LEFT + lifts(relation)
            members.append((relation.layout.words, those[0], those[-1] + 1, read, blocked, settled))
        for at, order in self._recent:
            self._batches[at] = self._recent_line(order)
        batches = lines_of(self._batches, op.BATCH)
        held = batches, lines_of(members, op.MEMBERS), lines_of(orders, op.ORDER), np.concatenate(paths)
        return (
            Code(program.variants, steps, program.fields, *held),
            Code(counting.variants, steps_back, counting.fields, *held),
        )

    def _see(self, sight: Sight) -> tuple[int, int]:
        """Give lines to the batches that an instruction sees; return which."""
        relation = self._store.relation(sight.relation)
        order = relation.orders[sight.columns]
        start, dying = len(self._batches), sight.own and self._losing
        for batch, limit in relation.batches(order, sight.view):
            self._batches.append(_line(batch, self._marks(batch) if dying else batch.mark, limit))
        if sight.own and not self._losing:
            self._recent.append((len(self._batches), order))
            self._batches.append((0,) * op.BATCH)
        return start, len(self._batches)

    def _hold(self, order: Order) -> None:
        """Give lines to the batches of an order, among which tuples are looked for by themselves."""
        for batch in (*order.settled, *order.inserted):
            self._held[len(self._batches)] = batch
            self._batches.append(_line(batch, self._marks(batch) if self._losing else batch.mark, ALIVE))

    def _recent_line(self, order: Order) -> Line:
        """Return the line of the recent tuples in an order; behind each row stands its place in the table."""
        number, member = next((n, place) for n, (place, other) in enumerate(self.orders) if other is order)
        room = self.workbench.recent.sorted[number]
        behind = order.layout.words * room.strides[0]
        return address(room), room.strides[0], 0, 0, 0, 0, 0, member, 0, behind, 0, 0


def _line(batch: Batch, marks: Marks | None, limit: int) -> Line:
    """Return the line of a batch."""
    rows, marked, ranks, counts, stride, line, after = batch.addresses()
    marked = marked if marks is batch.mark else address(marks)
    rank = 0 if isinstance(batch.rank, np.ndarray) else batch.rank or 0
    return rows, stride, batch.size, marked, limit, ranks, rank, -1, counts, line, after, 0
