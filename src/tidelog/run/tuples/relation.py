"""A relation's tuples: sets of rows, each with the indexes that were asked of it.

During an update a relation keeps apart what changes, as `run.phases` says: settled rows that are removed are marked,
what becomes true stands in `inserted` and the `delta`. Nothing of that is there between updates. `supports` has what is
kept of each tuple (`contract.Support`). A `Journal` can undo what an update did to the relations it was given.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tidelog.base import types as t
from tidelog.base.types import Type
from tidelog.base.values import order_key
from tidelog.run.contract.engine import Row
from tidelog.run.phases import ALIVE, CURRENT, DELETED, REMOVED, View
from tidelog.run.tuples.index import Columns, Index, Key, Ordering

Find = Callable[[Key], Collection[Row]]
Make = Callable[[Columns, Ordering], Index]
Support = tuple[int, ...]
"""The rank of a tuple, then its counts of derivations."""


class Part:
    """A set of rows with indexes, each made when it is first asked for."""

    __slots__ = ("_indexes", "_make", "_types", "rows")

    def __init__(self, types: Sequence[Type], make: Make) -> None:
        self.rows: set[Row] = set()
        self._types = types
        self._make = make
        self._indexes: dict[Columns, Index] = {}

    def add(self, rows: Collection[Row]) -> None:
        """Take in rows that are not there."""
        self.rows.update(rows)
        for index in self._indexes.values():
            index.add(rows)

    def remove(self, rows: Collection[Row]) -> None:
        """Take out rows that are there."""
        self.rows.difference_update(rows)
        for index in self._indexes.values():
            index.remove(rows)

    def forget_indexes(self) -> None:
        """Let indexes be made anew when they are asked for."""
        self._indexes = {}

    def finder(self, columns: Columns) -> Find:
        """Return what finds the rows that have given values in some columns."""
        rows = self.rows
        if not columns:
            return lambda _: rows
        if len(columns) == len(self._types):
            if len(columns) == 1:
                return lambda key: ((key,),) if (key,) in rows else ()
            return lambda key: (key,) if key in rows else ()
        index = self._indexes.get(columns)
        if index is None:
            index = self._make(columns, _ordering([self._types[column] for column in columns]))
            index.add(rows)
            self._indexes[columns] = index
        return index.find


def _ordering(types: Sequence[Type]) -> Ordering:
    plain = all(isinstance(type, t.Bool | t.String | t.BigInt | t.Bit | t.Signed) for type in types)
    return _itself if plain else order_key


def _itself(key: Key) -> Key:
    return key


class Relation:
    """The tuples of one relation, with the support that is kept of each."""

    def __init__(self, name: str, types: Sequence[Type], make: Make) -> None:
        self.name = name
        self.types = tuple(types)
        self._make = make
        self.supports: dict[Row, Support] = {}
        self.settled = Part(self.types, make)
        self.highest = 0
        """No tuple has a greater rank."""
        self.clear()

    def clear(self) -> None:
        """Forget what the update at work has changed."""
        self.inserted, self.delta, self.deleted = self.part(), self.part(), self.part()
        self.marks: dict[Row, int] = {}
        self.gone: set[Row] = set()
        """Rows removed so far by the update at work."""

    def part(self, rows: Collection[Row] = ()) -> Part:
        """Return a part of these rows."""
        made = Part(self.types, self._make)
        if rows:
            made.add(rows)
        return made

    def apart(self, name: str) -> Relation:
        """Return a relation of another name that holds the same tuples now, as facts."""
        other = Relation(name, self.types, self._make)
        other.settled.add(self.settled.rows)
        return other

    def divided(self, columns: Columns) -> Relation:
        """Return a relation whose deletions are this one's in some columns, each combination once; others are blank."""
        other = Relation(self.name, self.types, self._make)
        kept = [column in columns for column in range(len(self.types))]
        rows = {tuple([v if keep else None for v, keep in zip(row, kept, strict=True)]) for row in self.rows(DELETED)}
        other.deleted = other.part(rows)
        return other

    # --- reading -----------------------------------------------------------------------------------------------------

    def finder(self, view: View, columns: Columns) -> Find:
        """Return what finds the rows of a view that have given values in some columns."""
        found: list[Find] = []
        if view.limit >= 0 and self.settled.rows:
            settled = self.settled.finder(columns)
            found.append(settled if view.limit >= REMOVED else self._unmarked(settled, view.limit))
        found += [part.finder(columns) for part in self._beside(view) if part.rows]
        if len(found) == 1:
            return found[0]
        return lambda key: [row for find in found for row in find(key)]

    def _unmarked(self, find: Find, limit: int) -> Find:
        marks = self.marks
        return (lambda key: [row for row in find(key) if marks.get(row, ALIVE) <= limit]) if marks else find

    def _beside(self, view: View) -> Iterator[Part]:
        if view.inserted:
            yield self.inserted
        if view.delta:
            yield self.delta
        if view.deleted:
            yield self.deleted

    def rows(self, view: View = CURRENT) -> Collection[Row]:
        """Return the rows of a view."""
        return self.finder(view, ())(())

    def count(self) -> int:
        """Return the number of tuples there are now."""
        return len(self.settled.rows) - len(self.marks) + len(self.inserted.rows) + len(self.delta.rows)

    def holds(self, row: Row) -> bool:
        """Tell whether a tuple is there, and not only in the delta."""
        return (row in self.settled.rows and row not in self.marks) or row in self.inserted.rows

    # --- changing ----------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Let the delta join the settled rows."""
        if self.settled.rows:
            self.settled.add(self.delta.rows)
        else:
            self.settled = self.delta
        self.delta = self.part()

    def insert(self) -> None:
        """Let rows of the delta that were removed hold again, and the others join those inserted by this update."""
        if not self.delta.rows:
            return
        back = self.delta.rows & self.marks.keys()
        for row in back:
            del self.marks[row]
        if back:
            self.delta.remove(back)
        if self.inserted.rows:
            self.inserted.add(self.delta.rows)
        else:
            self.inserted = self.delta
        self.delta = self.part()

    def mark(self, rows: Iterable[Row], mark: int) -> None:
        """Mark settled rows."""
        self.marks.update(dict.fromkeys(rows, mark))

    def differ(self, before: Collection[Row]) -> None:
        """Having been filled anew, be what it is by the changes from what was there before."""
        self.settled.remove(self.marks)
        self.settled.add(self.inserted.rows)
        self.clear()
        now = self.settled.rows
        gone = set(before) - now
        came = now.difference(before)
        if len(came) == len(now):
            self.inserted, self.settled = self.settled, self.part(gone)
        else:
            self.settled.remove(came)
            self.settled.add(gone)
            self.inserted = self.part(came)
        self.mark(gone, REMOVED)
        self.deleted = self.part(gone)

    def finish(self, journal: Journal) -> None:
        """End an update: removed rows go, inserted rows are settled."""
        self.insert()
        gone, came = set(self.marks), self.inserted
        for row in gone if self.supports else ():
            journal.support(self, row, None)
        journal.settle(self, came, gone)
        self.clear()


