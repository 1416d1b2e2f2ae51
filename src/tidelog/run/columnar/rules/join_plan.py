"""A rule's tree made ready for this engine: what each step binds, needs and makes, worked out once.

A tree is left-deep, so it is a list of steps, innermost first; each becomes a `Link` that knows which variables are
bound before it and which are read after it. Links remember how rows travelled through them the last time (see
`join.Probe`), so evaluating a rule again costs little more than its kernels: rounds of a few tuples are most of the
rounds of a deep recursion and of a small update.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import assert_never

from tidelog.base.expr import Const, Expr, Var
from tidelog.base.free import free_variables as variables
from tidelog.base.tuning.table import Tuning
from tidelog.plan.nodes import (
    Aggregate,
    AntiJoin,
    Extend,
    Join,
    Node,
    Product,
    Project,
    Scan,
    Select,
    Unit,
    Unnest,
    Version,
)
from tidelog.run.columnar.arrays.table import Words
from tidelog.run.columnar.rules.bindings import Source, split_sources
from tidelog.run.columnar.rules.join import Names, Probe, head_layout
from tidelog.run.columnar.rules.sieve import Sieve
from tidelog.run.columnar.storage.dictionary import Codec
from tidelog.run.columnar.storage.layout import Layout, Range, moves

Step = Scan | Aggregate | AntiJoin | Select | Extend | Unnest


def steps_of(tree: Project) -> tuple[Step, ...]:
    """Return the steps of a left-deep tree, innermost first."""
    steps: list[Step] = []
    node: Node = tree.input
    while True:
        match node:
            case Unit():
                return tuple(reversed(steps))
            case Scan() | Aggregate():
                return (node, *reversed(steps))
            case Join(left, right) | Product(left, right):
                assert isinstance(right, Scan | Aggregate), "plans are left-deep"
                steps.append(right)
                node = left
            case AntiJoin(left) | Select(left) | Extend(left) | Unnest(left):
                steps.append(node)
                node = left
            case Project():
                raise AssertionError("a projection stands only at the top")
            case _:
                assert_never(node)


class JoinPlan:
    """The steps of a tree from its first link to the head."""

    def __init__(self, tree: Project, codec: Codec, tuning: Tuning) -> None:
        self.tree = tree
        self.tuning = tuning
        self.codec = codec
        self.expressions: tuple[Expr, ...] = tree.expressions
        self.steps = steps_of(tree)
        self.scans = [step for step in self.steps if isinstance(step, Scan)]
        first = self.steps[0] if self.steps else None
        self.from_delta = isinstance(first, Scan) and first.version in (Version.DELTA, Version.PART)
        """Whether it begins with a delta, which is as small as the work should be."""
        self._to_head: tuple[Layout, Layout, tuple[Layout, Words, Words]] | None = None
        self.head_needs = frozenset(v for e in self.expressions for v in variables(e))

    @cached_property
    def first(self) -> Link | None:
        """The first link; None if there is no step."""
        return self.link(self.steps, frozenset())

    @cached_property
    def sieve(self) -> Sieve:
        """What tells at once that there is nothing to find."""
        return Sieve(self.scans, self.codec, from_delta=self.from_delta)

    @cached_property
    def sources(self) -> Mapping[Hashable, Source] | None:
        """Where the columns of the head come from, if they are all variables and constants."""
        if not all(isinstance(expression, Var | Const) for expression in self.expressions):
            return None
        return {
            column: self.codec.code(e.value, e.type) if isinstance(e, Const) else e.name
            for column, e in enumerate(self.expressions)
            if isinstance(e, Var | Const)
        }

    def to_head(self, layout: Layout, head: Layout, sources: Mapping[Hashable, Source]) -> tuple[Layout, Words, Words]:
        """Return how bindings of a layout become rows of a head: a layout for them, moves and a constant row."""
        last = self._to_head
        if last is not None and last[0] is layout and last[1] is head:
            return last[2]
        ranges = {c: layout.fields[s].range if isinstance(s, str) else Range(s, s) for c, s in sources.items()}
        target = head_layout(head, ranges)
        constants, pairs = split_sources(layout, target, sources)
        made = target, moves(pairs), target.constant(constants)
        self._to_head = layout, head, made
        return made

    def link(self, steps: Sequence[Step], bound: frozenset[str]) -> Link | None:
        """Return the link of the first of some steps, after which the others follow."""
        return Link(self, steps[0], tuple(steps[1:]), bound) if steps else None


class Link:
    """A step with variables bound before it and steps to come after it."""

    def __init__(self, join_plan: JoinPlan, step: Step, rest: tuple[Step, ...], bound: frozenset[str]) -> None:
        self.join_plan = join_plan
        self.step = step
        self.rest = rest
        self.bound = bound
        self.needed = tuple(sorted(join_plan.head_needs.union(*(_reads(later) for later in rest))))
        """The variables that the steps to come and the head read."""
        self._arranged: tuple[tuple[int, ...] | None, Names] | None = None
        self._wait = 0
        """How often the step is to be evaluated before its matches are looked through for repetitions again."""

    def repeats(self) -> bool:
        """Tell whether many matches of this step are expected to make the same row."""
        if not self._drops:
            return False
        self._wait -= 1
        return self._wait < 0

    @cached_property
    def _drops(self) -> bool:
        """Whether the step reads something that nobody needs after it; otherwise distinct bindings stay distinct."""
        unnamed = isinstance(self.step, Scan) and any(term is None for term in self.step.terms)
        return unnamed or not _reads(self.step).issubset(self.needed)

    def note_share(self, share: float) -> None:
        """Note which share of the matches was left when repetitions were left out."""
        thresholds = self.join_plan.tuning.joins
        if share > thresholds.repeats_seldom:
            self._wait = int(thresholds.repeats_pause)

    @cached_property
    def then(self) -> Link | None:
        """The next link; None: the head."""
        return self.join_plan.link(self.rest, self.bound | _binds(self.step))

    @cached_property
    def probe(self) -> Probe:
        """How the step's relation is probed; for an anti-join, the one that must have no match."""
        step = self.step
        match step:
            case Scan(_, terms):
                return Probe(terms, self.bound, self.join_plan.codec)
            case AntiJoin(_, right):
                return Probe(right.terms, self.bound, self.join_plan.codec)
            case Aggregate():
                return Probe((*step.keys, step.result), self.bound, self.join_plan.codec)
            case _:
                raise AssertionError(f"not a probe: {step}")

    @cached_property
    def other(self) -> Link | None:
        """The link that could come now instead: of a later scan that shares a variable not yet bound."""
        if not isinstance(self.step, Scan) or not self.bound:
            return None
        mine = _binds(self.step) - self.bound
        for place, later in enumerate(self.rest):
            if isinstance(later, Scan):
                names = _binds(later)
                if names & self.bound and (names - self.bound) & mine:
                    rest = (self.step, *self.rest[:place], *self.rest[place + 1 :])
                    return Link(self.join_plan, later, rest, self.bound)
        return None

    @cached_property
    def closing(self) -> tuple[Link, Link] | None:
        """This link without a later scan that binds the same one variable, and the link of that without this."""
        other = self.other
        if other is None or len(self.probe.new) != 1 or self.probe.new.keys() != other.probe.new.keys():
            return None
        scans = (self.step, self.probe), (other.step, other.probe)
        if any(not isinstance(s, Scan) or p.equal or len(s.terms) != len(p.bound) + 1 for s, p in scans):
            return None
        rest = other.rest[1:]
        return Link(self.join_plan, self.step, rest, self.bound), Link(self.join_plan, other.step, rest, self.bound)

    @cached_property
    def partners(self) -> tuple[tuple[int, str, int], ...]:
        """The columns of new variables that later scans read, with the relation and the column there."""
        return tuple(
            (column, later.relation, place)
            for name, column in self.probe.new.items()
            for later in self.rest
            if isinstance(later, Scan)
            for place, term in enumerate(later.terms)
            if isinstance(term, Var) and term.name == name
        )

    @cached_property
    def next_probe(self) -> Link | None:
        """The link of the next scan, if only anti-joins stand before it."""
        link = self.then
        while link is not None and isinstance(link.step, AntiJoin):
            link = link.then
        return link if link is not None and isinstance(link.step, Scan) else None

    def wanted(self, columns: tuple[int, ...] | None) -> Names:
        """Return the variables to keep, those of the next probe's key first, in the order of the columns it probes."""
        last = self._arranged
        if last is not None and last[0] is columns:
            return last[1]
        available = self.bound | _binds(self.step)
        following = self.next_probe
        first = () if following is None or columns is None else following.probe.key_variables(columns)
        order = (*dict.fromkeys(first), *(name for name in self.needed if name not in first))
        made = tuple(name for name in order if name in available)
        self._arranged = columns, made
        return made


