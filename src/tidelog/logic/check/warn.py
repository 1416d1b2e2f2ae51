"""What is allowed but probably not meant.

W0402 a relation that rules read and nothing derives; W0403 recursion that computes ever new values, and so may not
end; W0404 a variable that occurs once and looks like another one of the rule. Each is silent unless a mistake is
likely: a rule that compares the computed value is taken to bound it, and names count as alike only if letters are
doubled, dropped, swapped or written in another case.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tidelog.base.diagnostic import Label, Report
from tidelog.base.expr import Const, Expr, MakeTuple, Operate, Var
from tidelog.base.free import free_variables, subexpressions
from tidelog.base.graph import components
from tidelog.base.span import Span
from tidelog.base.types import Bit, Bool, Signed
from tidelog.logic.literals import atom_variables, atoms, variable_names
from tidelog.logic.program import Aggregate, Atom, Bind, Condition, Negative, Positive, Relation, Rule, each_of

_GROWING = frozenset({"+", "-", "*", "<<", "++"})
_ORDER = frozenset({"<", "<=", ">", ">="})
_SMALL = 16
"""Bits up to which arithmetic runs through all values soon enough."""


def warn(rules: Sequence[Rule], others: Sequence[Rule], relations: Mapping[str, Relation], report: Report) -> None:
    """Report what is suspicious about the rules; `others` are the further rules of the program."""
    _warn_underived(rules, others, relations, report)
    _warn_endless(rules, others, relations, report)
    for rule in rules:
        _warn_alike(rule, report)


# --- relations that stay empty ---------------------------------------------------------------------------------------


def _warn_underived(
    rules: Sequence[Rule], others: Sequence[Rule], relations: Mapping[str, Relation], report: Report
) -> None:
    derived = {rule.head for given in (rules, others) for rule in given}
    reads: dict[str, Span] = {}
    for rule in rules:
        for atom in atoms(rule.body):
            reads.setdefault(atom.relation, atom.span)
    for name in sorted(reads.keys() - derived):
        relation = relations[name]
        if relation.role == "input" or relation.auxiliary or each_of(name) in derived:
            continue
        report.add(
            "W0402",
            f"nothing derives `{name}`, so it is always empty",
            relation.span,
            labels=[Label(reads[name], "read here")],
            note="facts are inserted into input relations; all others hold what rules derive",
            hint=f"declare `input relation {name}`, or add a rule for it",
            severity="warning",
        )


# --- recursion that may not end --------------------------------------------------------------------------------------


def _warn_endless(
    rules: Sequence[Rule], others: Sequence[Rule], relations: Mapping[str, Relation], report: Report
) -> None:
    suspects = [rule for rule in rules if any(map(_computes, _expressions(rule)))]
    if not suspects:
        return
    reads: dict[str, dict[str, None]] = {}
    for rule in (*others, *rules):
        found = reads.setdefault(rule.head, {})
        found.update((atom.relation, None) for atom in atoms(rule.body))
    component = {name: i for i, names in enumerate(components(reads)) for name in names}
    for rule in suspects:
        recursive = [
            literal.atom
            for literal in rule.body
            if isinstance(literal, Positive) and component.get(literal.atom.relation) == component[rule.head]
        ]
        if recursive:
            _check_growth(rule, recursive, relations[rule.head], report)


def _expressions(rule: Rule) -> Iterator[Expr]:
    yield from (argument for argument in rule.arguments if not isinstance(argument, Var | Const))
    yield from (literal.expression for literal in rule.body if isinstance(literal, Bind))


def _computes(expression: Expr) -> bool:
    return any(operation.operator in _GROWING for operation in _operations(expression))


def _operations(expression: Expr) -> Iterator[Operate]:
    return (e for e in subexpressions(expression) if isinstance(e, Operate))


def _check_growth(rule: Rule, recursive: list[Atom], head: Relation, report: Report) -> None:
    """Warn if a head argument is computed from variables of recursive atoms, and nothing bounds the recursion.

    A negated atom, or a comparison of what comes from a recursive atom, is taken to bound it. Of a least value without
    a sign none is greater than one that is known, and only finitely many are less.
    """
    if any(isinstance(literal, Negative) for literal in rule.body):
        return
    sources = {variable.name for atom in recursive for variable in atom_variables(atom)}
    grown: dict[str, Expr] = {}
    for literal in rule.body:
        if isinstance(literal, Bind):
            read = free_variables(literal.expression).keys()
            if _grows(literal.expression, sources | grown.keys()):
                grown[literal.variable.name] = literal.expression
            elif read & (sources | grown.keys()):
                sources.add(literal.variable.name)
    conditions = [literal.expression for literal in rule.body if isinstance(literal, Condition)]
    if any(not (sources | grown.keys()).isdisjoint(free_variables(e)) for e in conditions if _compares(e)):
        return
    for column, argument in enumerate(rule.arguments):
        if head.bound is not None and head.bound.column == column and not head.bound.greatest and _unsigned(argument):
            continue
        if isinstance(argument, Var):
            computed = grown.get(argument.name)
        else:
            computed = argument if _grows(argument, sources | grown.keys()) else None
        if computed is None:
            continue
        report.add(
            "W0403",
            f"recursion may not end: `{rule.head}` is derived from itself with a new value each time",
            argument.span if argument.span.source.text else rule.origin.span,
            note="a recursive rule that computes values can go on for ever, unless something bounds them",
            hint="compare the value in the body (`n < 100`), or set a limit on rounds",
            severity="warning",
        )
        return


def _unsigned(argument: Expr) -> bool:
    first = argument.items[0] if isinstance(argument, MakeTuple) and argument.items else argument
    return isinstance(first.type, Bit)


def _compares(expression: Expr) -> bool:
    return any(operation.operator in _ORDER for operation in _operations(expression))


def _grows(expression: Expr, sources: Iterable[str]) -> bool:
    known = frozenset(sources)
    for operation in _operations(expression):
        type = operation.type
        small = isinstance(type, Bool) or (isinstance(type, Bit | Signed) and type.width <= _SMALL)
        if operation.operator in _GROWING and not small and not known.isdisjoint(free_variables(operation)):
            return True
    return False


# --- names that look alike -------------------------------------------------------------------------------------------


def _warn_alike(rule: Rule, report: Report) -> None:
    counts = Counter(name for name in _names(rule) if len(name) > 2)
    for name, count in counts.items():
        if count != 1 or len(name) < 4 or name[0] in "_#":
            continue
        other = next((o for o in counts if o != name and counts[o] > 1 and _alike(name, o)), None)
        place = _only_place(name, rule.origin.span) if other else None
        if place is not None:
            report.add(
                "W0404",
                f"variable `{name}` is used only once",
                place,
                note="a variable that occurs once stands for any value",
                hint=f"did you mean `{other}`? Otherwise write `_{name}` or `_`",
                severity="warning",
            )


def _names(rule: Rule) -> Iterator[str]:
    for argument in rule.arguments:
        yield from free_variables(argument)
    for literal in rule.body:
        if not isinstance(literal, Aggregate):
            yield from variable_names(literal)


def _alike(name: str, other: str) -> bool:
    """Tell whether one name is probably the other one mistyped.

    >>> _alike("adress", "address"), _alike("hsot", "host"), _alike("host1", "host2"), _alike("src_ip", "dst_ip")
    (True, True, False, False)
    """
    if name.replace("_", "").lower() == other.replace("_", "").lower():
        return True
    if len(name) == len(other):
        differ = [i for i, (a, b) in enumerate(zip(name, other, strict=True)) if a != b]
        return len(differ) == 2 and differ[1] == differ[0] + 1 and name[differ[0]] == other[differ[1]]
    short, long = sorted((name, other), key=len)
    inner = (long[:i] + long[i + 1 :] for i in range(1, len(long) - 1) if long[i].isalpha())
    return len(long) == len(short) + 1 and short in inner


def _only_place(name: str, rule: Span) -> Span | None:
    """The place of a name in the text of a rule, if it has only one."""
    found = list(re.finditer(rf"\b{re.escape(name)}\b", rule.text))
    return Span(rule.source, rule.start + found[0].start(), rule.start + found[0].end()) if len(found) == 1 else None
