"""The operators of circuits: each takes the changes of its inputs at a time and returns the change of its output.

Changes are changes in two ways at once: since the last outer step (an update), and since the last inner one (an
iteration of a loop; outside of loops the inner time is always 0, and in a loop inside a loop see `clock`). `Join` is
(lift (lift join)^Delta)^Delta: a change of one side meets all that the other side ever brought, and a pair belongs to
the later of its two inner times. It is found when its second half comes, at which time the later one may still lie
ahead; then it is kept until that time comes. `Grouped` is the same for functions that look at a whole group of rows,
such as distinct and aggregates.

An operator is idle at a time when its inputs are zero and it has kept nothing for that time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from tidelog.base.tuning.plans import Traces
from tidelog.base.tuning.table import DEFAULT
from tidelog.run.columnar.arrays.table import U, Words
from tidelog.run.dbsp.circuits.clock import ONE_LOOP, Clock
from tidelog.run.dbsp.zsets.trace import Pending, Trace, untimed
from tidelog.run.dbsp.zsets.zset import ZSet, matches, multiplied


class Operator(Protocol):
    """A part of a circuit. Inputs and output are group elements with a length of 0 for zero."""

    def step(self, time: int, *inputs: Any) -> Any:
        """Return the change of the output at an inner time, given those of the inputs."""

    def next_time(self) -> int | None:
        """Return the first inner time for which something is kept."""

    def settle(self) -> None:
        """End an outer step."""

    def snapshot(self) -> Any:
        """Return the state between two outer steps, which later ones leave alone."""

    def restore(self, state: Any) -> None:
        """Go back to a state."""


class Stateless:
    """A function at every time: what linear functions need to be incremental."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def step(self, time: int, *inputs: Any) -> Any:
        return self._function(*inputs)

    def next_time(self) -> int | None:
        return None

    def settle(self) -> None:
        """Nothing is kept."""

    def snapshot(self) -> Any:
        return None

    def restore(self, state: Any) -> None:
        """Nothing is kept."""


class _Waiting(Stateless):
    """What comes is there at a later time of the step; until then it waits."""

    def __init__(self, zero: Any) -> None:
        self._zero = zero
        self._waiting: dict[int, Any] = {}

    def step(self, time: int, *inputs: Any) -> Any:
        return self._waiting.pop(time, self._zero)

    def next_time(self) -> int | None:
        return min(self._waiting, default=None)

    def restore(self, state: Any) -> None:
        self._waiting = {}


class Delay(_Waiting):
    """z^-1 of the inner time. Its input is not known when its output is wanted: `feed` gives it afterwards."""

    def feed(self, time: int, value: Any) -> None:
        """Take the input of a time."""
        if len(value):
            self._waiting[time + 1] = value


class Introduce(_Waiting):
    """delta_0: what comes in an outer step is there at the first inner time, or at times of its own."""

    def __init__(self, zero: Any, times: Callable[[Any], Iterable[tuple[int, Any]]] | None = None) -> None:
        super().__init__(zero)
        self._times = times

    def load(self, value: Any, start: int = 0) -> None:
        """Begin to iterate, at this time."""
        if self._times is not None:
            self._waiting = {start + time: part for time, part in self._times(value)}
        elif len(value):
            self._waiting = {start: value}


class Held(Stateless):
    """A function of the input and of what is held from the last outer step; returns the output and what to hold.

    z^-1, I and D of the outer time.
    """

    def __init__(self, function: Callable[[Any, Any], tuple[Any, Any]], zero: Any) -> None:
        self._step = function
        self._held = zero

    def step(self, time: int, *inputs: Any) -> Any:
        output, self._held = self._step(inputs[0], self._held)
        return output

    def next_time(self) -> int | None:
        return 0

    def snapshot(self) -> Any:
        return self._held

    def restore(self, state: Any) -> None:
        self._held = state


