"""Join plans as instructions of the virtual machine: lines of numbers, of which `kernels.operands` has the places.

Such a plan begins with a delta and goes on with scans and anti-joins to a head of variables and constants; that two
terms differ is asked when the last of them is bound. Each variable has a register; how the fields of a row bind
registers, or registers make a key, depends on the layout, and is worked out only when that has changed.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tidelog.base import types as t
from tidelog.base.expr import Const, Expr, Operate, Var
from tidelog.base.record import record
from tidelog.plan.nodes import AntiJoin, Scan, Select, Version
from tidelog.run.columnar.machine.kernels import operands as op
from tidelog.run.columnar.rules.bindings import Source
from tidelog.run.columnar.rules.join_plan import JoinPlan, Link
from tidelog.run.columnar.storage.layout import Field, Layout

Line = tuple[int, ...]
Numbers = npt.NDArray[np.int64]


@record
class Operands:
    """How an instruction searches rows of one layout: the prefix, fields of the key, and the fields that it binds."""

    full: int
    shift: int
    key: Sequence[Line]
    new: Sequence[Line]


@record
class Unequal:
    """What must differ: the variable that a link binds, and another one or the code of a constant."""

    place: int
    bound: str
    other: Source


class Instructions:
    """The links of a join plan, the first of which reads the delta, and the head."""

    def __init__(
        self, links: Sequence[Link], sources: Mapping[Hashable, Source], unequal: Sequence[Unequal] = ()
    ) -> None:
        self.links = links
        self._unequal = unequal
        self._sources = sources
        self._registers: dict[str, int] = {}
        for link in links:
            for name in link.probe.new:
                self._registers.setdefault(name, len(self._registers))
        self._known: list[tuple[Layout, Operands] | None] = [None] * len(links)
        self._head: tuple[Layout, Sequence[Line]] | None = None

    @property
    def registers(self) -> int:
        """How many registers it takes."""
        return len(self._registers)

    def operands(self, place: int, layout: Layout) -> Operands:
        """Return the operands of a link for rows of a layout."""
        known = self._known[place]
        if known is None or known[0] is not layout:
            known = self._known[place] = layout, self._find(place, layout)
        return known[1]

    def head(self, layout: Layout) -> Sequence[Line]:
        """Return the fields of the head in a layout of its relation."""
        if self._head is None or self._head[0] is not layout:
            made = [self._filled(source, layout.fields[column]) for column, source in self._sources.items()]
            self._head = layout, made
        return self._head[1]

    def _find(self, place: int, layout: Layout) -> Operands:
        probe = self.links[place].probe
        names = {column: name for name, column in probe.new.items()}
        new = [
            *(_line(op.SET, self._registers[name], layout.fields[column]) for name, column in probe.new.items()),
            *(_line(op.SAME, self._registers[names[a]], layout.fields[b]) for a, b in probe.equal),
            *(self._differing(one, layout.fields[probe.new[one.bound]]) for one in self._unequal if one.place == place),
        ]
        if place == 0:  # constants of the delta are looked at, not searched for, and first: most tuples may have others
            fixed = [self._filled(source, layout.fields[column]) for column, source in probe.bound.items()]
            return Operands(0, 64, (), [*fixed, *new])
        fields = layout.key(len(probe.bound)).fields
        key = [self._filled(source, fields[column]) for column, source in probe.bound.items()]
        return Operands(*layout.prefix(len(probe.bound)), key, new)

    def _differing(self, one: Unequal, field: Field) -> Line:
        """Return the line of a field that must not have the code of a variable or constant."""
        if isinstance(one.other, int):
            return _line(op.OTHER, one.other, field)
        return _line(op.UNLIKE, self._registers[one.other], field)

    def _filled(self, source: Source, field: Field) -> Line:
        """Return the line of a field that has the code of a variable or constant."""
        if isinstance(source, int):
            return _line(op.CONSTANT, source, field)
        return _line(op.SET, self._registers[source], field)


class Compiler:
    """The instructions of the join plans compiled so far."""

    def __init__(self) -> None:
        self._compiled: dict[int, tuple[JoinPlan, Sequence[Instructions]]] = {}

    def compiled(self, join_plan: JoinPlan) -> Sequence[Instructions]:
        """Return a join plan as instructions of the virtual machine, and the same with another scan after the delta.

        The second is there only where there is the choice; nothing is if there are no instructions for a step.
        """
        found = self._compiled.get(id(join_plan))
        if found is None or found[0] is not join_plan:
            if len(self._compiled) >= join_plan.tuning.estimates.join_plans:
                self._compiled.clear()
            found = self._compiled[id(join_plan)] = join_plan, _compile(join_plan)
        return found[1]


def _compile(join_plan: JoinPlan) -> Sequence[Instructions]:
    deltas = [scan.version for scan in join_plan.scans].count(Version.DELTA)
    if join_plan.first is None or join_plan.sources is None or not join_plan.from_delta or deltas != 1:
        return ()
    if join_plan.scans[0].version is not Version.DELTA:
        return ()
    then = join_plan.first.then
    ways = [then] if then is None or then.other is None else [then, then.other]
    made = [_instructions(join_plan.first, way, join_plan.sources) for way in ways]
    most = join_plan.tuning.small_rounds.variables
    if made[0] is None or made[0].registers > most:
        return ()
    return [one for one in made if one is not None and one.registers <= most]


def _instructions(first: Link, link: Link | None, sources: Mapping[Hashable, Source]) -> Instructions | None:
    links, unequal = [first], list[Unequal]()
    while link is not None:
        match link.step:
            case Scan() | AntiJoin():
                links.append(link)
            case Select(_, condition) if (one := _unequal(condition, links)) is not None:
                unequal.append(one)
            case _:
                return None
        link = link.then
    return Instructions(links, sources, unequal) if isinstance(first.step, Scan) else None


def _unequal(condition: Expr, links: Sequence[Link]) -> Unequal | None:
    """Return what a condition says that two terms differ, if their codes tell."""
    match condition:
        case Operate("!=", (Var() | Const() as one, Var() | Const() as two)) if isinstance(one.type, _CODED):
            pass
        case _:
            return None
    codec, found = links[0].join_plan.codec, list[Unequal]()
    for mine, its in ((one, two), (two, one)):
        if isinstance(mine, Var):
            other = its.name if isinstance(its, Var) else codec.code(its.value, its.type)
            places = [place for place, link in enumerate(links) if _binds(link, mine.name)]
            found += [Unequal(place, mine.name, other) for place in places]
    return max(found, key=lambda unequal: unequal.place, default=None)


def _binds(link: Link, name: str) -> bool:
    return isinstance(link.step, Scan) and name in link.probe.new


_CODED = t.Bool | t.Bit | t.Signed | t.String
"""Types of which equal values have equal codes, and only these."""


def lines_of(found: Sequence[Line], width: int) -> Numbers:
    """Return lines of numbers, all of one width, as an array."""
    return np.array(found, np.int64).reshape(len(found), width)


def _line(kind: int, what: int, field: Field) -> Line:
    return kind, what, field.word, field.shift, (1 << field.bits) - 1, field.base
