"""How strata are evaluated on Spark, and why: the one place that decides.

An update of a stratum is one of these (`Chooser.update`):

| update | when |
| --- | --- |
| from scratch | it is empty, or the user or a partition without ranks leaves no other way |
| components | it is an equivalence that is read by groups only: its groups are found anew |
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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tidelog.base.record import record
from tidelog.base.tuning.spark import Spark
from tidelog.plan.closures.components import components_of
from tidelog.plan.closures.decompose import Way, decompose, relations_below
from tidelog.plan.closures.exchange import copied_into, fragments_of, may_spread, spread
from tidelog.plan.nodes import Plan, Rule, Stratum
from tidelog.run.maintain.choose import Earlier, strategy_of
from tidelog.run.phases import AFTER, CURRENT
from tidelog.run.spark.cluster.memory import machine_memory
from tidelog.run.spark.fit import Fit, Shape, Size, fits, whole
from tidelog.run.spark.frames.difference import packed
from tidelog.run.spark.frames.encode import Cells
from tidelog.run.spark.frames.relation import Relation
from tidelog.run.spark.loading.facts import LoadOf
from tidelog.run.spark.loading.loads import Load
from tidelog.run.spark.store import Frames, Store


@record
class Choice:
    """How strata are evaluated, and the column and rules by which one decomposes, if it is evaluated by key."""

    fit: Fit
    way: Way | None = None


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

    def components(self, stratum: Stratum) -> tuple[Rule, ...] | None:
        """Return the rules whose pairs connect nodes, if a stratum is kept as components."""
        if not self._tuning.replicate_rows or self.keeps_ranks(stratum):
            return None
        return components_of(stratum, self.store.plan)

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
        own, below, tuning = self._size(stratum.relations), self._size(_below(stratum)), self._tuning
        few = stratum.recursive and below.rows <= tuning.driver_state * tuning.driver_rows - own.rows
        return tuning.update_rounds if few and (own + below).bytes <= tuning.driver_bytes else None

    # --- from scratch ------------------------------------------------------------------------------------------------

    def together(self, strata: Sequence[Stratum]) -> tuple[Fit | None, list[str]]:
        """Return the way of strata that one partition is to evaluate, and why each is evaluated from scratch.

        One stratum that decomposes alone is better in pieces, and one that is in pieces stays so.
        """
        reasons = [self.from_scratch(stratum) for stratum in strata]
        if any(self.components(one) is not None for one in strata):
            return None, reasons
        if not strata or not all(reasons) or any(self.keeps_ranks(one) or self._is_in_pieces(one) for one in strata):
            return None, reasons
        if len(strata) == 1 and (not strata[0].recursive or decompose(strata[0]) is not None):
            return None, reasons
        heads = {name for stratum in strata for name in stratum.relations}
        given = self._size({name for stratum in strata for name in _below(stratum)} - heads)
        return whole(given, self._size(heads), self.store.capacity, self._tuning), reasons

    def _is_in_pieces(self, stratum: Stratum) -> bool:
        choice, rows = self.pieces(stratum), packed(self.store.relation(stratum.relations[0]).settled)
        return choice is not None and choice.way is not None and rows is not None and rows.placed[0] is not None

    def scratch(self, stratum: Stratum) -> Iterator[Choice]:
        """Yield the ways to evaluate a stratum from scratch, best first."""
        tuning, capacity = self._tuning, self.store.capacity
        room = tuning.driver_rows * (tuning.driver_state if self.store.is_left_to_driver else 1)
        shape, way = self._shape(stratum)
        for fit in fits(shape, capacity, room, tuning):
            yield Choice(fit, way if fit.how == "by key" else None)

    def _shape(self, stratum: Stratum) -> tuple[Shape, Way | None]:
        """Return what of a stratum decides, and how it decomposes."""
        way, key = None, ""
        if self._tuning.replicate_rows and not self.keeps_ranks(stratum):
            way = decompose(stratum)
        exchanging = way is None and may_exchange(stratum, self.store.plan, self.strategy, self._tuning)
        given = self._size(_below(stratum))
        everywhere = self._size(relations_below(stratum if way is None else way.stratum))
        if way is not None:
            (name,) = stratum.relations
            key = self.store.plan.relations[name].columns[way.column].name
            # the steps of a closure made linear are what its rules without recursion make
            everywhere = everywhere if way.closure is None else given
        width = max(self.store.relation(name).width for name in stratum.relations)
        own = self._size(stratum.relations)
        return Shape(given, everywhere, own, width, stratum.recursive, key, exchanging), way

    def last_rounds(self, stratum: Stratum) -> Fit | None:
        """Return the way of the rounds left, if they are for the driver: each finds little, and costs a job."""
        own, tuning = [self.store.relation(name) for name in stratum.relations], self._tuning
        found, held = sum(relation.delta.count for relation in own), sum(relation.size(CURRENT) for relation in own)
        most = tuning.driver_state * tuning.driver_rows
        if not found or tuning.driver_share * found > tuning.driver_rows:
            return None
        below = self._size(relations_below(stratum))
        if held + below.rows > most or below.bytes + sum(held * one.width for one in own) > tuning.driver_bytes:
            return None
        return Fit("driver", f"{found:,} tuples in a round", (0, held + most))

    def _by_key(self, stratum: Stratum) -> Choice | None:
        shape, way = self._shape(stratum)
        found = (fit for fit in fits(shape, self.store.capacity, -1, self._tuning) if fit.how == "by key")
        fit = next(found, None)
        return None if fit is None else Choice(fit, way)

    def _size(self, names: Iterable[str]) -> Size:
        relations = [self.store.relation(name) for name in names]
        return sum((Size(one.size(AFTER), one.bytes) for one in relations), Size())


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


def most_alone(plan: Plan, given: Size, tuning: Spark) -> int:
    """Return how many tuples of a program the driver may hold; the bytes of all facts ever `given` tell of texts."""
    widest = max([1, *(len(relation.columns) for relation in plan.relations.values())])
    width = max(8 * widest, given.bytes // max(1, given.rows))
    return min(min(tuning.alone_bytes, machine_memory() // 16) // width, tuning.alone_rows)


def are_grouped(plan: Plan) -> bool:
    """Tell whether Spark keeps an equivalence as groups: the driver would make all pairs."""
    return any(components_of(stratum, plan) is not None for stratum in plan.strata)
