"""Refuse rules that are not monotone in bounds of their own stratum (E0603).

    Dist(m, d + w) :- Dist(n, d), Link(n, m, w), d < 100.

Inside its stratum `Dist(n, d)` says that the distance is at most `d`. So a better bound must derive all that a worse
one does, or better: its value may go into the bounded column of a head that gets better with it, and into conditions
that stay true. Anywhere else it would be looked at before it is final.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from tidelog.base.diagnostic import Label, Report
from tidelog.base.expr import Const, Expr, Operate, Var
from tidelog.base.free import free_variables
from tidelog.base.record import record
from tidelog.base.span import Span
from tidelog.logic.literals import atom_variables, atoms
from tidelog.logic.program import Aggregate, Atom, Bind, Condition, Positive, Program, Relation, Rule, Unnest
from tidelog.plan.bounds.flow import Flow, Flows

NOTE = (
    "in a recursion a bounded relation has bounds that may still get better, so a better one must derive all that a"
    " worse one does: through sums, products without a sign, `min`, `max`, tuples, `<`, and `#[monotone]` functions,"
    " into a bounded column"
)


def check_flow(program: Program, components: Sequence[Collection[str]], report: Report) -> None:
    """Report rules that read a bounded relation of their own stratum and are not monotone in its value."""
    if not any(relation.bound is not None for relation in program.relations.values()):
        return
    place = {name: i for i, component in enumerate(components) for name in component}
    for rule in program.rules:
        read = [
            literal.atom
            for literal in rule.body
            if isinstance(literal, Positive)
            and program.relations[literal.atom.relation].bound is not None
            and place.get(literal.atom.relation) == place[rule.head]
        ]
        if read:
            _Checking(program, rule, read, report).run()


@record
class _Checking:
    """A rule, the atoms of its own stratum that have bounds, and where mistakes go."""

    program: Program
    rule: Rule
    read: Sequence[Atom]
    report: Report

    def run(self) -> None:
        flows, sources = self._bounds()
        if flows is None:
            return
        for bind in self._equations():
            flows[bind.variable.name] = Flows(flows, self.program.functions).of(bind.expression)
            source = next((sources[n] for n in free_variables(bind.expression) if n in sources), None)
            if source is not None:
                sources.setdefault(bind.variable.name, source)
        found = Flows(flows, self.program.functions)
        self._check_atoms(flows, sources)
        for literal in self.rule.body:
            match literal:
                case Condition(expression) if found.of(expression) not in (Flow.FIXED, Flow.RISES):
                    self._wrong(expression, "a condition that a better bound may make false", sources, flows)
                case Unnest(_, expression) if found.of(expression) is not Flow.FIXED:
                    self._wrong(expression, "a collection whose elements are looked at", sources, flows)
                case _:
                    pass
        self._check_head(found, sources, flows)

    def _bounds(self) -> tuple[dict[str, Flow] | None, dict[str, Atom]]:
        """Return how the values of bounded columns move, and where each comes from."""
        flows: dict[str, Flow] = {}
        sources: dict[str, Atom] = {}
        for atom in self.read:
            bound = self.program.relations[atom.relation].bound
            assert bound is not None
            match atom.arguments[bound.column]:
                case Var(name):
                    flows[name] = (Flow.RISES if bound.greatest else Flow.FALLS) if name not in flows else Flow.ANYHOW
                    sources[name] = atom
                case Const():
                    self._report(atom.span, f"the value of `{atom.relation}` is compared with a constant by `==`", atom)
                    return None, {}
                case _:
                    pass
        return flows, sources

    def _equations(self) -> Iterator[Bind]:
        return (literal for literal in self.rule.body if isinstance(literal, Bind))

    def _check_atoms(self, flows: dict[str, Flow], sources: dict[str, Atom]) -> None:
        """Report values that are looked up: each stands in one bounded column only."""
        moving = {name for name, flow in flows.items() if flow is not Flow.FIXED}
        seen: set[str] = set()
        for atom in atoms(self.rule.body):
            own = self.program.relations[atom.relation].bound if atom in self.read else None
            for column, term in enumerate(atom.arguments):
                if isinstance(term, Var) and term.name in moving:
                    first = own is not None and column == own.column and term.name not in seen
                    seen.add(term.name)
                    if not first or not self._is_free(term.name):
                        self._wrong(term, f"a look-up in `{shown(atom.relation)}`", sources, flows, atom.span)
        for literal in self.rule.body:
            if isinstance(literal, Aggregate) and not moving.isdisjoint(v.name for v in atom_variables(literal.atom)):
                self._wrong(literal.result, "an aggregate", sources, flows, literal.span)

    def _is_free(self, name: str) -> bool:
        """Tell whether no equation gives a variable its value, too."""
        return all(one.variable.name != name for one in self._equations())

    def _check_head(self, found: Flows, sources: dict[str, Atom], flows: dict[str, Flow]) -> None:
        head: Relation = self.program.relations[self.rule.head]
        bound = head.bound
        for column, expression in enumerate(self.rule.arguments):
            flow = found.of(expression)
            if flow is Flow.FIXED:
                continue
            name = head.columns[column].name
            if bound is None or column != bound.column:
                self._wrong(
                    expression, f"column `{name}` of `{shown(head.name)}`, which is not bounded", sources, flows
                )
            elif flow is not (Flow.RISES if bound.greatest else Flow.FALLS):
                why = f"`{bound.word} {name}` of `{shown(head.name)}` in a way that does not get better with it"
                self._wrong(expression, why, sources, flows)

    def _wrong(
        self, expression: Expr, where: str, sources: dict[str, Atom], flows: dict[str, Flow], span: Span | None = None
    ) -> None:
        names = [n for n in free_variables(expression) if n in sources and flows.get(n, Flow.FIXED) is not Flow.FIXED]
        atom = sources[names[0]] if names else self.read[0]
        place = span or (expression.span if expression.span.source.text else self.rule.origin.span)
        name = f"`{names[0]}`, " if names and "#" not in names[0] else ""
        turned = ""
        if isinstance(expression, Operate) and expression.operator in ("==", "!=") and span is None:
            turned = " (`==` and `!=` look at the value itself; compare by `<` or `<=`)"
        self._report(place, f"{name}a bound of `{shown(atom.relation)}`, flows into {where}{turned}", atom)

    def _report(self, place: Span, message: str, atom: Atom) -> None:
        name = shown(atom.relation)
        self.report.add(
            "E0603",
            message,
            place if place.source.text else self.rule.origin.span,
            note=NOTE,
            hint=f"read the final value of `{name}` in a rule for a relation that `{name}` does not depend on; if a"
            " function grows with its arguments, declare it `#[monotone]`",
            labels=[Label(atom.span, f"read here, where `{name}` may still get better")]
            if atom.span.source.text and atom.span != place
            else (),
        )


def shown(relation: str) -> str:
    """Return a relation's name without what rewrites have added."""
    return relation.partition("#")[0] or relation
