"""The head bitmaps of a stratum: which relations have one, and which derivations each leaves out."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from threading import Lock

from tidelog.run.columnar.arrays.table import Words
from tidelog.run.columnar.rules.bag import Bag
from tidelog.run.columnar.rules.head_bitmap import HeadBitmap, Stretch, large_map, small_map
from tidelog.run.columnar.storage.layout import Range, place
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.phases import CURRENT


class HeadBitmaps:
    """The bitmaps of a stratum's relations, as far as they are worth having."""

    def __init__(self, doors: Container[str]) -> None:
        self._doors = doors
        """Relations of bounds: most candidates are no tuples that will be there."""
        self._of: dict[str, HeadBitmap] = {}
        self._making = Lock()

    def check(self, relation: Callable[[str], Relation]) -> None:
        """Forget bitmaps that do not stand for the tuples there are."""
        self._of = {name: bitmap for name, bitmap in self._of.items() if bitmap.count == relation(name).count()}

    def of(self, relation: Relation) -> HeadBitmap | None:
        """Return the bitmap of a relation, if there is one."""
        return self._of.get(relation.name)

    def made(self, relation: Relation, ranges: Sequence[Range], matches: int, stretch: Stretch) -> HeadBitmap | None:
        """Return a bitmap that has a place for tuples of some ranges, if there is one or it is worth making one now."""
        if relation.name in self._doors:
            return None
        with self._making:
            found = self._of.get(relation.name)
            if found is not None:
                fields = found.layout.fields
                return found if all(fields[c].range.covers(codes) for c, codes in enumerate(ranges)) else None
            joined = [mine.join(codes) for mine, codes in zip(relation.observed, ranges, strict=True)]
            layout = place(enumerate(joined))
            bits = small_map(layout, relation.count() + matches, relation.arrays.tuning.maps)
            made = None if bits is None else HeadBitmap(layout, bits, relation.arrays)
            found = made or large_map(relation, joined, matches, stretch)
            if found is None:
                return None
            for batch, _ in relation.batches(relation.main, CURRENT):
                found.fresh(batch.rows, relation.layout)
            if found.count != relation.count():
                return None
            self._of[relation.name] = found
            return found

    def sifted(self, relation: Relation, bags: Sequence[Bag], *, counted: bool) -> list[Bag] | None:
        """Return only new tuples; None if there is no bitmap of the relation, or it cannot tell.

        Each once, and known from now on; or, if they are to be `counted`, as often as derived, to be learnt later.
        """
        bitmap = self._of.get(relation.name)
        if bitmap is None:
            return None
        found: list[Bag] = []
        for bag in bags:
            if bag.bitmap is bitmap:
                found.append(bag)
                continue
            new = None
            if bag.rank is None and not (counted and bag.times is not None):
                new = (bitmap.unknown if counted else bitmap.fresh)(bag.rows, bag.layout)
            if new is None:
                if not counted:  # some of its bits stand for tuples that are not there yet
                    del self._of[relation.name]
                return None
            found.append(type(bag)(bitmap.layout, new, bitmap=bitmap))
        return found

    def learn(self, relation: Relation, rows: Words) -> None:
        """Know tuples of a relation, in its layout; the bitmap is forgotten if it has no place for them."""
        bitmap = self._of.get(relation.name)
        if bitmap is not None and bitmap.fresh(rows, relation.layout) is None:
            del self._of[relation.name]
