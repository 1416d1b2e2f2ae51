"""Generic functions at their type arguments: what the rules reach, without type variables.

    function twice(x: 'A): ('A, 'A) = (x, x)      R(twice(1)) gives the function `twice<bigint>`

A body was checked once over its type variables; an instance is that body with types replaced. Only the text of a
generic value (`"${x}"` with `x: 'A`) is decided here: built in, or through the `to_string` of the type it turned
out to be, looked for where the generic function stands and where the type is declared.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from tidelog.base import expr, types
from tidelog.base.diagnostic import Label, Report
from tidelog.base.expr import Expr, Function, Parameter
from tidelog.base.graph import components, path
from tidelog.base.span import Span
from tidelog.base.types import STRING, Named, Type, TypeSizeError
from tidelog.logic.infer.literals import is_built_in
from tidelog.logic.infer.typed_rewrite import Rewriter
from tidelog.logic.names.environment import Environment, Signature
from tidelog.logic.names.resolve import too_large
from tidelog.logic.names.unify import ERROR, Unifier

if TYPE_CHECKING:
    from tidelog.logic.check.functions import CheckedFunction, Functions

_DEEPEST_TYPE = 40
MOST_INSTANCES = 10_000
"""The most functions that are made of generic ones: a second's work."""


class Instantiation:
    """The instances reached so far, what they call, and those still to make."""

    def __init__(self, functions: Functions) -> None:
        self.functions = functions
        self.instances = functions.declarations.instances
        self.made: dict[str, Function] = {}
        self._calls: dict[str, list[str]] = {}
        self._waiting: list[str] = []

    def run(self, names: Iterable[str]) -> Mapping[str, Function]:
        """Make the functions of the given names and all that they call."""
        self._waiting = list(names)[::-1]
        while self._waiting:
            name = self._waiting.pop()
            if name not in self.made:
                signature, arguments = self.instances.by_name[name]
                if any(_depth(a) > _DEEPEST_TYPE for a in arguments):
                    report_cycle([signature, signature], self.functions.report)
                    break
                self._calls[name] = []
                if len(self.made) == MOST_INSTANCES:
                    self._report_many(signature)
                    break
                try:
                    self.made[name] = self._instance(name, signature, arguments)
                except TypeSizeError:
                    too_large(signature.definition.span, self.functions.report)
                    break
        self._check_recursion()
        return self.made

    def reach(self, caller: str, signature: Signature, arguments: tuple[Type, ...]) -> str:
        """Note that an instance is called; return its name."""
        name = self.instances.name(signature, arguments)
        self._calls[caller].append(name)
        if name not in self.made:
            self._waiting.append(name)
        return name

    def _check_recursion(self) -> None:
        """Report functions that call each other through the `to_string` of a generic value, which shows only now."""
        graph = {name: [c for c in called if c in self._calls] for name, called in self._calls.items()}
        report_recursion(graph, lambda name: self.instances.by_name[name][0], self.functions.report)

    def _report_many(self, signature: Signature) -> None:
        self.functions.report.add(
            "E0512",
            f"generic functions make more than {MOST_INSTANCES:,} functions, one for each combination of types",
            signature.definition.span,
            note="a function that calls the next with two types doubles their number",
            hint="give the parameters of some of the functions types of their own",
        )

    def _instance(self, name: str, signature: Signature, arguments: tuple[Type, ...]) -> Function:
        checked = self.functions.checked(signature)
        by = dict(zip(signature.type_variables, arguments, strict=True))
        parameters = tuple(Parameter(p.name, types.substitute(p.type, by), p.mutable) for p in checked.parameters)
        result = types.substitute(signature.result, by)
        body = None
        if checked.body is not None:
            body = _Instantiator(self, name, signature.environment, by).body(checked)
        extern = checked.extern
        return Function(
            name,
            parameters,
            result,
            body,
            extern.python if extern else None,
            typed=extern.typed if extern else False,
            trusted=extern.trusted if extern else False,
            pure=all(a.name != "has_side_effects" for a in signature.definition.attributes),
            span=signature.definition.span,
        )


Node = TypeVar("Node", bound=Hashable)


def report_recursion(
    calls: Mapping[Node, Iterable[Node]], signature: Callable[[Node], Signature], report: Report
) -> None:
    """Report the cycles of a graph of calls."""
    for component in components(calls):
        cycle = path(calls, component[0], component[0])
        if cycle is not None:
            report_cycle([signature(node) for node in cycle], report)


def report_cycle(cycle: Sequence[Signature], report: Report) -> None:
    """Report functions that call each other in a circle; the first stands at both ends."""
    names = [f"`{s.definition.name}`" for s in cycle]
    report.add(
        "E0509",
        f"function {names[0]} calls itself" + (f": {' calls '.join(names)}" if len(cycle) > 2 else ""),
        cycle[0].definition.span,
        labels=[Label(s.definition.span, f"through `{s.definition.name}`") for s in cycle[1:-1]],
        note="functions are not recursive, so that every evaluation ends",
        hint="recursion belongs into rules; over a collection, use `for` or `fold`",
    )


def _depth(type: Type) -> int:
    return 1 + max(map(_depth, types.parts(type)), default=0)


class _Instantiator(Rewriter):
    def __init__(
        self, instantiation: Instantiation, caller: str, environment: Environment, by: dict[str, Type]
    ) -> None:
        self.instantiation = instantiation
        self.caller = caller
        self.environment = environment
        self.by = by

    def body(self, checked: CheckedFunction) -> Expr:
        assert checked.body is not None
        if self.by:
            return self.expr(checked.body)
        for name in checked.calls:
            self.function(name, checked.signature.definition.span)
        return checked.body

    def type(self, type: Type) -> Type:
        return types.substitute(type, self.by)

    def function(self, name: str, span: Span) -> str:
        signature, arguments = self.instantiation.instances.by_name[name]
        known = tuple([types.substitute(a, self.by) for a in arguments])
        return self.instantiation.reach(self.caller, signature, known)

    def operate(self, e: expr.Operate) -> Expr:
        if e.operator != "string":
            return super().operate(e)
        (operand,) = self.exprs(e.operands)
        if operand.type == STRING:
            return operand
        if is_built_in(operand.type) or operand.type is ERROR:
            return expr.Operate("string", (operand,), STRING, span=e.span)
        found = _text_function(self.environment, operand.type)
        if found is None:
            shown = types.show(operand.type)
            self.instantiation.functions.report.add(
                "E0502",
                f"no function `to_string` for `{shown}`",
                e.span,
                note=f"this generic function is used for `{shown}` and shows it as text",
                hint=f"declare `function to_string(x: {shown}): string`",
            )
            return operand
        signature, arguments = found
        name = self.instantiation.reach(self.caller, signature, arguments)
        return expr.Call(name, (operand,), STRING, span=e.span)


def _text_function(environment: Environment, type: Type) -> tuple[Signature, tuple[Type, ...]] | None:
    environments = [environment]
    if isinstance(type, Named):
        table, _ = environment.declarations.split(type.name)
        environments.append(environment.declarations.environments[table.path])
    for place in environments:
        for signature in place.functions(("to_string",)):
            unifier = Unifier()
            by: dict[str, Type] = {v: unifier.fresh() for v in signature.type_variables}
            if len(signature.parameters) == 1 and unifier.unify(
                types.substitute(signature.parameters[0].type, by), type
            ):
                return signature, tuple(unifier.zonk(by[v]) for v in signature.type_variables)
    return None
