"""What an expression means: an interpreter over an environment, a dictionary from variable names to values.

Names of locals are unique within a body, so one dictionary serves a whole body. Values never change: an assignment to
a part of a variable replaces the variable. `break`, `continue` and `return` are Python exceptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import assert_never

from tidelog.base import expr as e
from tidelog.base.conform import conforms
from tidelog.base.errors import LimitError
from tidelog.base.extern import Signature
from tidelog.base.free import free_variables
from tidelog.base.plain.call import Calls
from tidelog.base.plain.misfit import Misfit
from tidelog.base.process.calls import recursive
from tidelog.base.process.growth import before_call, before_integers, bounded, counted, nested
from tidelog.base.process.meter import step
from tidelog.base.record import record
from tidelog.base.text.write import show_value
from tidelog.base.types import BigInt, Type, TypeDefinition
from tidelog.base.types import Function as FunctionType
from tidelog.base.values import Closure, FrozenMap, Group, Value, Variant, in_order
from tidelog.run.reference.operators import Failure, operate, same

Environment = dict[str, Value]


class Leave(Exception):  # noqa: N818  # a jump, not an error
    """Control leaves the expressions around `break`, `continue` or `return`."""


class Broken(Leave):
    """`break`."""


class Continued(Leave):
    """`continue`."""


class Returned(Leave):
    """`return value`."""

    def __init__(self, value: Value) -> None:
        super().__init__()
        self.value = value


@record
class Evaluator:
    """Evaluates expressions of a program with these functions and types."""

    functions: Mapping[str, e.Function]
    types: Mapping[str, TypeDefinition]
    lambdas: dict[int, tuple[e.Lambda, str, tuple[str, ...]]] = field(default_factory=dict, repr=False)
    """By identity, what stands for the code of a lambda, and its free variables."""
    plain: dict[str, Callable[..., Value]] = field(default_factory=dict, repr=False)
    """Python functions of plain values, as functions of proper ones."""

    def value(self, expr: e.Expr, env: Environment) -> Value:
        """Return the value of an expression; assignments change the environment."""
        match expr:
            case e.Const(value):
                return value
            case e.Var(name):
                return env[name]
            case e.Operate():
                return self._operate(expr, env)
            case e.Call():
                return self._call(expr, env)
            case e.MakeTuple(items) | e.MakeVec(items):
                made = self.values(items, env)
                return bounded(made) if nested(expr.type) else made
            case e.Construct(constructor, arguments):
                return Variant(constructor.name, constructor.position, self.values(arguments, env))
            case e.MakeMap(pairs):
                return FrozenMap([(self.value(key, env), self.value(value, env)) for key, value in pairs])
            case e.Project(of, index, _, positions):
                return component(self.value(of, env), index, positions)
            case e.Is(of, constructor):
                return self.value(of, env).position == constructor.position
            case e.If(condition, then, otherwise):
                return self.value(then if self.value(condition, env) else otherwise, env)
            case e.Match(subject, arms):
                value = self.value(subject, env)
                return self.value(next(arm for pattern, arm in arms if fits(pattern, value, env)), env)
            case e.Sequence(items):
                return self.values(items, env)[-1] if items else ()
            case e.Declare(pattern, value_of):
                fits(pattern, self.value(value_of, env), env)
                return ()
            case e.Assign(place, value_of):
                assign(place, self.value(value_of, env), env)
                return ()
            case e.For():
                return self._loop(expr, env)
            case e.Apply(function, arguments, _, places):
                callee = self.value(function, env)
                return self._place(callee(*self.values(arguments, env)), places, env)
            case e.Lambda():
                return self._closure(expr, env)
            case e.FunctionValue(name):
                return self._named(self.functions[name])
            case e.Break():
                raise Broken
            case e.Continue():
                raise Continued
            case e.Return(value_of):
                raise Returned(self.value(value_of, env))
            case _:
                assert_never(expr)

    def values(self, exprs: Iterable[e.Expr], env: Environment) -> tuple[Value, ...]:
        """Return the values of expressions, evaluated from left to right."""
        return tuple([self.value(expr, env) for expr in exprs])

    def elements(self, expr: e.Expr, env: Environment) -> Iterable[Value]:
        """Return the elements of a collection in order."""
        match self.value(expr, env):
            case tuple() as vector:
                return vector
            case FrozenMap() as mapping:
                return mapping.items()
            case Group() as group:
                return group.members
            case collection:
                return in_order(collection)

    def _operate(self, expr: e.Operate, env: Environment) -> Value:
        """Apply operators from the innermost left operand outwards: chains like `a ++ b ++ c` may be long."""
        spine: list[e.Operate] = []
        innermost: e.Expr = expr
        while isinstance(innermost, e.Operate):
            spine.append(innermost)
            innermost = innermost.operands[0]
        value = self.value(innermost, env)
        for node in reversed(spine):
            rest = node.operands[1:]
            match node.operator:
                case "and":
                    value = value and self.value(rest[0], env)
                case "or":
                    value = value or self.value(rest[0], env)
                case "=>":
                    value = not value or self.value(rest[0], env)
                case "string":
                    if isinstance(node.operands[0].type, BigInt):
                        before_integers("string", value)
                    value = value if isinstance(value, str) else show_value(value, node.operands[0].type, self.types)
                case _:
                    value = operate(node, (value, *self.values(rest, env)))
        return value

    def _loop(self, loop: e.For, env: Environment) -> Value:
        for element in counted(self.elements(loop.iterable, env)):
            fits(loop.pattern, element, env)
            try:
                self.value(loop.body, env)
            except Continued:
                continue
            except Broken:
                break
        return ()

    def _call(self, call: e.Call, env: Environment) -> Value:
        callee = self._named(self.functions[call.function])
        return self._place(callee(*self.values(call.arguments, env)), call.places, env)

    def _place(self, outcome: Value, places: tuple[e.Place, ...], env: Environment) -> Value:
        """Take apart what a function with `mut` parameters gave, and assign its places."""
        if not places:
            return outcome
        result, *finals = outcome
        for place, final in zip(places, finals, strict=True):
            assign(place, final, env)
        return result

    def _named(self, function: e.Function) -> Closure:
        if function.body is None:
            return Closure(function.name, (), lambda *arguments: self._python(function, arguments))
        names = tuple(p.name for p in function.parameters)
        made = self._function(function.name, names, tuple(p.mutable for p in function.parameters), function.body, {})
        return Closure(function.name, (), recursive(made, function.name, Failure)) if function.recursive else made

    def _closure(self, expr: e.Lambda, env: Environment) -> Closure:
        """Make a function value; it captures the variables it uses as they are now."""
        assert isinstance(expr.type, FunctionType)
        if id(expr) not in self.lambdas:
            self.lambdas[id(expr)] = expr, repr(expr), tuple(free_variables(expr))
        _, code, free = self.lambdas[id(expr)]
        names = tuple(p.name for p in expr.parameters)
        return self._function(code, names, expr.type.mutable, expr.body, {name: env[name] for name in free})

    def _function(
        self, code: str, names: tuple[str, ...], mutable: tuple[bool, ...], body: e.Expr, captured: Environment
    ) -> Closure:
        def call(*arguments: Value) -> Value:
            step()
            env = {**captured, **dict(zip(names, arguments, strict=True))}
            try:
                result = self.value(body, env)
            except Returned as returned:
                result = returned.value
            if not any(mutable):
                return result
            return (result, *(env[name] for name, written in zip(names, mutable, strict=True) if written))

        return Closure(code, tuple(captured.values()), call)

    def _python(self, function: e.Function, arguments: tuple[Value, ...]) -> Value:
        python = function.python
        assert python is not None
        parameters = tuple(p.type for p in function.parameters)
        written = [p.type for p in function.parameters if p.mutable]
        first = (Signature(parameters, function.result, self.types),) if function.typed else ()
        if function.plain:
            if function.name not in self.plain:
                made = Calls(self.types).function(python, parameters, [function.result, *written])
                self.plain[function.name] = made
            python = self.plain[function.name]
        before_call(arguments)
        try:
            outcome = python(*first, *arguments)
        except (Failure, Leave, LimitError):
            raise
        except Misfit as misfit:
            raise Failure(f"{self._shown(function, arguments)} returned a wrong value: {misfit}") from None
        except Exception as error:  # whatever a user's function raises, the message must name the rule
            raise Failure(f"{self._shown(function, arguments)} raised {type(error).__name__}: {error}") from error
        if nested(function.result) or any(nested(p.type) for p in function.parameters if p.mutable):
            bounded(outcome if isinstance(outcome, tuple) else (outcome,))
        if not function.trusted and not function.plain:
            self._check(function, arguments, outcome, [function.result, *written])
        return outcome

    def _check(self, function: e.Function, arguments: tuple[Value, ...], outcome: Value, wanted: list[Type]) -> None:
        """Refuse what a Python function returned if it does not have the declared types."""
        outcomes = (outcome,) if len(wanted) == 1 else outcome
        if not isinstance(outcomes, tuple) or len(outcomes) != len(wanted):
            reason: str | None = f"{outcome!r} is not a tuple of the result and {len(wanted) - 1} written parameters"
        else:
            reasons = (conforms(x, kind, self.types) for x, kind in zip(outcomes, wanted, strict=True))
            reason = next(filter(None, reasons), None)
        if reason:
            raise Failure(f"{self._shown(function, arguments)} returned a wrong value: {reason}")

    def _shown(self, function: e.Function, arguments: tuple[Value, ...]) -> str:
        pairs = zip(arguments, function.parameters, strict=True)
        return f"{function.name}({', '.join(show_value(x, p.type, self.types) for x, p in pairs)})"


def component(value: Value, index: int, positions: tuple[int, ...] = ()) -> Value:
    """Return a component of a tuple, or a field of a struct or union."""
    if isinstance(value, Variant):
        return value.fields[positions[value.position] if positions else index]
    return value[index]


def assign(place: e.Place, value: Value, env: Environment) -> None:
    """Give a variable, or a part of it, a new value."""
    env[place.name] = replaced(env[place.name], place.path, value) if place.path else value


def replaced(whole: Value, path: tuple[int, ...], value: Value) -> Value:
    """Return a copy of a value with the part at `path` replaced."""
    if not path:
        return value
    parts = list(whole.fields if isinstance(whole, Variant) else whole)
    parts[path[0]] = replaced(parts[path[0]], path[1:], value)
    return Variant(whole.name, whole.position, tuple(parts)) if isinstance(whole, Variant) else tuple(parts)


def fits(pattern: e.Pattern, value: Value, env: Environment) -> bool:
    """Tell whether a pattern fits a value, binding its variables."""
    match pattern:
        case e.AnyPattern():
            return True
        case e.VarPattern(name, _, inner):
            env[name] = value
            return fits(inner, value, env)
        case e.ConstPattern(constant):
            return same(constant, value)
        case e.TuplePattern(items):
            return all(fits(item, part, env) for item, part in zip(items, value, strict=True))
        case e.ConstructorPattern(constructor, items):
            if value.position != constructor.position:
                return False
            return all(fits(item, part, env) for item, part in zip(items, value.fields, strict=True))
        case _:
            assert_never(pattern)
