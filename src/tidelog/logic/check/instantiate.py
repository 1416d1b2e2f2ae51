"""Generic functions at their type arguments: what the rules reach, without type variables.

    function twice(x: 'A): ('A, 'A) = (x, x)      R(twice(1)) gives the function `twice<bigint>`

A body was checked once over its type variables; an instance is that body with types replaced. Only the text of a
generic value (`"${x}"` with `x: 'A`) is decided here: built in, or through the `to_string` of the type it turned
out to be, looked for where the generic function stands and where the type is declared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from tidelog.base import expr, types
from tidelog.base.expr import Expr, Function, Parameter
from tidelog.base.graph import components
from tidelog.base.span import Span
from tidelog.base.types import STRING, Type, TypeSizeError
from tidelog.logic.check.functions import CheckedFunction, Functions
from tidelog.logic.infer.literals import is_built_in
from tidelog.logic.infer.typed_rewrite import Rewriter
from tidelog.logic.names.environment import Environment, Signature
from tidelog.logic.names.resolve import too_large
from tidelog.logic.names.unify import ERROR, Unifier

_DEEPEST_TYPE = 40
MOST_INSTANCES = 10_000
"""The most functions that are made of generic ones: a second's work."""


def instantiate(functions: Functions, names: Iterable[str]) -> Mapping[str, Function]:
    """Return the functions reached from calls (`Call.function`, `FunctionValue.function`), instantiated."""
    return Instantiation(functions).run(names)


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
                    self._report_larger_types(signature)
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
        self._mark_recursive()
        return self.made

    def reach(self, caller: str, signature: Signature, arguments: tuple[Type, ...]) -> str:
        """Note that an instance is called; return its name."""
        name = self.instances.name(signature, arguments)
        self._calls[caller].append(name)
        if name not in self.made:
            self._waiting.append(name)
        return name

    def _mark_recursive(self) -> None:
        """Note which functions call themselves: directly, through others, or through the `to_string` of a value."""
        graph = {name: [c for c in called if c in self._calls] for name, called in self._calls.items()}
        for component in components(graph):
            if len(component) > 1 or component[0] in graph[component[0]]:
                for name in component:
                    if name in self.made:
                        self.made[name] = replace(self.made[name], recursive=True)

    def _report_larger_types(self, signature: Signature) -> None:
        self.functions.report.add(
            "E0509",
            f"function `{signature.definition.name}` calls itself with ever larger types",
            signature.definition.span,
            note="a generic function becomes one function for each of its types, here without end",
            hint="call it with the same types, or give its parameters types of their own",
        )

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
            plain=extern.plain if extern else False,
            pure=all(a.name != "has_side_effects" for a in signature.definition.attributes),
            monotone=any(a.name == "monotone" for a in signature.definition.attributes),
            span=signature.definition.span,
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
    for signature in (*environment.functions(("to_string",)), *environment.near("to_string", type)):
        unifier = Unifier()
        by: dict[str, Type] = {v: unifier.fresh() for v in signature.type_variables}
        if len(signature.parameters) == 1 and unifier.unify(types.substitute(signature.parameters[0].type, by), type):
            return signature, tuple(unifier.zonk(by[v]) for v in signature.type_variables)
    return None
