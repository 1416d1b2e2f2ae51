"""Connected components: an equivalence closure of which others read groups only.

    Same(x, y) :- Edge(x, y).
    Same(y, x) :- Same(x, y).
    Same(x, z) :- Same(x, y), Same(y, z).
    Component(x, l) :- Same(x, y), var l = y.group_by(x).min().

The closure has a tuple for every pair of nodes of a component, which nobody wants to see: what is read is the least,
the greatest, or the number of the nodes that are the same as x. All that can be computed of nodes with their
components, which are as many as the nodes: a result for each component.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidelog.base import types as t
from tidelog.base.expr import Var
from tidelog.base.free import free_variables
from tidelog.plan.closures.classify import recursive_scans
from tidelog.plan.closures.recognise import Kind, closure_of
from tidelog.plan.nodes import Aggregate, Plan, Project, Rule, Stratum


def components_of(stratum: Stratum, plan: Plan) -> tuple[Rule, ...] | None:
    """Return the rules whose pairs connect the nodes of a stratum that is read by groups only; None for any other."""
    closure = closure_of(stratum)
    if closure is None or closure.kind is Kind.TRANSITIVE or closure.partition or closure.constants:
        return None
    columns = plan.relations[closure.relation].columns
    if len(columns) != 2 or columns[0].type != columns[1].type or not _is_plain(columns[0].type):
        return None
    readers = [rule for other in plan.strata if other is not stratum for rule in other.rules]
    readers = [rule for rule in readers if closure.relation in rule.reads]
    if not readers or not all(reads_groups(rule) for rule in readers):
        return None
    return tuple(rule for rule in stratum.rules if not recursive_scans(rule, stratum))


def reads_groups(rule: Rule) -> bool:
    """Tell whether a rule does nothing but to group one column of a relation of pairs by the other."""
    match rule.body:
        case Project(Aggregate() as step):
            return is_grouping(step)
        case _:
            return False


def is_grouping(step: Aggregate) -> bool:
    """Tell whether an aggregate groups one column of a relation of pairs by the other."""
    terms: Sequence[object] = step.input.terms
    if len(step.keys) != 1 or len(terms) != 2 or not all(isinstance(term, Var) for term in terms):
        return False
    names = [term.name for term in terms if isinstance(term, Var)]
    (key,) = step.keys
    return len(set(names)) == 2 and key.name in names and key.name not in free_variables(step.value)


def _is_plain(type: t.Type) -> bool:
    match type:
        case t.String():
            return True
        case t.Bit(width) | t.Signed(width):
            return width < 64
        case _:
            return False
