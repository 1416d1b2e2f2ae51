"""Facts that nothing reads but a stratum which copies them and will be spread: they are loaded into parcels.

One job sends facts to the partitions where the stratum wants them, leaves out what is repeated there, and puts the
tuples of each fragment that the stratum may want everywhere aside (`plan.spread`): what a row of its own would cost for
every fact is saved three times, in telling facts apart, in sending them to Python and in looking for fragments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tidelog.base import types as t
from tidelog.base.record import record
from tidelog.plan.nodes import Stratum
from tidelog.plan.spread import Fragment, copied_into, fragments_of, spread
from tidelog.run.spark.checkpoint import Part, Question, collect
from tidelog.run.spark.encode import Cells, arrow_type, content
from tidelog.run.spark.parcels import KIND, PARCELS, PLACE, ROWS, Batches, Packed, Parcel, opened, scattered
from tidelog.run.spark.relation import Relation, column_name
from tidelog.run.spark.sets import distinct
from tidelog.run.spark.store import Store

OWN, SENT = "own", "sent"
_TUPLES = "tuples"


@dataclass(frozen=True)
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

    @staticmethod
    def of(store: Store, relation: Relation) -> Load | None:
        """Return how to load a relation's facts into parcels; None if they are to be rows."""
        stratum = copied_into(relation.name, store.plan.strata)
        if stratum is None or has_floats(store, stratum):
            return None
        candidates, most = fragments_of(stratum), store.broadcast_rows
        likely = spread(stratum, dict.fromkeys(candidates, 0), most)
        assert likely is not None, "it can be spread"
        (target,) = [rule.head for rule in stratum.rules if relation.name in rule.reads]
        return Load(target, likely.columns[target][0], candidates, most, store.cells, store.partitions)

    def question(self, facts: DataFrame) -> Question:
        """Ask for facts in parcels."""
        away = facts.mapInArrow(scattered(self.target, SENT, [column_name(self.column)], self.partitions), PARCELS)
        placed = away.repartitionById(self.partitions, PLACE)
        counts = {_TUPLES: OWN} | {_kind(number): _kind(number) for number in range(len(self.candidates))}
        wanted = {
            name: f.sum(f.when(f.col(KIND) == kind, f.col(ROWS))).cast("long").alias(name)
            for name, kind in counts.items()
        }
        return Question(placed.mapInArrow(self._united(), PARCELS), wanted)

    def answer(self, relation: Relation, part: Part, counts: Mapping[str, int]) -> Part:
        """Return the facts that a job has put into parcels."""
        sizes = {one: counts[_kind(number)] for number, one in enumerate(self.candidates)}
        schema = relation.empty.schema
        rows = Loaded(part.frame, self.target, OWN, schema, self.column, 0, sizes)
        return Part(rows, counts[_TUPLES], placed=False)

    def _united(self) -> Callable[[Batches], Batches]:
        """Return a function for `mapInArrow`: what has come for a partition to one parcel, and those put aside."""

        def run(batches: Batches) -> Batches:
            came = list(opened(batches))
            if not came:
                return
            place, facts = came[0].place, distinct(pa.concat_tables([parcel.rows for parcel in came]))
            yield from Parcel(place, self.target, OWN, facts).batches()
            for number, fragment in enumerate(self.candidates):
                few = facts.filter(pa.array(within(facts, fragment, self.cells))).slice(0, self.most + 1)
                yield from Parcel(place, self.target, _kind(number), few).batches()

        return run


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


def has_floats(store: Store, stratum: Stratum) -> bool:
    """Tell whether a relation of a stratum has numbers that are not equal to themselves."""
    types = [content(type) for name in stratum.relations for type in store.fresh(name).types]
    return any(isinstance(type, t.Float | t.Double) for type in types)
