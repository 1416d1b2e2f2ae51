"""From a typed program to a plan.

The order of the passes, each a function of the same name in its file:

1. `separate_facts`: stored facts apart from what rules derive;
2. `take_out_of_groups`: no atoms of keys in groups, where that matters;
3. `isolate_aggregates`: every aggregate in a rule of its own;
4. `project_negations`: no wildcards in negated atoms;
5. `stratify`: the strata, or a diagnostic that shows a negative cycle;
6. `check_flow`, `split_bounds`: bounds of minima and maxima apart from the best of each key;
7. `choose_demanded`, `restrict_to_demand`: of some relations only what is asked for;
8. `plan_rules`: for each rule `translate`, `propagate_equalities`, `order_joins`, `delta_variants`;
9. `choose_indexes`: the fewest column orders that serve all probes.

For a program that has changed, what still holds is taken from the earlier plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from tidelog.base.diagnostic import Report
from tidelog.base.process.gc_pause import collector_paused
from tidelog.base.tuning.plans import Planning
from tidelog.base.tuning.table import DEFAULT
from tidelog.logic import program as logic
from tidelog.logic.literals import atoms
from tidelog.plan.bounds.check_flow import check_flow
from tidelog.plan.bounds.split_bounds import split_bounds
from tidelog.plan.demand.choose_demanded import Extent, choose_demanded, to_be_demanded
from tidelog.plan.demand.restrict_to_demand import restrict_to_demand
from tidelog.plan.join.choose_indexes import bound_columns, choose_indexes
from tidelog.plan.join.estimate import Estimate, Sizes
from tidelog.plan.join.plan_rules import plan_rules
from tidelog.plan.join.translate import scan_of
from tidelog.plan.lazy import Lazy
from tidelog.plan.nodes import DeclaredIndex, Index, Plan, Probe, Relation, Rule, Stratum, as_before
from tidelog.plan.rewrite.isolate_aggregates import isolate_aggregates
from tidelog.plan.rewrite.project_negations import project_negations
from tidelog.plan.rewrite.separate_facts import separate_facts
from tidelog.plan.rewrite.take_out_of_groups import take_out_of_groups
from tidelog.plan.stratify import components_of, stratify


def plan_program(
    program: logic.Program,
    report: Report,
    *,
    earlier: Plan | None = None,
    sizes: Sizes | None = None,
    planning: Planning = DEFAULT.planning,
    extent: Extent = "declared",
) -> Plan | None:
    """Plan a program; None, and a diagnostic, if it cannot be stratified.

    `earlier` is the plan from before it changed: rules that have not changed keep their `Rule` objects; indexes that
    were looked at and are still needed stay as they are; strata are found anew, and if they are as before are the same
    objects. `extent` says of which relations only
    what is asked for is computed.
    """
    with collector_paused():
        prepared = project_negations(isolate_aggregates(take_out_of_groups(separate_facts(program), components_of)))
        components = stratify(prepared, report)
        if components is None or not _countable(prepared, components, report):
            return None
        check_flow(prepared, components, report)
        if any(one.code == "E0603" for one in report.errors):
            return None
        divided = split_bounds(prepared, components)
        if divided is not prepared:
            prepared, (components, _) = divided, components_of(divided)
        known = {rule.identity: rule for stratum in earlier.strata for rule in stratum.rules} if earlier else {}
        estimate = Estimate(sizes, planning=planning)
        asked = restrict_to_demand(prepared, choose_demanded(prepared, extent), estimate)
        if asked.program is not prepared:
            components, _ = components_of(asked.program)
        rules, relations = plan_rules(asked.program.rules, known, estimate, asked.made), asked.program.relations
        declared = {name: _declared(index) for name, index in program.indexes.items()}
        indexes = _indexes(relations, rules, declared, earlier)
        strata = as_before(_strata(components, rules), earlier.strata if earlier else ())
        by_demand = to_be_demanded(program.relations.values(), extent), asked.partial, asked.notes
        return Plan(program.types, relations, prepared.functions, strata, indexes, declared, *by_demand)


def _countable(program: logic.Program, components: list[list[str]], report: Report) -> bool:
    """Report a multiset that depends on itself: rows would be derived again and again."""
    sound = True
    each = {logic.each_of(r.name): r for r in program.relations.values() if r.kind == "multiset"}
    heads = [rule for rule in program.rules if rule.head in each]
    loops = {rule.head for rule in heads if any(rule.head == atom.relation for atom in atoms(rule.body))}
    for component in components:
        for name in component:
            if name in each and (len(component) > 1 or name in loops):
                note = "each derivation of a row counts, and a row that is derived from itself has no end of them"
                hint = "declare it with `relation`, and count in a multiset that reads it"
                found = each[name]
                report.add("E0420", f"the multiset `{found.name}` depends on itself", found.span, note=note, hint=hint)
                sound = False
    return sound


def _indexes(
    relations: Mapping[str, Relation],
    rules: Iterable[Rule],
    declared: Mapping[str, DeclaredIndex],
    earlier: Plan | None,
) -> Sequence[Index]:
    # Taken now: a reference to the earlier plan would keep every plan there ever was alive.
    existing: tuple[Index, ...] = ()
    if earlier is not None and (not isinstance(earlier.indexes, Lazy) or earlier.indexes.made):
        existing = tuple(earlier.indexes)
    wanted = [Probe(index.relation, bound_columns(index.terms, index.parameters)) for index in declared.values()]

    def make() -> tuple[Index, ...]:
        with collector_paused():
            return choose_indexes(relations, chain(wanted, *(rule.probes for rule in rules)), existing)

    return Lazy(make)


def _strata(components: list[list[str]], rules: Iterable[Rule]) -> tuple[Stratum, ...]:
    place = {name: i for i, component in enumerate(components) for name in component}
    order: list[list[Rule]] = [[] for _ in components]
    for rule in rules:
        order[place[rule.head]].append(rule)
    return tuple(
        Stratum(number, tuple(names), _is_recursive(names, inside), tuple(inside))
        for number, (names, inside) in enumerate(zip(components, order, strict=True))
    )


def _is_recursive(names: list[str], rules: list[Rule]) -> bool:
    return len(names) > 1 or any(names[0] in rule.reads for rule in rules)


def _declared(index: logic.Index) -> DeclaredIndex:
    return DeclaredIndex(
        index.name, index.parameters, index.atom.relation, scan_of(index.atom, 0).terms, index.patterns
    )
