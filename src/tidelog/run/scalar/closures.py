"""Typed expressions as Python closures: for values that do not run on whole columns.

`Closures.compile` turns an expression into a function of an environment (variable names to values), once; functions of
the program are compiled when first called. Control flow uses exceptions. No text is ever made into code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, assert_never

from tidelog.base import expr as e
from tidelog.base import types as t
from tidelog.base import values
from tidelog.base.conform import conforms
from tidelog.base.errors import EvaluationError, LimitError
from tidelog.base.extern import Signature
from tidelog.base.free import free_variables, parts
from tidelog.base.plain.call import Calls
from tidelog.base.plain.misfit import Misfit
from tidelog.base.process.calls import recursive
from tidelog.base.process.growth import before_call, bounded, counted, nested
from tidelog.base.process.meter import step
from tidelog.base.span import NOWHERE
from tidelog.base.text.write import show_value
from tidelog.base.types import TypeDefinition
from tidelog.base.values import FrozenMap, Group, Variant, in_order
from tidelog.run.scalar.operators import operator_function

Environment = dict[str, Any]
Closure = Callable[[Environment], Any]
Matcher = Callable[[Any, Environment], bool]


class _BreakError(Exception):
    """The innermost loop is left."""


class _ContinueError(Exception):
    """The innermost loop goes on with its next element."""


class _ReturnError(Exception):
    """The function is left with a value."""

    def __init__(self, value: Any) -> None:
        self.value = value


class Closures:
    """Compiles expressions over the functions of one program."""

    def __init__(self, functions: Mapping[str, e.Function], types: Mapping[str, TypeDefinition]) -> None:
        self._functions = functions
        self._types = types
        self._compiled: dict[str, Callable[..., tuple[Any, tuple[Any, ...]]]] = {}

    def compile(self, node: e.Expr) -> Closure:
        """Return the closure of an expression."""
        match node:
            case e.Const(value):
                return lambda _: value
            case e.Var(name):
                return lambda env: env[name]
            case e.MakeTuple(items) | e.MakeVec(items):
                made_of = self._tuple(items)
                return (lambda env: bounded(made_of(env))) if nested(node.type) else made_of
            case e.Construct(constructor, arguments):
                name, position, fields = constructor.name, constructor.position, self._tuple(arguments)
                return lambda env: Variant(name, position, fields(env))
            case e.MakeMap(pairs):
                made = [(self.compile(k), self.compile(v)) for k, v in pairs]
                return lambda env: FrozenMap([(k(env), v(env)) for k, v in made])
            case e.Project():
                return self._project(node)
            case e.Is(of, constructor):
                inner, position = self.compile(of), constructor.position
                return lambda env: inner(env).position == position
            case e.Operate():
                return self._operate(node)
            case e.Call() | e.Apply():
                return self._call(node)
            case e.Lambda(parameters, body):
                return self._lambda(node, parameters, body, node.type)
            case e.FunctionValue(name):
                return lambda _: self._as_value(node, name)
            case e.If(condition, then, otherwise):
                test, yes, no = self.compile(condition), self.compile(then), self.compile(otherwise)
                return lambda env: yes(env) if test(env) else no(env)
            case e.Match(subject, arms):
                return self._match(subject, arms)
            case _:
                return self._statement(node)

    def _statement(self, node: e.Expr) -> Closure:
        match node:
            case e.Sequence(items):
                return self._sequence([self.compile(item) for item in items])
            case e.Declare(pattern, value):
                bind, made = self._pattern(pattern), self.compile(value)
                return lambda env: bind(made(env), env) and ()
            case e.Assign(place, value):
                store, made = self._store(place), self.compile(value)
                return lambda env: store(env, made(env))
            case e.For():
                return self._for(node)
            case e.Break():
                return _raise(_BreakError)
            case e.Continue():
                return _raise(_ContinueError)
            case e.Return(value):
                result = self.compile(value)

                def leave(env: Environment) -> Any:
                    raise _ReturnError(result(env))

                return leave
            case _:
                raise AssertionError(f"not a statement: {node}")

    # --- parts -------------------------------------------------------------------------------------------------------

    def _tuple(self, items: Iterable[e.Expr]) -> Closure:
        parts = [self.compile(item) for item in items]
        return lambda env: tuple([part(env) for part in parts])

    @staticmethod
    def _sequence(parts: list[Closure]) -> Closure:
        def run(env: Environment) -> Any:
            value: Any = ()
            for part in parts:
                value = part(env)
            return value

        return run

    def _project(self, node: e.Project) -> Closure:
        inner, index, positions = self.compile(node.of), node.index, node.positions
        if isinstance(t.content(node.of.type), t.Tuple):
            return lambda env: inner(env)[index]
        if positions:

            def shared(env: Environment) -> Any:
                value = inner(env)
                return value.fields[positions[value.position]]

            return shared
        return lambda env: inner(env).fields[index]

    def _operate(self, node: e.Operate) -> Closure:
        parts = [self.compile(operand) for operand in node.operands]
        match node.operator:
            case "and":
                return lambda env: parts[0](env) and parts[1](env)
            case "or":
                return lambda env: parts[0](env) or parts[1](env)
            case "=>":
                return lambda env: not parts[0](env) or parts[1](env)
        function = operator_function(node)
        if len(parts) == 1:
            only = parts[0]
            return lambda env: function(only(env))
        if len(parts) == 2:
            left, right = parts
            return lambda env: function(left(env), right(env))
        return lambda env: function(*[part(env) for part in parts])

    def _match(self, subject: e.Expr, arms: Iterable[tuple[e.Pattern, e.Expr]]) -> Closure:
        value = self.compile(subject)
        made = [(self._pattern(pattern), self.compile(body)) for pattern, body in arms]

        def run(env: Environment) -> Any:
            found = value(env)
            for fits, body in made:
                if fits(found, env):
                    return body(env)
            raise AssertionError("the checker has shown that an arm fits")

        return run

    def _for(self, node: e.For) -> Closure:
        iterable, bind, body = self.compile(node.iterable), self._pattern(node.pattern), self.compile(node.body)

        def run(env: Environment) -> Any:
            for element in counted(elements(iterable(env))):
                bind(element, env)
                try:
                    body(env)
                except _ContinueError:
                    continue
                except _BreakError:
                    break
            return ()

        return run

    def _store(self, place: e.Place) -> Callable[[Environment, Any], Any]:
        name, path = place.name, place.path

        def store(env: Environment, value: Any) -> Any:
            env[name] = _replaced(env[name], path, value) if path else value
            return ()

        return store

    # --- patterns ----------------------------------------------------------------------------------------------------

    def _pattern(self, pattern: e.Pattern) -> Matcher:
        match pattern:
            case e.AnyPattern():
                return lambda _value, _env: True
            case e.VarPattern(name, _, inner):
                return self._binder(name, None if isinstance(inner, e.AnyPattern) else self._pattern(inner))
            case e.ConstPattern(constant):
                return lambda value, _: value is constant or value == constant
            case e.TuplePattern(items):
                parts = [self._pattern(item) for item in items]
                return lambda value, env: all(fits(v, env) for fits, v in zip(parts, value, strict=True))
            case e.ConstructorPattern(constructor, items):
                position, parts = constructor.position, [self._pattern(item) for item in items]
                return lambda value, env: (
                    value.position == position
                    and all(fits(v, env) for fits, v in zip(parts, value.fields, strict=True))
                )
            case _:
                assert_never(pattern)

    @staticmethod
    def _binder(name: str, inner: Matcher | None) -> Matcher:
        def bind(value: Any, env: Environment) -> bool:
            if inner is not None and not inner(value, env):
                return False
            env[name] = value
            return True

        return bind

    # --- functions ---------------------------------------------------------------------------------------------------

    def _call(self, node: e.Call | e.Apply) -> Closure:
        parts = [self.compile(argument) for argument in node.arguments]
        stores = [self._store(place) for place in node.places]
        if isinstance(node, e.Call):
            name = node.function

            def call(env: Environment) -> Any:
                result, finals = self.function(name)(*[part(env) for part in parts])
                for store, final in zip(stores, finals, strict=True):
                    store(env, final)
                return result

            return call
        function = self.compile(node.function)

        def apply(env: Environment) -> Any:
            outcome = function(env)(*[part(env) for part in parts])
            if not stores:
                return outcome
            for store, final in zip(stores, outcome[1:], strict=True):
                store(env, final)
            return outcome[0]

        return apply

    def function(self, name: str) -> Callable[..., tuple[Any, tuple[Any, ...]]]:
        """Return a function of the program: arguments to its result and the final values of `mut` parameters."""
        found = self._compiled.get(name)
        if found is None:
            definition = self._functions[name]
            found = self._compiled[name] = self._defined(definition) if definition.body else self._extern(definition)
        return found

    def _defined(self, definition: e.Function) -> Callable[..., tuple[Any, tuple[Any, ...]]]:
        assert definition.body is not None
        body = self.compile(definition.body)
        names = [parameter.name for parameter in definition.parameters]
        mutable = [parameter.name for parameter in definition.parameters if parameter.mutable]

        def run(*arguments: Any) -> tuple[Any, tuple[Any, ...]]:
            step()
            env = dict(zip(names, arguments, strict=True))
            try:
                result = body(env)
            except _ReturnError as leave:
                result = leave.value
            return result, tuple([env[name] for name in mutable])

        return recursive(run, definition.name, EvaluationError) if definition.recursive else run

    def _extern(self, definition: e.Function) -> Callable[..., tuple[Any, tuple[Any, ...]]]:
        python = definition.python
        assert python is not None
        kinds = tuple(parameter.type for parameter in definition.parameters)
        mutable = [parameter.type for parameter in definition.parameters if parameter.mutable]
        first = (Signature(kinds, definition.result, self._types),) if definition.typed else ()
        expected = (definition.result, *mutable)
        large = any(map(nested, expected))
        checked = definition.trusted or definition.plain
        if definition.plain:
            python = Calls(self._types).function(python, kinds, expected)

        def run(*arguments: Any) -> tuple[Any, tuple[Any, ...]]:
            before_call(arguments)
            try:
                outcome = python(*first, *arguments)
            except (EvaluationError, LimitError, _BreakError, _ContinueError, _ReturnError, RecursionError):
                raise
            except Misfit as misfit:
                shown = self._shown(definition, arguments)
                raise EvaluationError(f"{shown} returned a wrong value: {misfit}") from None
            except Exception as error:
                reason = f"raised {type(error).__name__}: {error}"
                raise EvaluationError(f"{self._shown(definition, arguments)} {reason}") from error
            results = outcome if mutable else (outcome,)
            if large:
                bounded(results)
            if not checked:
                problem = self._misfit(results, expected)
                if problem:
                    raise EvaluationError(f"{self._shown(definition, arguments)} returned a wrong value: {problem}")
            return results[0], tuple(results[1:])

        return run

    def _misfit(self, results: Any, expected: tuple[t.Type, ...]) -> str | None:
        """Say what is wrong with what a Python function returned."""
        if not isinstance(results, tuple) or len(results) != len(expected):
            return f"{results!r} is not a tuple of the result and {len(expected) - 1} written parameters"
        found = (conforms(value, type, self._types) for value, type in zip(results, expected, strict=True))
        return next(filter(None, found), None)

    def _shown(self, definition: e.Function, arguments: tuple[Any, ...]) -> str:
        pairs = zip(arguments, definition.parameters, strict=True)
        return f"{definition.name}({', '.join(show_value(x, p.type, self._types) for x, p in pairs)})"

    def _as_value(self, node: e.Expr, name: str) -> values.Closure:
        function = self.function(name)
        has_places = any(parameter.mutable for parameter in self._functions[name].parameters)

        def value(*arguments: Any) -> Any:
            result, finals = function(*arguments)
            return (result, *finals) if has_places else result

        return values.Closure(name, (), value, lambda: self._recipe(node, {}))

    def _recipe(self, node: e.Expr, kept: Environment) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return remade, (called([node], self._functions), Types(self._types), node, tuple(kept.items()))

    def _lambda(self, node: e.Lambda, parameters: tuple[e.Var, ...], body: e.Expr, type: t.Type) -> Closure:
        code = repr(node)
        made = self.compile(body)
        names = [parameter.name for parameter in parameters]
        assert isinstance(type, t.Function)
        mutable = [name for name, is_mutable in zip(names, type.mutable, strict=True) if is_mutable]
        captured = [name for name in free_variables(body) if name not in names]

        def make(env: Environment) -> Any:
            kept = {name: env[name] for name in captured}

            def value(*arguments: Any) -> Any:
                step()
                inner = {**kept, **dict(zip(names, arguments, strict=True))}
                try:
                    result = made(inner)
                except _ReturnError as leave:
                    result = leave.value
                return (result, *[inner[name] for name in mutable]) if mutable else result

            return values.Closure(code, tuple(kept.values()), value, lambda: self._recipe(node, kept))

        return make


class Types(dict[str, TypeDefinition]):
    """The types of the program, which who sends a function value elsewhere need not send with it."""


def remade(
    functions: Mapping[str, e.Function], types: Types, node: e.Expr, kept: tuple[tuple[str, Any], ...]
) -> values.Closure:
    """Return the function value of an expression, with what it captured."""
    made: values.Closure = Closures(functions, types).compile(node)(dict(kept))
    return made


def called(expressions: Iterable[e.Expr], functions: Mapping[str, e.Function]) -> dict[str, e.Function]:
    """Return the functions that expressions need, directly or through others."""
    needed: dict[str, e.Function] = {}
    waiting = list(expressions)
    while waiting:
        node = waiting.pop()
        if isinstance(node, e.Call | e.FunctionValue) and node.function not in needed:
            found = needed[node.function] = replace(functions[node.function], span=NOWHERE)
            if found.body is not None:
                waiting.append(found.body)
        waiting.extend(parts(node))
    return needed


def elements(collection: Any) -> Iterable[Any]:
    """Return the elements that a loop or FlatMap sees: sets in order, maps as pairs, groups as (value, weight)."""
    match collection:
        case frozenset():
            return in_order(collection)
        case FrozenMap():
            return collection.items()
        case Group():
            return collection.members
        case Variant(fields=fields):
            return fields
        case _:
            return collection  # type: ignore[no-any-return]


def _replaced(value: Any, path: tuple[int, ...], new: Any) -> Any:
    if not path:
        return new
    parts = list(value.fields if isinstance(value, Variant) else value)
    parts[path[0]] = _replaced(parts[path[0]], path[1:], new)
    return Variant(value.name, value.position, tuple(parts)) if isinstance(value, Variant) else tuple(parts)


def _raise(exception: type[Exception]) -> Closure:
    def leave(_: Environment) -> Any:
        raise exception

    return leave