@dataclass(slots=True)
class Settling:
    """What joined the settled rows of a relation, which were another part before, and what left them."""

    relation: Relation
    before: Part
    came: Collection[Row]
    gone: Collection[Row]
    whole: bool = False
    """Whether it was not interrupted."""

    def undo(self) -> None:
        """Put back what was settled before; if that is interrupted, it can be done again."""
        whole, self.whole = self.whole, False
        if not whole:
            self.before.forget_indexes()
        self.before.remove(self.came)
        self.before.add(self.gone)
        self.relation.settled = self.before


class Journal:
    """What an update has overwritten in relations, to undo it."""

    def __init__(self) -> None:
        self._supports: list[tuple[Relation, Row, Support | None]] = []
        self._settled: list[Settling] = []
        self._changing: list[Relation] = []

    def change(self, relation: Relation) -> None:
        """Note that a relation is about to change: what an update keeps apart in it is to be forgotten."""
        self._changing.append(relation)

    def support(self, relation: Relation, row: Row, support: Support | None) -> None:
        """Give a tuple other support, or none."""
        self._supports.append((relation, row, relation.supports.get(row)))
        _put(relation, row, support)

    def settle(self, relation: Relation, came: Part, gone: Collection[Row]) -> None:
        """Let rows join the settled ones of a relation, and others leave them."""
        before = relation.settled
        instead = len(before.rows) == len(gone)
        done = Settling(relation, before, () if instead else came.rows, gone)
        self._settled.append(done)
        before.remove(gone)
        if instead:
            relation.settled = came
        else:
            before.add(came.rows)
        done.whole = True

    def undo(self) -> None:
        """Put back everything overwritten; only then forget it, so that after an interrupt it can begin again."""
        for settling in reversed(self._settled):
            settling.undo()
        for entry in reversed(self._supports):
            _put(*entry)
        for relation in self._changing:
            relation.clear()
        self._settled, self._supports, self._changing = [], [], []


def _put(relation: Relation, row: Row, support: Support | None) -> None:
    if support is None:
        relation.supports.pop(row, None)
    else:
        relation.supports[row] = support
