"""How strata are evaluated on Spark, and why: the one place that decides.

An update of a stratum is one of these (`Chooser.update`):

| update | when |
| --- | --- |
| from scratch | it is empty, or the user or a partition without ranks leaves no other way |
| pieces | it decomposes by a key: only the pieces touched are evaluated anew |
| rounds | everything else: by support, a job a round; after too many from scratch, if the driver can do that |

To be evaluated from scratch there are several ways; `Chooser.scratch` has them in the order in which they are tried, as
any but the last may give up. All strata that an update reaches may be evaluated `together` before that.

| way | when |
| --- | --- |
| one partition | every stratum reached is evaluated from scratch, and together they read little |
| driver | the stratum reads so little that the driver can do it |
| by key | every recursive rule copies a column from its one recursive atom, and what it joins can be everywhere |
| exchanging | the tuples that a rule joins can meet in some partition, and what else it joins can be everywhere |
| rounds | everything else: a job a round, and the driver may take the last rounds |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tidelog.base.record import record
from tidelog.base.tuning.spark import Spark
from tidelog.plan.closures.decompose import Way, decompose, relations_below
from tidelog.plan.closures.exchange import copied_into, fragments_of, may_spread, spread
from tidelog.plan.nodes import Plan, Stratum
from tidelog.run.contract.engine import Delta
from tidelog.run.limits import MANY
from tidelog.run.maintain.choose import Earlier, strategy_of
from tidelog.run.phases import AFTER, CURRENT
from tidelog.run.spark.frames.difference import packed
from tidelog.run.spark.frames.encode import Cells
from tidelog.run.spark.frames.relation import Relation
from tidelog.run.spark.loading.facts import LoadOf
from tidelog.run.spark.loading.loads import Load
from tidelog.run.spark.store import Frames, Store


@record
class Choice:
    """A way, the reason for it, and the tuples that may be derived: so many times what is given, and so many more."""

    how: Literal["one partition", "driver", "by key", "exchanging", "rounds"]
    reason: str
    room: tuple[int, int]
    way: Way | None = None
    """How the stratum decomposes, if it is evaluated by key."""


@dataclass(slots=True)
class Chooser:
    """Decides for the strata of one update. `strategy` is the user's."""

    store: Store
    earlier: Earlier
    strategy: str

    @property
    def _tuning(self) -> Spark:
        return self.store.tuning.spark

    def keeps_ranks(self, stratum: Stratum) -> bool:
        """Tell whether ranks and support of a stratum must be those of its rules: somebody chose how to follow."""
        return _keeps_ranks(stratum, self.store.plan, self.strategy)

    # --- an update ---------------------------------------------------------------------------------------------------

    def from_scratch(self, stratum: Stratum) -> str:
        """Return why a stratum is to be evaluated from scratch; nothing if it need not."""
        own = [self.store.relation(name) for name in stratum.relations]
        if not any(relation.size(AFTER) for relation in own):
            return "it was empty"
        if strategy_of(stratum, self.store.plan, self.strategy) == "recompute":
            return "chosen by the user"
        if (frozenset(stratum.relations), stratum.recursive) not in self.earlier.strata:
            return "its relations were not one stratum before"
        return "" if all(relation.counted for relation in own) else "the support of its tuples is not known"

    def pieces(self, stratum: Stratum) -> Choice | None:
        """Return how only the pieces that a change touches are evaluated anew, if that can be."""
        found = self._by_key(stratum) if strategy_of(stratum, self.store.plan, self.strategy) == "auto" else None
        filled = any(self.store.count(name) for name in stratum.relations)
        known = (frozenset(stratum.relations), stratum.recursive) in self.earlier.strata
        return found if filled and known else None

    def patience(self, stratum: Stratum) -> int | None:
        """Return after how many rounds of an update a stratum is left to the driver; None if it could not take it."""
        own, tuning = self._size(stratum.relations), self._tuning
        fits = stratum.recursive and self._size(_below(stratum)) <= tuning.driver_state * tuning.driver_rows - own
        return tuning.update_rounds if fits else None

    # --- from scratch ------------------------------------------------------------------------------------------------

    def together(self, strata: Sequence[Stratum]) -> tuple[Choice | None, list[str]]:
        """Return the way of strata that one partition is to evaluate, and why each is evaluated from scratch.

        One stratum that decomposes alone is better in pieces, and one that is in pieces stays so.
        """
        reasons, tuning = [self.from_scratch(stratum) for stratum in strata], self._tuning
        if not strata or not all(reasons) or any(self.keeps_ranks(one) or self._is_in_pieces(one) for one in strata):
            return None, reasons
        if len(strata) == 1 and (not strata[0].recursive or decompose(strata[0]) is not None):
            return None, reasons
        heads = {name for stratum in strata for name in stratum.relations}
        given = self._size({name for stratum in strata for name in _below(stratum)} - heads)
        room = tuning.whole_growth * given + min(tuning.whole_rows, tuning.replicate_rows)
        if not 0 < given <= tuning.whole_rows or given > tuning.replicate_rows or self._size(heads) > room:
            return None, reasons
        return Choice("one partition", f"they read {given:,} rows", (0, room)), reasons

    def _is_in_pieces(self, stratum: Stratum) -> bool:
        choice, rows = self.pieces(stratum), packed(self.store.relation(stratum.relations[0]).settled)
        return choice is not None and choice.way is not None and rows is not None and rows.placed[0] is not None

    def scratch(self, stratum: Stratum) -> Iterator[Choice]:
        """Yield the ways to evaluate a stratum from scratch, best first."""
        tuning, below = self._tuning, self._size(_below(stratum))
        room = tuning.driver_rows * (tuning.driver_state if self.store.is_left_to_driver else 1)
        if stratum.recursive and below <= room:
            yield Choice("driver", f"it reads {below:,} rows", (0, room))
        by_key = None if self.keeps_ranks(stratum) else self._by_key(stratum)
        if by_key is not None:
            yield by_key
        elif may_exchange(stratum, self.store.plan, self.strategy, tuning):
            everywhere = self._size(relations_below(stratum))
            if everywhere <= tuning.replicate_rows:
                room = tuning.replicate_rows
                yield Choice("exchanging", _everywhere(everywhere), (int(tuning.spread_growth), room))
        yield Choice("rounds", "", (0, MANY))

    def last_rounds(self, stratum: Stratum) -> Choice | None:
        """Return the way of the rounds left, if they are for the driver: each finds little, and costs a job."""
        own, tuning = [self.store.relation(name) for name in stratum.relations], self._tuning
        found, held = sum(relation.delta.count for relation in own), sum(relation.size(CURRENT) for relation in own)
        most = tuning.driver_state * tuning.driver_rows
        if not found or tuning.driver_share * found > tuning.driver_rows:
            return None
        if held + self._size(relations_below(stratum)) > most:
            return None
        return Choice("driver", f"{found:,} tuples in a round", (0, held + most))

    def _by_key(self, stratum: Stratum) -> Choice | None:
        way = decompose(stratum) if self._tuning.replicate_rows else None
        if way is None:
            return None
        # the steps of a closure made linear are what its rules without recursion make
        size = self._size(relations_below(way.stratum) if way.closure is None else _below(stratum))
        if size > self._tuning.replicate_rows:
            return None
        (name,) = stratum.relations
        key = self.store.plan.relations[name].columns[way.column].name
        return Choice("by key", f"rules keep {key}, {_everywhere(size)}", (0, MANY), way)

    def _size(self, names: Sequence[str] | set[str]) -> int:
        return sum(self.store.count(name) for name in names)