class Join(Stateless):
    """The doubly incremental join of Z-sets on pairs of columns; `keep` chooses among the columns of both sides."""

    def __init__(
        self,
        columns: tuple[int, int],
        on: Sequence[tuple[int, int]],
        keep: Sequence[int],
        tuning: Traces = DEFAULT.traces,
        clock: Clock = ONE_LOOP,
    ) -> None:
        self._key = len(on)
        self._clock = clock
        keys = [a for a, _ in on], [b for _, b in on]
        self._orders = [[*key, *(c for c in range(n) if c not in key)] for key, n in zip(keys, columns, strict=True)]
        places = [(0, self._orders[0].index(c)) for c in range(columns[0])]
        places += [(1, self._orders[1].index(c)) for c in range(columns[1])]
        self._keep = [places[c] for c in keep]
        self._traces = Trace(columns[0], tuning=tuning), Trace(columns[1], tuning=tuning)
        self._pending = Pending(len(keep), tuning)

    def step(self, time: int, *inputs: Any) -> Any:
        left, right = (change.project(order) for change, order in zip(inputs, self._orders, strict=True))
        self._meet(left, self._traces[1], time, of_left=True)
        self._traces[0].add(left, time)
        self._meet(right, self._traces[0], time, of_left=False)
        self._traces[1].add(right, time)
        return self._pending.take(time)

    def _meet(self, change: ZSet, trace: Trace, time: int, *, of_left: bool) -> None:
        if not len(change):
            return
        for found in trace.find(change.rows[: self._key]):
            mine = change.rows[:, found.places]
            sides = (mine, found.rows) if of_left else (found.rows, mine)
            rows = np.stack([sides[side][c] for side, c in self._keep]) if self._keep else mine[:0]
            weights = multiplied(change.weights[found.places], found.weights)
            self._pending.put(rows, weights, self._clock.join(found.times, time))

    def next_time(self) -> int | None:
        return self._pending.next()

    def snapshot(self) -> Any:
        return [trace.batches for trace in self._traces]

    def restore(self, state: Any) -> None:
        for trace, batches in zip(self._traces, state, strict=True):
            trace.batches = batches
        self._pending = Pending(self._pending.columns, self._pending.tuning)


class Waking(Stateless):
    """What looks at keys with a change at an outer and an inner time, and keeps all that came.

    Besides the keys that change now, those have to be looked at that changed earlier in this outer step and, in earlier
    ones, at this inner time: a change meets the later iterations of the past.
    """

    def __init__(self, columns: int, key: int, tuning: Traces = DEFAULT.traces) -> None:
        self._key = key
        self._settled = Trace(columns, tuning=tuning)
        self._current = Trace(columns, tuning=tuning)
        self._waiting: dict[int, list[Words]] = {}

    def _keys(self, change: ZSet, time: int) -> Words:
        """Return the keys to look at, in order."""
        waiting = self._waiting.pop(time, [])
        if not waiting and self._key == change.columns:
            return change.rows
        pieces = np.concatenate([change.rows[: self._key], *waiting], axis=1)
        return ZSet.made(np.ascontiguousarray(pieces), np.ones(pieces.shape[1], np.int64)).rows

    def _wake(self, keys: Words, times: Words) -> None:
        """Let keys be looked at again at later times."""
        for time in np.unique(times):
            self._waiting.setdefault(int(time), []).append(keys[:, times == time])

    def next_time(self) -> int | None:
        return min(self._waiting, default=None)

    def settle(self) -> None:
        for batch in self._current.batches:
            self._settled.push(batch)
        self._current = Trace(self._current.columns, tuning=self._current.tuning)

    def snapshot(self) -> Any:
        return self._settled.batches

    def restore(self, state: Any) -> None:
        self._settled.batches = state
        self._current = Trace(self._current.columns, tuning=self._current.tuning)
        self._waiting = {}


