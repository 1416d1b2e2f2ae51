"""`ground`: rewrites that have come through the whole body of a rule become facts (paper 000, Equation 3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tidelog.base.tuning.plans import Traces
from tidelog.base.tuning.table import DEFAULT
from tidelog.run.columnar.arrays.table import U
from tidelog.run.dbsp.circuits.operators import Stateless
from tidelog.run.dbsp.circuits.tagged import Tagged
from tidelog.run.dbsp.rewriting.kit import Signal
from tidelog.run.dbsp.rewriting.parts import Bindings, Expressions, head_rows
from tidelog.run.dbsp.rewriting.rewrites import History
from tidelog.run.dbsp.zsets.trace import Pending


class Ground(Stateless):
    """The join of rewrites with grounding signals on the provenance, and the head of each pair.

    Signals change at the first inner time of an update; a signal that is new, or gone, grounds all rewrites of its
    provenance, each at its time, which is one before that at which `History` has them.
    """

    def __init__(self, history: History, expressions: Expressions | None, tuning: Traces = DEFAULT.traces) -> None:
        self._history = history
        self._tuning = tuning
        self._expressions = expressions
        self._at: dict[int, dict[Signal, None]] = {}
        self._pending: dict[str, Pending] = {}

    def step(self, time: int, *inputs: Any) -> Any:
        rewrites, signals = inputs
        for signal, weight in signals:
            for batch in self._history.past(signal.source):
                self._emit(signal, batch.rows[:-1], batch.weights * weight, batch.rows[-1] - U(1))
            here = self._at.setdefault(signal.source, {})
            if weight > 0:
                here[signal] = None
            else:
                del here[signal]
        for source, change in rewrites:
            for signal in self._at.get(source, ()):
                self._emit(signal, change.rows, change.weights, np.full(len(change), time, U))
        return Tagged({name: pending.take(time) for name, pending in self._pending.items() if pending.next() == time})

    def _emit(self, signal: Signal, rows: Any, weights: Any, times: Any) -> None:
        bindings = Bindings(dict(zip(signal.bound, rows, strict=True)), weights, times)
        made = head_rows(signal.terms, bindings, self._expressions)
        if signal.relation not in self._pending:
            self._pending[signal.relation] = Pending(len(signal.terms), self._tuning)
        self._pending[signal.relation].put(made, weights, times)

    def next_time(self) -> int | None:
        times = (pending.next() for pending in self._pending.values())
        return min((time for time in times if time is not None), default=None)

    def settle(self) -> None:
        self._pending = {}

    def snapshot(self) -> Any:
        return {source: dict(signals) for source, signals in self._at.items() if signals}

    def restore(self, state: Any) -> None:
        self._at = {source: dict(signals) for source, signals in state.items()}
        self._pending = {}
