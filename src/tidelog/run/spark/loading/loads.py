"""Facts that nothing reads but a stratum which copies them and will be spread: they are loaded into parcels.

One job sends facts to the partitions where the stratum wants them, leaves out what is repeated there, and puts the
tuples of each fragment that the stratum may want everywhere aside (`plan.closures.exchange`): what a row of its own
would cost for every fact is saved three times, in telling facts apart, in sending them to Python and in looking for
fragments. Changes of such facts are made in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tidelog.base.record import record
from tidelog.plan.closures.exchange import Fragment
from tidelog.run.spark.frames.checkpoint import Part, Question, collect, united
from tidelog.run.spark.frames.encode import Cells, arrow_type
from tidelog.run.spark.frames.parcels import (
    BODY,
    KIND,
    PARCELS,
    PLACE,
    ROWS,
    Batches,
    Packed,
    Parcel,
    bytes_of,
    opened,
    scattered,
)
from tidelog.run.spark.frames.relation import Parts, Relation, column_name
from tidelog.run.spark.frames.sets import distinct, without

OWN, SENT = "own", "sent"
IN, OUT = "in", "out"
"""Facts given: to be put in, and to be taken out."""
_NEW, _GONE = "new", "gone"


@dataclass(frozen=True, eq=False)
class Loaded(Packed):
    """Facts in parcels of the relation that they are copied to.

    Of the candidates for fragments it is known how many tuples there are: all, or more than anybody wants everywhere.
    """

    sizes: Mapping[Fragment, int] = field(default_factory=dict)

    def fragment(self, fragments: Sequence[Fragment]) -> Any:
        """Return the tuples of fragments, as an Arrow table; None if there are none."""
        kinds = [_kind(number) for number, one in enumerate(self.sizes) if one in fragments and self.sizes[one]]
        if not kinds:
            return None
        found = opened(collect(self.parcels.where(f.col(KIND).isin(kinds))).to_batches())
        return pa.concat_tables([parcel.rows for parcel in found])


@record
class Load:
    """How to load the facts of a relation: for which one they are, by which of its columns, and what is put aside."""

    target: str
    column: int
    candidates: tuple[Fragment, ...]
    most: int
    cells: Cells
    partitions: int
    parcel_bytes: int

    def fits(self, before: Loaded | None) -> bool:
        """Tell whether facts are in parcels as they would be loaded now: rules may have changed."""
        return before is None or (before.relation, before.placed[0]) == (self.target, self.column)

    def question(self, before: Loaded | None, given: Mapping[str, DataFrame]) -> Question:
        """Ask for facts in parcels: those `before` with the facts `given`, to be put `IN` and to be taken `OUT`."""
        columns = [column_name(self.column)]
        rows, held = dict(given), []
        if before is not None and before.placed == (self.column, self.partitions):
            held = [before.chosen]
        elif before is not None:  # they were cut into fewer pieces: what is taken out goes to other places
            rows[OWN] = before.tuples
        parcels = [
            facts.mapInArrow(scattered(self.target, kind, columns, self.partitions, self.parcel_bytes), PARCELS)
            for kind, facts in rows.items()
        ]
        placed = united([*parcels, *held]).repartitionById(self.partitions, PLACE)
        kinds = (OWN, _NEW, _GONE, *map(_kind, range(len(self.candidates))))
        wanted = {kind: f.sum(f.when(f.col(KIND) == kind, f.col(ROWS))).alias(kind) for kind in kinds}
        wanted[BODY] = bytes_of(f.col(KIND) == OWN).alias(BODY)
        return Question(placed.mapInArrow(self._united(changing=before is not None), PARCELS), wanted)

    def answer(self, relation: Relation, part: Part, counts: Mapping[str, int]) -> None:
        """Let a relation have the facts that a job has put into parcels."""
        sizes = {one: counts[_kind(number)] for number, one in enumerate(self.candidates)}
        given = (self.target, OWN, relation.empty.schema, (self.column, self.partitions), 0)
        held = Loaded(part.frame, *given, sizes=sizes)
        relation.final = _parts(held, counts[OWN])
        relation.weigh(counts[OWN], counts[BODY])
        if relation.settled:
            new, gone = (replace(held, kind=kind, sizes={}) for kind in (_NEW, _GONE))
            relation.delete(_parts(gone, counts[_GONE]))
            relation.insert(_parts(new, counts[_NEW]))
        else:
            relation.insert(relation.final)

    def _united(self, *, changing: bool) -> Callable[[Batches], Batches]:
        """Return a function for `mapInArrow`: what has come for a partition to its facts, and those put aside.

        Where facts are `changing` it tells what is new, also a partition that had none, and what is gone.
        """

        def run(batches: Batches) -> Batches:
            found: dict[str, list[Any]] = {OWN: [], IN: [], OUT: []}
            place = -1
            for parcel in opened(batches):
                place = parcel.place
                found[parcel.kind].append(parcel.rows)
            if place < 0:
                return
            schema = next(tables[0] for tables in found.values() if tables).schema
            before, given, taken = (pa.concat_tables(tables or [schema.empty_table()]) for tables in found.values())
            new, left = without(distinct(given), before), without(before, without(taken, given))
            facts = pa.concat_tables([left, new])
            kinds = {OWN: facts}
            if changing:
                kinds |= {_NEW: new, _GONE: without(before, left)}
            for number, fragment in enumerate(self.candidates):
                few = facts.filter(pa.array(within(facts, fragment, self.cells)))
                kinds[_kind(number)] = few.slice(0, self.most + 1)
            for kind, rows in kinds.items():
                yield from Parcel(place, self.target, kind, rows).batches(self.parcel_bytes)

        return run


def _parts(rows: Loaded, count: int) -> Parts:
    return (Part(rows, count, placed=False),) if count else ()


def loaded(parts: Parts) -> Loaded | None:
    """Return facts that are in parcels; None if there are none, or they are rows."""
    rows = parts[0].rows if len(parts) == 1 else None
    return rows if isinstance(rows, Loaded) else None


def _kind(number: int) -> str:
    return f"fragment {number}"


def within(table: Any, fragment: Fragment, cells: Cells) -> Any:
    """Tell for each tuple of an Arrow table whether it is in a fragment."""
    tests = [
        np.asarray(
            pc.equal(table[column_name(number)], pa.scalar(cells.cell(term.value, term.type), arrow_type(term.type)))
        )
        for number, term in fragment.constants
    ]
    return reduce(np.logical_and, tests)