class Grouped(Waking):
    """A function of whole groups: of the rows that agree in the first `key` columns.

    `function` takes a Z-set that has the complete groups of some keys and returns what they come to. Written A for the
    input summed up to an outer and an inner time, the change of f(A) at (t, t') is

        f(A[t, t']) - f(A[t-1, t']) - f(A[t, t'-1]) + f(A[t-1, t'-1])
    """

    def __init__(
        self,
        columns: int,
        key: int,
        function: Callable[[ZSet], ZSet],
        output: int,
        tuning: Traces = DEFAULT.traces,
    ) -> None:
        super().__init__(columns, key, tuning)
        self._function = function
        self._zero = ZSet.zero(output)

    def step(self, time: int, *inputs: Any) -> Any:
        (change,) = inputs
        keys = self._keys(change, time)
        if not keys.shape[1]:
            return self._zero
        before = self._settled.among(keys)
        times = before.rows[-1]
        later = before.where(times > U(time))
        self._wake(later.rows[: self._key], later.rows[-1])
        known, again = untimed(before, times < U(time)), untimed(before, times == U(time))
        current = untimed(self._current.among(keys))
        self._current.add(change, time)
        f = self._function
        after = f(known + again + current + change) - f(known + current)
        return after - (f(known + again) - f(known)) if len(again) else after


class Distinct(Waking):
    """The incremental distinct: `Grouped` for groups of one row, in which a sum of weights is all there is to know."""

    def __init__(self, columns: int, tuning: Traces = DEFAULT.traces) -> None:
        super().__init__(columns, columns, tuning)

    def step(self, time: int, *inputs: Any) -> Any:
        (change,) = inputs
        keys = self._keys(change, time)
        known, again, current = (np.zeros(keys.shape[1], np.int64) for _ in range(3))
        for found in self._settled.find(keys, ordered=True):
            for total, chosen in ((known, found.times < U(time)), (again, found.times == U(time))):
                np.add.at(total, found.places[chosen], found.weights[chosen])
            later = found.times > U(time)
            self._wake(found.rows[:, later], found.times[later])
        for found in self._current.find(keys, ordered=True):
            np.add.at(current, found.places, found.weights)
        self._current.add(change, time)
        after = known + again + current
        if keys is change.rows:
            after += change.weights
        else:
            after[matches(change.rows, keys)[1]] += change.weights
        turned = (after > 0).astype(np.int64) - (known + current > 0)
        turned -= (known + again > 0).astype(np.int64) - (known > 0)
        return ZSet(keys, turned).without_zeros()


class Nested(Waking):
    """`Grouped` in a loop inside a loop: the difference in the outer time and in each loop, by its definition.

    The change of f(A) at a time is the sum, with signs, of f(A) at its corners: at this or the last outer step, and at
    this or the last iteration of each loop.
    """

    def __init__(
        self,
        columns: int,
        key: int,
        function: Callable[[ZSet], ZSet],
        output: int,
        clock: Clock,
        tuning: Traces = DEFAULT.traces,
    ) -> None:
        super().__init__(columns, key, tuning)
        self._function = function
        self._zero = ZSet.zero(output)
        self._clock = clock

    def step(self, time: int, *inputs: Any) -> Any:
        (change,) = inputs
        keys = self._keys(change, time)
        if not keys.shape[1]:
            return self._zero
        self._current.add(change, time)
        before, now = self._settled.among(keys), self._current.among(keys)
        for rows in (before.rows, now.rows):
            meeting = self._clock.join(rows[-1], time)
            later = meeting != U(time)
            self._wake(rows[: self._key, later], meeting[later])
        total = self._zero
        for sign, earlier in self._clock.corners():
            old, new = (
                untimed(held, self._clock.within(held.rows[-1], time, earlier)) if len(held) else self._empty
                for held in (before, now)
            )
            if len(new):
                found = self._function(old + new) - self._function(old)
                total = total + found if sign > 0 else total - found
        return total

    @property
    def _empty(self) -> ZSet:
        return ZSet.zero(self._current.columns)
