"""The variables of a rule's text: which ones a body binds, which ones an expression reads.

A rule's variables need no declaration: a positive atom, an assignment or a `FlatMap` binds them, whatever its place in
the body. A `group_by` ends a part of the body: after it only the variables of its key stay visible.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tidelog.base.record import record
from tidelog.base.span import Span
from tidelog.lang import syntax
from tidelog.lang.syntax import Clause, Either, Expr
from tidelog.lang.syntax.walk import children, subexpressions
from tidelog.logic.names.patterns import is_pattern, pattern_names


def bound_names(clause: Clause) -> Iterator[tuple[str, Span]]:
    """The variables that a clause binds, with their places."""
    match clause:
        case syntax.Positive(atom):
            if atom.binding is not None:
                yield atom.binding, atom.span
            for argument in atom.arguments or ():
                if is_pattern(argument.value):
                    yield from pattern_names(argument.value)
            if atom.whole is not None and is_pattern(atom.whole):
                yield from pattern_names(atom.whole)
        case syntax.Condition(syntax.Assign(target, _)) | syntax.FlatMap(target, _):
            yield from pattern_names(target)
        case _:
            pass


def groupings(clause: syntax.Clause) -> list[syntax.MethodCall]:
    """The `e.group_by(k)` of a clause, outermost first."""
    match clause:
        case syntax.Condition(expression) | syntax.FlatMap(_, expression):
            found = subexpressions(expression)
            return [e for e in found if isinstance(e, syntax.MethodCall) and e.function == ("group_by",)]
        case _:
            return []


def ends_group(clause: syntax.Clause) -> bool:
    """Tell whether the clause groups what stands before it in the body."""
    return isinstance(clause, syntax.OldAggregate) or bool(groupings(clause))


def last_grouping(body: Sequence[Clause]) -> int | None:
    """The position of the last clause that groups what stands before it."""
    return next((i for i in reversed(range(len(body))) if ends_group(body[i])), None)


def alternatives(grouped: Sequence[Clause]) -> tuple[tuple[Clause, ...], ...]:
    """The bodies that are grouped together; see `expand_disjunction`."""
    if len(grouped) == 1 and isinstance(grouped[0], Either):
        return grouped[0].alternatives
    return (tuple(grouped),)


def visible_names(body: Sequence[Clause]) -> dict[str, Span]:
    """The variables that are bound by a body and visible at its end."""
    found: dict[str, Span] = {}
    start = last_grouping(body)
    if start is not None:
        keys = {name for grouping in groupings(body[start]) for name, _ in key_names(grouping)}
        before = common_names(alternatives(body[:start]))
        found = {name: span for name, span in before.items() if name in keys}
    for clause in body[start or 0 :]:
        for name, span in bound_names(clause):
            found.setdefault(name, span)
    return found


def common_names(bodies: Sequence[Sequence[Clause]]) -> dict[str, Span]:
    """The variables visible at the end of all bodies."""
    first, *others = (visible_names(body) for body in bodies)
    return {name: span for name, span in first.items() if all(name in other for other in others)}


def key_names(grouping: syntax.MethodCall) -> Iterator[tuple[str, Span]]:
    """The variables that stay visible after `e.group_by(k)`: those of `k` when it is built like a pattern."""
    for key in grouping.arguments:
        yield from pattern_names(key)


@record
class Reads:
    """What an expression reads: variables that it does not declare itself, with their places, and a `group_by`."""

    names: list[tuple[str, Span]]
    grouping: Expr | None = None


def reads(expression: Expr) -> Reads:
    """Return the variables that an expression reads, and the first `group_by` in it."""
    declared: set[str] = set()
    read: list[tuple[str, Span]] = []
    grouping: Expr | None = None
    stack = [expression]
    while stack:
        current = stack.pop()
        match current:
            case syntax.Name((name,), span=span):
                read.append((name, span))
                continue
            case syntax.Call(syntax.Name(), arguments):  # a function's name, or a variable that holds a function
                stack.extend(reversed(arguments))
                continue
            case syntax.MethodCall(_, ("group_by",)):
                grouping = grouping or current
            case syntax.VarDecl(name) | syntax.At(name):
                declared.add(name)
            case syntax.Lambda(parameters):
                declared.update(p.name for p in parameters)
            case syntax.Match(_, arms):
                declared.update(name for pattern, _ in arms for name, _ in pattern_names(pattern))
            case syntax.For(pattern):
                declared.update(name for name, _ in pattern_names(pattern))
            case _:
                pass
        stack.extend(reversed(list(children(current))))
    return Reads([(name, span) for name, span in read if name not in declared] if declared else read, grouping)