def _keeps_ranks(stratum: Stratum, plan: Plan, strategy: str) -> bool:
    return strategy_of(stratum, plan, strategy) not in ("auto", "recompute")


def may_exchange(stratum: Stratum, plan: Plan, strategy: str, tuning: Spark) -> bool:
    """Tell whether a stratum can be evaluated by partitions that exchange what is new, if fragments are few."""
    return bool(tuning.replicate_rows) and not _keeps_ranks(stratum, plan, strategy) and may_spread(stratum)


def loading(plan: Plan, strategy: str, frames: Frames) -> LoadOf:
    """Return how facts are loaded: into parcels for the one stratum that reads them, or as rows."""
    tuning = frames.tuning.spark

    def load_of(relation: Relation) -> Load | None:
        stratum = copied_into(relation.name, plan.strata)
        if stratum is None or decompose(stratum) is not None or not may_exchange(stratum, plan, strategy, tuning):
            return None
        candidates, most = fragments_of(stratum), tuning.broadcast_rows
        likely = spread(stratum, dict.fromkeys(candidates, 0), most)
        assert likely is not None, "it can be spread"
        (target,) = [rule.head for rule in stratum.rules if relation.name in rule.reads]
        column, size = likely.columns[target][0], int(tuning.parcel_bytes)
        return Load(target, column, candidates, most, Cells(plan.types), frames.partitions, size)

    return load_of


def _everywhere(size: int) -> str:
    return f"{size:,} rows are sent to all"


def _below(stratum: Stratum) -> set[str]:
    return {name for rule in stratum.rules for name in rule.reads}.difference(stratum.relations)


def affected(store: Store, plan: Plan, earlier: Earlier) -> list[Stratum]:
    """Return the strata whose rules have changed, or that read a change, perhaps one of another of them."""
    changed = {name for name in store.touched if any(store.changed(name))}
    found: list[Stratum] = []
    for stratum in plan.strata:
        known = (frozenset(stratum.relations), stratum.recursive) in earlier.strata
        if not known or any(earlier.changes(stratum)) or any(not changed.isdisjoint(r.reads) for r in stratum.rules):
            found.append(stratum)
            changed.update(stratum.relations)
    return found


def room_on_driver(held: int, facts: Mapping[str, Delta], tuning: Spark) -> int:
    """Return how many tuples more the driver may hold before Spark takes over; below 0: it takes over at once."""
    return tuning.driver_rows - held - sum(len(change.inserted) for change in facts.values())
