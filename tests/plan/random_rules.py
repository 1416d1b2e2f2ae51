"""Random rules in the notation of `small`, and random facts for their relations."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.plan.evaluate import Tuples
from tests.plan.small import rule
from tidelog.logic.program import Rule

ARITIES = {"A": 1, "B": 2, "C": 3, "D": 2}
VARIABLES = ("x", "y", "z", "w")


@st.composite
def rules(draw: st.DrawFn, *, aggregates: bool = True, wildcards: bool = True) -> Rule:
    """Rules whose every literal finds its inputs bound by those before it; they may derive H of up to 3 columns."""
    bound: list[str] = []
    body = []
    kinds = ["atom"] * 4 + ["not", "compare", "equal", "bind", "rebind", "element", "constant"]
    kinds += ["aggregate"] * aggregates
    for kind in draw(st.lists(st.sampled_from(kinds), max_size=7)):
        body += _literal(draw, kind, bound, wildcards)
    terms = st.sampled_from([*bound, "7"])
    head = draw(st.lists(st.one_of(terms, st.tuples(terms, terms).map(" + ".join)), max_size=3))
    return rule(f"H({', '.join(head)}) :- {', '.join(body)}.")


def _literal(draw: st.DrawFn, kind: str, bound: list[str], wildcards: bool) -> list[str]:
    if kind == "atom":
        return [_atom(draw, bound)]
    if kind == "aggregate":
        return [_aggregate(draw, bound)]
    if kind == "not":
        relation = draw(st.sampled_from(sorted(ARITIES)))
        choices = [*bound, "1"] + ["_"] * wildcards
        terms = draw(st.tuples(*[st.sampled_from(choices)] * ARITIES[relation]))
        return [f"not {relation}({', '.join(terms)})"]
    if not bound:
        return []
    left, right = draw(st.sampled_from(bound)), draw(st.sampled_from(bound))
    match kind:
        case "compare":
            condition = f"{left} {draw(st.sampled_from(['<', '!=', '<=']))} {right}"
            return [draw(st.sampled_from([condition, f"{condition} and {right} > 0", f"g({left}) < {right}"]))]
        case "equal":
            return [f"{left} == {draw(st.sampled_from([right, '1', f'{right} + 1']))}"]
        case "constant" | "rebind":
            return [f"{left} = {draw(st.sampled_from(['1', right, f'g({right})']))}"]
        case "bind":
            new = f"v{len(bound)}"
            bound.append(new)
            return [f"{new} = {draw(st.sampled_from(['2', left, f'{left} + {right}', f'g({left})', 'g(3)']))}"]
        case _:
            variable = draw(st.sampled_from([f"v{len(bound)}", left]))
            bound += [variable] if variable not in bound else []
            return [f"{variable} in f({right})"]


def _atom(draw: st.DrawFn, bound: list[str]) -> str:
    relation = draw(st.sampled_from(sorted(ARITIES)))
    terms = draw(st.tuples(*[st.sampled_from([*VARIABLES, *VARIABLES, *bound, "1", "_"])] * ARITIES[relation]))
    bound += [term for term in dict.fromkeys(terms) if term not in (*bound, "1", "_")]
    return f"{relation}({', '.join(terms)})"


def _aggregate(draw: st.DrawFn, bound: list[str]) -> str:
    key = draw(st.sampled_from([*VARIABLES, *bound]))
    result = f"n{len(bound)}"
    bound += [name for name in (key, result) if name not in bound]
    relation, terms = draw(st.sampled_from([("B", "{0}, m"), ("C", "m, 1, {0}"), ("C", "_, m, {0}")]))
    return f"{result} = {draw(st.sampled_from(['sum', 'count', 'min']))}(m) by {key} of {relation}({terms.format(key)})"


def facts() -> st.SearchStrategy[Tuples]:
    """Small sets of tuples for every relation."""
    return st.fixed_dictionaries(
        {
            name: st.lists(st.tuples(*[st.integers(0, 3)] * arity), unique=True, max_size=6).map(sorted)
            for name, arity in ARITIES.items()
        }
    )
