"""An atom seen from variables that are bound already: which columns are looked up, which give new variables."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

from tidelog.base.expr import Const, Var
from tidelog.base.record import record
from tidelog.run.contract.engine import Row
from tidelog.run.tuples.index import Columns


@record
class Probe:
    """A look-up in a relation.

    `columns` are compared with the `sources`, constants and bound variables; `new` variables are given by columns;
    pairs of `equal` columns must agree, where a new variable occurs twice.
    """

    columns: Columns
    sources: tuple[Var | Const, ...]
    new: tuple[tuple[str, int], ...]
    equal: tuple[tuple[int, int], ...]

    @property
    def agrees(self) -> Callable[[Row], bool] | None:
        """What tells whether the equal columns of a row agree; None if there are none."""
        pairs = self.equal
        if not pairs:
            return None
        return lambda row: all(row[a] is row[b] or row[a] == row[b] for a, b in pairs)

    def key(self, reader: Callable[[str], Callable[[Any], Any]]) -> Callable[[Any], Any]:
        """Return what makes the key of bindings; `reader` gives the function that reads a variable of them."""
        parts = [_constant(s.value) if isinstance(s, Const) else reader(s.name) for s in self.sources]
        if len(parts) == 1:
            return parts[0]
        if len(parts) == 2:
            first, second = parts
            return lambda bindings: (first(bindings), second(bindings))
        return lambda bindings: tuple([part(bindings) for part in parts])


def _constant(value: Any) -> Callable[[Any], Any]:
    return lambda _: value


def make_probe(terms: Sequence[Var | Const | None], bound: Container[str]) -> Probe:
    """See the terms of an atom from bound variables."""
    sources: dict[int, Var | Const] = {}
    new: dict[str, int] = {}
    equal: list[tuple[int, int]] = []
    for column, term in enumerate(terms):
        if term is None:
            continue
        if isinstance(term, Const) or term.name in bound:
            sources[column] = term
        elif term.name in new:
            equal.append((new[term.name], column))
        else:
            new[term.name] = column
    return Probe(tuple(sources), tuple(sources.values()), tuple(new.items()), tuple(equal))
