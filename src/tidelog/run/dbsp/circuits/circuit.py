"""Circuits: operators connected by wires, which one can build, draw and step.

A wire carries a stream of changes; a step takes the changes of the inputs and returns those of the outputs. The methods
of `Wire` are the incremental operators of DBSP: what flows out of `a.join(b, ...)` are the changes of the join of all
that came in. `lift` applies a function to the changes themselves, and with `integrate` and `differentiate` gives any
Q^Delta by its definition.

A `Loop` is a nested stream: inside, every outer step is a stream of iterations, which goes on until nothing changes any
more. Wires go in by `introduce`, come out by `eliminate`, and go back by `feedback`, one iteration later. A loop may
stand in another; it comes to its end in each iteration of that.

Columns and wires are checked when a circuit is built, which ends with its first step. A step happens or does not: after
a function of the user raised, the circuit is as before it.

>>> from tidelog.run.dbsp.zsets.zset import ZSet
>>> circuit = Circuit()
>>> edges = circuit.input("edges", columns=2)
>>> with circuit.loop() as loop:
...     edge = loop.introduce(edges)
...     path = loop.feedback(columns=2)
...     longer = path.join(edge, on=[(1, 0)], keep=[0, 3])
...     closed = (edge + longer).distinct()
...     path.connect(closed)
>>> circuit.output("paths", loop.eliminate(closed))
>>> circuit.step(edges=ZSet.of({("a", "b"): 1, ("b", "c"): 1}))["paths"]
ZSet({('a', 'b'): 1, ('a', 'c'): 1, ('b', 'c'): 1})
>>> circuit.step(edges=ZSet.of({("a", "b"): -1}))["paths"]
ZSet({('a', 'b'): -1, ('a', 'c'): -1})
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Self

from tidelog.base.arguments import expect
from tidelog.base.tuning.plans import Traces
from tidelog.base.tuning.table import DEFAULT
from tidelog.run.dbsp.circuits.build import chosen, count, expect_function, same_columns
from tidelog.run.dbsp.circuits.clock import DEEPEST, Clock
from tidelog.run.dbsp.circuits.operators import (
    Delay,
    Distinct,
    Grouped,
    Held,
    Introduce,
    Join,
    Nested,
    Operator,
    Stateless,
)
from tidelog.run.dbsp.zsets.indexed import IndexedZSet
from tidelog.run.dbsp.zsets.values import VALUES, Values
from tidelog.run.dbsp.zsets.zset import Row, ZSet


class Wire:
    """A stream in a circuit, the output of an operator. `zero` is the neutral element of its values."""

    def __init__(self, scope: Scope, label: str, operator: Operator, inputs: Sequence[Wire], zero: Any) -> None:
        self.scope = scope
        self.label = label
        self.operator = operator
        self.inputs = tuple(inputs)
        self.zero = zero
        self.number = scope.circuit.add(self)

    @property
    def columns(self) -> int:
        """The number of columns of the Z-sets on it."""
        return int(self.zero.columns)

    def then(self, label: str, operator: Operator, others: Sequence[Wire] = (), zero: Any = None) -> Wire:
        """Return the output of an operator on this wire and others; `zero` is as on this wire unless given."""
        circuit = self.scope.circuit
        scope = circuit.scope
        for wire in (self, *others):
            expect(wire, Wire, label, "a wire")
            if wire.scope.circuit is not circuit:
                raise ValueError(f"{label}: the wire `{wire.label}` is in another circuit")
            if wire.scope is not scope:
                outside = wire.scope in scope.around()
                where = "outside the loop: take it in by `introduce`" if outside else "in a loop: `eliminate`"
                raise ValueError(f"the wire `{wire.label}` is {where}")
        return Wire(scope, label, operator, (self, *others), self.zero if zero is None else zero)

    # --- linear ------------------------------------------------------------------------------------------------------

    def __add__(self, other: Wire) -> Wire:
        same_columns("+", self, other)
        return self.then("+", Stateless(lambda a, b: a + b), [other])

    def __sub__(self, other: Wire) -> Wire:
        same_columns("-", self, other)
        return self.then("-", Stateless(lambda a, b: a - b), [other])

    def __neg__(self) -> Wire:
        return self.then("negate", Stateless(lambda a: -a))

    def select(self, keep: Callable[[Row], bool], label: str = "select") -> Wire:
        """Return the rows for which a function is true."""
        expect_function(keep, "keep", "rows")
        values = self.scope.circuit.values
        return self.then(label, Stateless(lambda a: a.select(keep, values)))

    def project(self, columns: Sequence[int]) -> Wire:
        """Return some columns in this order, duplicates counted."""
        columns = chosen("project", columns, self)
        zero = ZSet.zero(len(columns))
        return self.then(f"project {tuple(columns)}", Stateless(lambda a: a.project(columns)), (), zero)

    def map(self, function: Callable[[Row], Sequence[Hashable]], columns: int, label: str = "map") -> Wire:
        """Return what a function makes of each row."""
        expect_function(function, "function", "rows")
        columns = count(columns)
        values = self.scope.circuit.values
        return self.then(label, Stateless(lambda a: a.map(function, columns, values)), (), ZSet.zero(columns))

    # --- bilinear, and of whole groups -------------------------------------------------------------------------------

    def join(self, other: Wire, on: Sequence[tuple[int, int]], keep: Sequence[int] | None = None) -> Wire:
        """Return pairs of rows that agree on pairs of columns; `keep` chooses among the columns of both."""
        expect(other, Wire, "join", "a wire")
        width = self.columns + other.columns
        left = chosen("join", [a for a, _ in on], self)
        right = chosen("join", [b for _, b in on], other)
        on = list(zip(left, right, strict=True))
        kept = tuple(range(width)) if keep is None else chosen("keep", keep, width)
        label = "join on " + ", ".join(f"{a} = {b}" for a, b in on) if on else "product"
        join = Join((self.columns, other.columns), on, kept, self.scope.circuit.tuning, self.scope.clock)
        return self.then(label, join, [other], ZSet.zero(len(kept)))

    def antijoin(self, other: Wire, on: Sequence[tuple[int, int]]) -> Wire:
        """Return the rows that agree on pairs of columns with no row of positive weight."""
        expect(other, Wire, "antijoin", "a wire")
        there = other.project([b for _, b in on]).distinct()
        pairs = [(a, i) for i, (a, _) in enumerate(on)]
        return self - self.join(there, on=pairs, keep=range(self.columns))

    def distinct(self) -> Wire:
        """Return the rows with a positive weight as a set."""
        columns, scope = self.columns, self.scope
        if scope.clock.depth < 2:
            return self.then("distinct", Distinct(columns, scope.circuit.tuning))
        return self.then(
            "distinct", Nested(columns, columns, ZSet.distinct, columns, scope.clock, scope.circuit.tuning)
        )

    def aggregate(self, key: Sequence[int], reduce: Callable[[dict[Row, int]], Iterable[Row]], columns: int) -> Wire:
        """Return for each key what a function makes of its group: from rows of the other columns, with their weights.

        The rows of the result are the key and `columns` more; a group may have any number of them.
        """
        expect_function(reduce, "reduce", "groups")
        key, columns = chosen("aggregate", key, self, once=True), count(columns)
        rest = [c for c in range(self.columns) if c not in key]
        values = self.scope.circuit.values

        def reduced(groups: ZSet) -> ZSet:
            return IndexedZSet(groups, len(key)).aggregate(reduce, columns, values)

        arranged = self.project([*key, *rest])
        width = len(key) + columns
        clock, tuning = self.scope.clock, self.scope.circuit.tuning
        operator: Operator = (
            Grouped(self.columns, len(key), reduced, width, tuning)
            if clock.depth < 2
            else Nested(self.columns, len(key), reduced, width, clock, tuning)
        )
        return arranged.then(f"aggregate by {tuple(key)}", operator, (), ZSet.zero(width))

    # --- time --------------------------------------------------------------------------------------------------------

    def delay(self) -> Wire:
        """Return the stream one outer step later: z^-1."""
        return self._held("z^-1", lambda new, held: (held, new))

    def integrate(self) -> Wire:
        """Return the sums of all outer steps so far: I."""
        return self._held("I", lambda new, held: (held + new, held + new))

    def differentiate(self) -> Wire:
        """Return the changes from one outer step to the next: D."""
        return self._held("D", lambda new, held: (new - held, new))

    def _held(self, label: str, function: Callable[[Any, Any], tuple[Any, Any]]) -> Wire:
        if self.scope is not self.scope.circuit:
            raise ValueError(f"{label} is an operator of the outer time, which stands still in a loop")
        return self.then(label, Held(function, self.zero))


class Scope:
    """A place for operators: the circuit, or one of its loops."""

    def __init__(self, circuit: Circuit | None = None) -> None:
        self.circuit: Circuit = circuit or self  # type: ignore[assignment]
        self.body: list[Wire | Loop] = []
        self.parent: Scope | None = None
        self.clock = Clock(0)

    def around(self) -> Iterable[Scope]:
        """Yield the scopes that this one is in, from the inside."""
        scope = self.parent
        while scope is not None:
            yield scope
            scope = scope.parent

    def wires(self) -> Iterable[Wire]:
        """Yield all wires, those in loops included."""
        for part in self.body:
            yield from part.wires() if isinstance(part, Loop) else (part,)


class Circuit(Scope):
    """Operators and wires; `values` is the numbering of the values that functions of rows see.

    `tuning` says how operators look rows up.
    """

    def __init__(self, values: Values = VALUES, tuning: Traces = DEFAULT.traces) -> None:
        super().__init__()
        self.values = values
        self.tuning = tuning
        self.scope: Scope = self
        self.inputs: dict[str, Wire] = {}
        self.outputs: dict[str, Wire] = {}
        self._count = 0
        self._stepped = False

    def add(self, wire: Wire) -> int:
        """Place a wire; return its number."""
        if self._stepped:
            raise ValueError(f"{wire.label}: the circuit has taken a step, and what went before would be missing in it")
        wire.scope.body.append(wire)
        self._count += 1
        return self._count - 1

    def input(self, name: str, columns: int = 0, zero: Any = None) -> Wire:
        """Return a wire that `step` is given; its values are Z-sets of `columns` columns, or have another `zero`."""
        expect(name, str, "name", "the name of an input")
        if name in self.inputs:
            raise ValueError(f"there is an input {name} already")
        if self.scope is not self:
            raise ValueError(f"the input {name} is given in a loop: inputs come from outside, by `introduce`")
        neutral = ZSet.zero(count(columns)) if zero is None else zero
        wire = self.inputs[name] = Wire(self, name, Stateless(lambda: neutral), (), neutral)
        return wire

    def output(self, name: str, wire: Wire) -> None:
        """Let `step` return a wire under a name."""
        expect(name, str, "name", "the name of an output")
        expect(wire, Wire, "wire", "a wire of this circuit")
        if wire.scope is not self:
            inside = isinstance(wire.scope, Loop) and wire.scope.circuit is self
            where = "in a loop: take it out by `eliminate`" if inside else "in another circuit"
            raise ValueError(f"the wire `{wire.label}` is {where}")
        if name in self.outputs:
            raise ValueError(f"there is an output {name} already")
        self.outputs[name] = wire

    def lift(self, function: Callable[..., Any], *wires: Wire, label: str = "lift", zero: Any = None) -> Wire:
        """Return a function of what is on some wires at each time; `zero` if its values are not as on the first."""
        expect_function(function, "function", "what is on the wires")
        if not wires:
            raise ValueError(f"{label}: a function of no wires never changes; give it one at least")
        expect(wires[0], Wire, label, "a wire")
        return wires[0].then(label, Stateless(function), wires[1:], zero)

    def loop(self) -> Loop:
        """Return a loop, to be built in a `with` block."""
        return Loop(self)

    def step(self, **changes: Any) -> dict[str, Any]:
        """Take the changes of inputs, those not named being zero, and return the changes of the outputs.

        If a function of the user raises, nothing has happened: the same step may be taken again, or another.
        """
        self._check(changes)
        state = self.snapshot()
        try:
            return self.advance(**changes)
        except BaseException:
            self.restore(state)
            raise

    def _check(self, changes: dict[str, Any]) -> None:
        if self.scope is not self:
            raise ValueError("a loop is being built: its block must end before a step")
        unknown = changes.keys() - self.inputs.keys()
        if unknown:
            raise ValueError(f"no input {', '.join(sorted(unknown))}; there are {', '.join(sorted(self.inputs))}")
        for name, value in changes.items():
            wanted = self.inputs[name].zero
            if isinstance(wanted, ZSet):
                expect(value, ZSet, f"input {name}", "a Z-set")
                if value.columns != wanted.columns:
                    raise ValueError(f"the input {name} has {wanted.columns} columns, the change {value.columns}")

    def advance(self, **changes: Any) -> dict[str, Any]:
        """Take a step like `step`, for those who go back by `restore` themselves after a failure."""
        self._stepped = True
        at: dict[int, Any] = {wire.number: changes[name] for name, wire in self.inputs.items() if name in changes}
        for part in self.body:
            if isinstance(part, Loop):
                part.run(at, ())
            elif part.number not in at:
                at[part.number] = _evaluate(part, 0, at)
        for wire in self.wires():
            wire.operator.settle()
        return {name: at[wire.number] for name, wire in self.outputs.items()}

    def snapshot(self) -> Any:
        """Return the state, for `restore`; costs nothing in the size of what the operators hold."""
        return [wire.operator.snapshot() for wire in self.wires()]

    def restore(self, state: Any) -> None:
        """Go back to a state, also from the middle of a step that failed."""
        for wire, held in zip(self.wires(), state, strict=True):
            wire.operator.restore(held)


class Loop(Scope):
    """A nested circuit whose clock counts the iterations of one outer step.

    `watch`, if there is one, is called with the inner time of each iteration before it begins.
    """

    def __init__(self, circuit: Circuit) -> None:
        super().__init__(circuit)
        self._feedbacks: list[Feedback] = []
        self._introduced: list[tuple[Wire, Wire]] = []
        self._eliminated: list[tuple[Wire, Wire]] = []
        self.watch: Callable[[int], None] | None = None

    def __enter__(self) -> Self:
        circuit = self.circuit
        if circuit.scope.clock.depth == DEEPEST:
            raise ValueError(f"loops may be nested {DEEPEST} deep")
        self.parent = circuit.scope
        self.clock = Clock(self.parent.clock.depth + 1)
        self.parent.body.append(self)
        circuit.scope = self
        return self

    def __exit__(self, *exception: object) -> None:
        self.circuit.scope = parent = self._outside
        open_ended = next((wire for wire in self._feedbacks if wire.source is None), None)
        if exception != (None, None, None) or open_ended is not None:
            # A loop that is not finished could not run.
            del parent.body[parent.body.index(self) :]
        if open_ended is not None and exception == (None, None, None):
            raise ValueError(f"the wire `{open_ended.label}` feeds nothing back: `connect` it")

    @property
    def _outside(self) -> Scope:
        """What the loop is in."""
        if self.parent is None:
            raise ValueError("a loop is built in its `with` block")
        return self.parent

    def introduce(
        self, wire: Wire, times: Callable[[Any], Iterable[tuple[int, Any]]] | None = None, zero: Any = None
    ) -> Wire:
        """Take a wire into the loop: delta_0. `times` may make other values of one, each at a time of its own."""
        expect(wire, Wire, "introduce", "a wire")
        self._check_open("introduce")
        if wire.scope is not self.parent:
            where = "inside already" if wire.scope is self else "in another circuit or loop"
            if wire.scope in self.around():
                where = "outside of the loop around this one: take it in there first"
            raise ValueError(f"introduce: the wire `{wire.label}` is {where}")
        neutral = wire.zero if zero is None else zero
        inside = Wire(self, "delta_0", Introduce(neutral, times), (wire,), neutral)
        self._introduced.append((wire, inside))
        return inside

    def feedback(self, columns: int = 0, zero: Any = None, label: str = "z^-1") -> Feedback:
        """Return a wire that carries what another one, connected later, had one iteration before."""
        self._check_open("feedback")
        made = Feedback(self, label, ZSet.zero(count(columns)) if zero is None else zero)
        self._feedbacks.append(made)
        return made

    def eliminate(self, wire: Wire) -> Wire:
        """Take a wire out of the loop: the sum over all iterations."""
        expect(wire, Wire, "eliminate", "a wire")
        if wire.scope is not self:
            raise ValueError(f"eliminate: the wire `{wire.label}` is not in this loop")
        outside = Wire(self._outside, "integral", Stateless(lambda: wire.zero), (wire,), wire.zero)
        self._eliminated.append((wire, outside))
        return outside

    def _check_open(self, what: str) -> None:
        if self.circuit.scope is not self:
            raise ValueError(f"{what}: a loop is built in its `with` block")

    def run(self, at: dict[int, Any], around: tuple[int, ...]) -> None:
        """Iterate until nothing is kept for a later iteration; `around` are the iterations of the loops around it."""
        start = self.clock.packed((*around, 0))
        for outside, inside in self._introduced:
            inside.operator.load(at[outside.number], start)  # type: ignore[attr-defined]
        at.update({outside.number: outside.zero for _, outside in self._eliminated})
        time: int | None = start
        while time is not None:
            if self.watch is not None:
                self.watch(time)
            here: dict[int, Any] = {}
            iterations = self.clock.unpacked(time)
            for part in self.body:
                if isinstance(part, Loop):
                    part.run(here, iterations)
                elif part.number not in here:
                    here[part.number] = _evaluate(part, time, here)
            for inside, outside in self._eliminated:
                at[outside.number] = at[outside.number] + here[inside.number]
            for wire in self._feedbacks:
                wire.keeper.feed(time, here[wire.source.number])  # type: ignore[union-attr]
            later = self._next(start)
            assert later is None or later > time, "an operator has kept something for a time that is over"
            time = later

    def _times(self) -> Iterable[int]:
        """Yield for each part the first time for which it keeps something."""
        for part in self.body:
            time = part.next_time() if isinstance(part, Loop) else part.operator.next_time()
            if time is not None:
                yield time

    def _next(self, start: int) -> int | None:
        """Return the first time for which something is kept, in the same iterations of the loops around."""
        bits = self.clock.bits
        return min((time for time in self._times() if time >> bits == start >> bits), default=None)

    def next_time(self) -> int | None:
        """Return the first time of the loop around this one for which something is kept here."""
        time = min(self._times(), default=None)
        return None if time is None else self._outside.clock.packed(self.clock.unpacked(time)[:-1])


class Feedback(Wire):
    """A wire from the last iteration."""

    def __init__(self, loop: Loop, label: str, zero: Any) -> None:
        self.keeper = Delay(zero)
        self.source: Wire | None = None
        super().__init__(loop, label, self.keeper, (), zero)

    def connect(self, source: Wire) -> None:
        """Say which wire feeds it."""
        expect(source, Wire, "connect", "a wire")
        if source.scope is not self.scope:
            raise ValueError(f"the wire `{source.label}` is not in this loop")
        if self.source is not None:
            raise ValueError(f"the wire `{self.label}` is connected already, to `{self.source.label}`")
        same_columns("connect", self, source)
        self.source = source


def _evaluate(wire: Wire, time: int, at: dict[int, Any]) -> Any:
    """Return what an operator makes of its inputs; an idle one is not asked."""
    operator = wire.operator
    if isinstance(operator, Delay | Introduce):
        return operator.step(time)
    inputs = [at[other.number] for other in wire.inputs]
    if not any(map(len, inputs)) and operator.next_time() != time:
        return wire.zero
    return operator.step(time, *inputs)
