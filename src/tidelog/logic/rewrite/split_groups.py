"""Grouping as two rules: an auxiliary relation with a tuple for each derivation, and a literal that reads it.

    N(k, n) :- A(x, k), B(x, _), var n = x.group_by(k).count().

    N#1(x, k, #1) :- A(x, k), B(x, #1).
    N(k, n) :- group N#1(x, k, #1) by k: n = count(x).

The auxiliary relation is a set, so it needs a column for everything that tells two derivations apart: the variables
and the wildcards of positive atoms, and the elements of collections. What is computed from them is left out. Two
cases need less. Library functions that see distinct values only (`count_distinct`, `max`, ...) get the keys and the
value alone. A body that is a single atom needs no auxiliary relation, since its tuples are its derivations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from tidelog.base.defaults import some_value
from tidelog.base.expr import Call, Const, Construct, Expr, MakeTuple, Project, Var
from tidelog.base.free import free_variables, parts, subexpressions, with_parts
from tidelog.base.types import BIGINT, UNIT, Type
from tidelog.logic import program
from tidelog.logic.literals import atom_variables, expressions, with_expressions
from tidelog.logic.program import Aggregate, Atom, Bind, Literal, Positive, Unnest, Wildcard
from tidelog.logic.rewrite.auxiliaries import Auxiliaries
from tidelog.logic.rewrite.checked import Body, Grouping, Rule
from tidelog.logic.rewrite.rows import Definitions

_PRELUDE = (
    "key", "count_distinct", "min", "max", "any", "all", "first", "nth", "arg_min", "arg_max", "to_vec", "to_set",
    "to_map", "to_setmap", "union", "setref_unions", "set_unions",
)  # fmt: skip
_MODULE = ("map", "flatmap", "filter", "filter_map", "find", "all", "any", "fold")
DISTINCT = frozenset(
    [f"{prefix}{name}" for prefix in ("std::", "std::group_") for name in _PRELUDE]
    + [f"group::{name}" for name in _MODULE]
)
"""Library functions on groups whose result does not depend on how often a value was derived."""


def split_groups(rule: Rule[Literal], definition: Definitions, auxiliaries: Auxiliaries) -> program.Rule:
    """Return the rule with `Aggregate` literals; the rules of grouped bodies go to `auxiliaries`."""
    body = rule.body.literals
    if rule.body.grouping is not None:
        body = tuple(_Splitter(rule, definition, auxiliaries).body(rule.body))
    return program.Rule(rule.head.name, rule.arguments, body, rule.origin)


@dataclass(slots=True)
class _Splitter:
    rule: Rule[Literal]
    definition: Definitions
    auxiliaries: Auxiliaries
    made: int = 0

    def body(self, body: Body[Literal]) -> list[Literal]:
        if body.grouping is None:
            return list(body.literals)
        grouping = body.grouping
        bodies = [self.body(alternative) for alternative in grouping.alternatives]
        keys, opened = self.keys(grouping.key)
        reduce, result, literals = self.reduction(grouping.group, body.literals, {k.name for k in keys})
        direct = self.single_atom(bodies, keys, grouping)
        atom, value = direct or self.auxiliary(bodies, grouping, keys, reduce)
        aggregate = Aggregate(atom, tuple(keys), value, grouping.group, reduce, result, span=grouping.span)
        return [aggregate, *opened, *literals]

    # --- keys --------------------------------------------------------------------------------------------------------

    def keys(self, key: Expr) -> tuple[list[Var], list[Literal]]:
        """Return the key variables of the aggregate, and the literals that take a composite key apart."""
        if isinstance(key, Var):
            return [key], []
        if key.type == UNIT:
            return [], []
        if isinstance(key, MakeTuple) and len(key.items) != 1:
            variables = [item for item in key.items if isinstance(item, Var)]
            if len({v.name for v in variables}) == len(key.items):
                return variables, []
        whole = self.fresh("key", key.type)
        return [whole], list(_open(whole, key, set()))

    # --- what the group becomes --------------------------------------------------------------------------------------

    def reduction(self, group: Var, literals: Sequence[Literal], keys: set[str]) -> tuple[Expr, Var, list[Literal]]:
        """Return the function of the group, its result, and the literals with the result in place of it."""
        uses = sum(_count(e, group.name) for literal in literals for e in expressions(literal))
        call = next((c for literal in literals for e in expressions(literal) if (c := _call(e, group, keys))), None)
        reduce: Expr = call if call is not None and uses == 1 else group
        for i, literal in enumerate(literals):
            if isinstance(literal, Bind) and (literal.expression is reduce or literal.expression == group == reduce):
                return reduce, literal.variable, [*literals[:i], *literals[i + 1 :]]
        result = self.fresh("result", reduce.type)
        return reduce, result, [_put(literal, reduce, group, result) for literal in literals]

    # --- what is grouped ---------------------------------------------------------------------------------------------

    def single_atom(
        self, bodies: list[list[Literal]], keys: list[Var], grouping: Grouping[Literal]
    ) -> tuple[Atom, Expr] | None:
        """Return the only atom of the grouped body, with a variable for each column that varies."""
        if len(bodies) != 1 or len(bodies[0]) != 1:
            return None
        (literal,) = bodies[0]
        if not isinstance(literal, Positive):
            return None
        bound = {variable.name for variable in atom_variables(literal.atom)}
        needed = [*(key.name for key in keys), *free_variables(grouping.value)]
        return (self.fill(literal.atom), grouping.value) if bound.issuperset(needed) else None

    def auxiliary(
        self, bodies: list[list[Literal]], grouping: Grouping[Literal], keys: list[Var], reduce: Expr
    ) -> tuple[Atom, Expr]:
        """Make the auxiliary relation, and return its atom and the value over its columns."""
        columns: dict[str, Var] = {key.name: key for key in keys}
        whole_key = {keys[0].name: grouping.key} if keys and keys[0].name.startswith("#key") else {}
        computed: dict[str, Expr] = dict(whole_key)
        value = grouping.value
        if isinstance(reduce, Call) and _name(reduce.function) in DISTINCT:
            if not isinstance(value, Var | Const):
                computed["#value"] = value
                value = Var("#value", value.type, span=value.span)
            columns.update(free_variables(value))
            rows = [(body, columns) for body in bodies]
        else:
            filled = [self.fill_body(body) for body in bodies]
            columns.update(free_variables(value))
            rows = [(body, {**columns, **derivation(body)}) for body in filled]
        return self.relation(rows, computed, grouping), value

    def relation(
        self, rows: list[tuple[list[Literal], dict[str, Var]]], computed: dict[str, Expr], grouping: Grouping[Literal]
    ) -> Atom:
        origin = self.rule.origin
        columns = {name: variable for _, own in rows for name, variable in own.items()}
        if len(rows) > 1:
            columns["#alternative"] = Var("#alternative", BIGINT, span=grouping.span)
        relation = self.auxiliaries.relation(self.rule.head.name, tuple(columns.values()), origin)
        for number, (body, own) in enumerate(rows):
            given = {**computed, "#alternative": Const(number, BIGINT)}
            arguments = [
                given[name] if name in given else own[name] if name in own else self.pad(variable.type)
                for name, variable in columns.items()
            ]
            self.auxiliaries.rule(relation, arguments, body, origin)
        return Atom(relation.name, tuple(columns.values()), span=grouping.span)

    def fill(self, atom: Atom) -> Atom:
        """Give each wildcard of an atom a variable."""
        terms = tuple(self.fresh("", term.type) if isinstance(term, Wildcard) else term for term in atom.arguments)
        return Atom(atom.relation, terms, span=atom.span)

    def fill_body(self, body: list[Literal]) -> list[Literal]:
        return [Positive(self.fill(item.atom)) if isinstance(item, Positive) else item for item in body]

    def pad(self, type: Type) -> Const:
        """Return some value, for a column that has none: alternatives have different variables."""
        smallest = partial(min, key=lambda constructor: len(constructor.fields))
        return Const(some_value(type, self.definition, smallest, lambda _: None), type)

    def fresh(self, what: str, type: Type) -> Var:
        self.made += 1
        return Var(f"#{what or 'any'}{self.made}", type)


def _open(whole: Expr, key: Expr, seen: set[str]) -> Iterable[Literal]:
    """Bind the variables of a composite key, which is built like a pattern, from its value."""
    match key:
        case Var(name):
            if name not in seen:
                seen.add(name)
                yield Bind(key, whole, span=key.span)
        case MakeTuple(items) | Construct(_, items):
            for i, item in enumerate(items):
                yield from _open(Project(whole, i, item.type, (), span=item.span), item, seen)
        case _:
            pass


def _call(expression: Expr, group: Var, keys: set[str]) -> Call | None:
    """Return the call whose first argument is the group, if its other arguments are known for each group."""
    match expression:
        case Call(_, (Var(group.name), *others), _, ()) if all(keys.issuperset(free_variables(o)) for o in others):
            return expression
        case _:
            return next((c for part in parts(expression) if (c := _call(part, group, keys))), None)


def _count(expression: Expr, name: str) -> int:
    return sum(isinstance(e, Var) and e.name == name for e in subexpressions(expression))


def _put(literal: Literal, reduce: Expr, group: Var, result: Var) -> Literal:
    """Put the result in place of the reduced group."""

    def replaced(expression: Expr) -> Expr:
        if expression is reduce or (reduce is group and expression == group):
            return result
        return with_parts(expression, replaced)

    used = any(_count(e, group.name) for e in expressions(literal))
    return with_expressions(literal, replaced) if used else literal


def derivation(body: Iterable[Literal]) -> dict[str, Var]:
    """Return the variables whose values tell the derivations of a body apart."""
    found: dict[str, Var] = {}
    for literal in body:
        match literal:
            case Positive(atom):
                found.update((variable.name, variable) for variable in atom_variables(atom))
            case Unnest(variable):
                found[variable.name] = variable
            case Aggregate(keys=keys):
                found.update((key.name, key) for key in keys)
            case _:
                pass
    return found


def _name(function: str) -> str:
    """The name of a function without what tells its instances and overloads apart."""
    return function.partition("<")[0].partition("(")[0].partition("@")[0]
