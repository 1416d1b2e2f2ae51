"""`@record`: a frozen dataclass with slots, cheap to define.

A `dataclass(frozen=True, slots=True)` compiles six methods from text when it is defined, 0.3 ms a class: for the 250 of
them that was a third of the time of `tidelog run` on a small program, and most are never instantiated there. A record
compiles its methods when the first of them is called. `fields`, `replace`, `asdict`, `match`, `pickle` and `copy` work
as for any dataclass; so do `field`, `__post_init__` and methods of the class's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")
Method = Callable[..., Any]
COMPILED = ("__init__", "__eq__", "__hash__")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """Make a class with annotated fields a frozen dataclass with slots.

    >>> @record
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(1), Point(1) == Point(x=1, y=0), {Point(1): "a"}[Point(1)]
    (Point(x=1, y=0), True, 'a')
    """
    made = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    awaited = tuple(name for name in COMPILED if name not in cls.__dict__)
    for name in awaited:
        setattr(made, name, _awaiting(made, name, awaited))
    for name, method in SHARED.items():
        if name not in cls.__dict__:
            setattr(made, name, method)
    return made


def _awaiting(cls: type[Any], name: str, awaited: tuple[str, ...]) -> Method:
    """Return what stands for a method that is not compiled yet: called, it compiles all that the class awaits."""

    def method(self: object, *given: object, **named: object) -> object:
        compiled = _compile(cls)
        for other in awaited:
            setattr(cls, other, compiled[other])
        return compiled[name](self, *given, **named)

    return method


def _compile(cls: type[Any]) -> dict[str, Method]:
    names: dict[str, Any] = {"__missing": MISSING, "__set": object.__setattr__}
    parameters, lines = ["self"], []
    for f in sorted(fields(cls), key=lambda f: bool(f.kw_only)):
        value = f.name
        if f.kw_only and "*" not in parameters:
            parameters.append("*")
        if not f.init:
            continue  # `__post_init__` gives it its value
        if f.default_factory is not MISSING:
            names[f"__make_{f.name}"] = f.default_factory
            parameters.append(f"{f.name}=__missing")
            value = f"__make_{f.name}() if {f.name} is __missing else {f.name}"
        elif f.default is not MISSING:
            names[f"__default_{f.name}"] = f.default
            parameters.append(f"{f.name}=__default_{f.name}")
        else:
            parameters.append(f.name)
        lines.append(f" __set(self, {f.name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    compared = [f.name for f in fields(cls) if f.compare]
    mine, others = (f"({''.join(f'{of}.{name}, ' for name in compared)})" for of in ("self", "other"))
    text = [
        f"def __init__({', '.join(parameters)}):",
        *(lines or [" pass"]),
        "def __eq__(self, other):",
        f" return {mine} == {others} if other.__class__ is self.__class__ else NotImplemented",
        "def __hash__(self):",
        f" return hash({mine})",
    ]
    exec("\n".join(text), names)  # noqa: S102
    return names


def _show(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse(changed: object, name: str, *_: object) -> None:
    raise FrozenInstanceError(f"cannot change the field {name!r} of a {type(changed).__name__}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, f.name) for f in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for f, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, f.name, value)


SHARED: dict[str, Method] = {
    "__repr__": _show,
    "__setattr__": _refuse,
    "__delattr__": _refuse,
    "__getstate__": _state,
    "__setstate__": _restore,
}