class JoinPlans:
    """The join plans of the trees evaluated so far."""

    def __init__(self, codec: Codec, tuning: Tuning) -> None:
        self._codec = codec
        self._tuning = tuning
        self._known: dict[int, JoinPlan] = {}

    def make(self, tree: Project) -> JoinPlan:
        """Make the join plan of a tree."""
        return JoinPlan(tree, self._codec, self._tuning)

    def of(self, tree: Project) -> JoinPlan:
        """Return the join plan of a tree."""
        found = self._known.get(id(tree))
        if found is None or found.tree is not tree:
            if len(self._known) >= self._tuning.estimates.join_plans:
                self._known.clear()
            found = self._known[id(tree)] = self.make(tree)
        return found


def _binds(step: Step) -> frozenset[str]:
    match step:
        case Scan(_, terms):
            return frozenset(term.name for term in terms if isinstance(term, Var))
        case Aggregate():
            return frozenset((*(key.name for key in step.keys), step.result.name))
        case AntiJoin() | Select():
            return frozenset()
        case Extend(_, variable) | Unnest(_, variable):
            return frozenset((variable.name,))
        case _:
            assert_never(step)


def _reads(step: Step) -> frozenset[str]:
    match step:
        case Scan() | Aggregate():
            return _binds(step)
        case AntiJoin(_, right):
            return frozenset(term.name for term in right.terms if isinstance(term, Var))
        case Select(_, expression) | Extend(_, _, expression) | Unnest(_, _, expression):
            return frozenset(variables(expression))
        case _:
            assert_never(step)
