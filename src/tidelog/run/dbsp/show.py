"""The grounding kit of a program as text: what the circuit of the strategy `dbsp` is given in place of rules.

    level 0
      Reach(a, c) :- Reach(a, b), Link(b, c).
        0 -> 3  Reach(a, b)
        3 -> 4  Link(b, c)  keep a, c
        4 =>    Reach(a, c)
    join orders
      Link by a

A *direction* `0 -> 3` takes matches from one provenance to another, a *signal* `4 =>` makes facts of those that have
come to the end of a body. Rules that begin alike have the first directions in common.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from tidelog.base.text.show import show_expression, show_value
from tidelog.base.types import Type
from tidelog.base.values import Value
from tidelog.plan.nodes import Plan, Rule
from tidelog.run.dbsp.circuits.tagged import Weighted
from tidelog.run.dbsp.rewriting.kit import Atom, Clause, Each, Gather, Kit, Let, Made, Part, Term, Where
from tidelog.run.dbsp.translate import Translator, levels


class Constants:
    """Numbers the constants of rules, and remembers how each is written."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def code(self, value: Value, _: Type) -> int:
        """Return the number of a constant."""
        self.texts.append(show_value(value))
        return len(self.texts) - 1


def show_kit(plan: Plan) -> str:
    """Write the grounding kit of a program, level by level."""
    constants, kit, at = Constants(), Kit(), levels(plan)
    translator = Translator(constants, lambda relation: relation)
    rules = [(rule, at[rule.identity]) for stratum in plan.strata for rule in stratum.rules]
    clauses = {rule.identity: translator.rule(rule, level, rule.identity) for rule, level in rules}
    lines: list[str] = []
    for level in sorted({level for _, level in rules}):
        lines.append(f"level {level}")
        for rule in (rule for rule, own in rules if own == level):
            lines += _rule(rule, clauses[rule.identity], kit, constants.texts)
    orders = kit.join_orders(Weighted(dict.fromkeys(clauses.values(), 1)))
    lines.append("join orders")
    for relation, columns in sorted(order for order, _ in orders):
        names = [plan.relations[relation].columns[column].name for column in columns]
        lines.append(f"  {relation} by {', '.join(names)}" if names else f"  {relation}")
    return "\n".join(lines) + "\n"


def _rule(rule: Rule, clause: Clause | Gather, kit: Kit, constants: list[str]) -> Iterator[str]:
    yield f"  {rule.origin.text}"
    if isinstance(clause, Gather):
        keys = ", ".join(key.name for key in clause.node.keys)
        yield f"    groups of {clause.relation} by {keys}" if keys else f"    all of {clause.relation}"
        yield f"      =>    {clause.head}{_terms(clause.terms, constants)}"
        return
    path, source = kit.path(clause), kit.root(clause.level)
    for direction in path:
        source, step = direction.target, direction.step
        done = [_atom(step.atom, constants)] if step.atom is not None else []
        done += map(_part, step.parts)
        kept = f"  keep {', '.join(step.keep)}" if step.keep else ""
        yield f"    {direction.source} -> {direction.target}  {', '.join(done)}{kept}"
    yield f"    {source} =>    {clause.head}{_terms(clause.terms, constants)}"


def _atom(atom: Atom, constants: list[str]) -> str:
    return f"{'not ' if atom.negated else ''}{atom.relation}{_terms(atom.terms, constants)}"


def _terms(terms: tuple[Term | Made, ...], constants: list[str]) -> str:
    def shown(term: Term | Made) -> str:
        match term:
            case None:
                return "_"
            case int():
                return constants[term]
            case Made():
                return show_expression(term.expression)
            case _:
                return term

    return f"({', '.join(map(shown, terms))})"


def _part(part: Part) -> str:
    match part:
        case Where():
            return show_expression(part.condition)
        case Let():
            return f"var {part.variable} = {show_expression(part.expression)}"
        case Each():
            return f"var {part.variable} in {show_expression(part.expression)}"
        case _:
            assert_never(part)
