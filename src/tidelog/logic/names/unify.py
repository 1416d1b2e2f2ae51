"""Unknown types and what is known about them: first-order unification with classes of numbers.

An unknown is a `TypeVariable` whose name starts with `?`. A literal such as `1` has an unknown type of class
`literal`, which is an integer unless its place needs a real number; an operand of `+` has one of class `number`.
Binding is by reference (`_bound`), so unifying costs the size of the smaller type, and `zonk` replaces unknowns by
what they became. `ERROR` stands for the type of an expression with a reported mistake: it unifies with everything, so
one mistake gives one diagnostic.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from tidelog.base import types as t

ERROR: Final = t.TypeVariable("?error")
Class = Literal["any", "number", "literal", "integer", "real"]
MOST_STEPS: Final = 1_000_000
"""Steps through types that the check of one rule or function may take: a second; long rules take some thousand."""
_CLASS_WORDS: Final = {
    "any": "_", "number": "number", "literal": "integer", "integer": "integer", "real": "real number",
}  # fmt: skip


def is_unknown(type: t.Type) -> bool:
    """Tell whether a type is an unknown of the checker (resolve it first)."""
    return isinstance(type, t.TypeVariable) and type.name[0] == "?"


class Unifier:
    """The unknowns of one rule or function body."""

    __slots__ = ("_bound", "_classes", "_count", "_steps")

    def __init__(self) -> None:
        self._bound: dict[str, t.Type] = {}
        self._classes: dict[str, Class] = {}
        self._count = 0
        self._steps = 0

    def _step(self) -> None:
        """Count a step through types: what unknowns became may be shared, and is walked through each time."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise t.TypeSizeError

    def fresh(self, of: Class = "any") -> t.TypeVariable:
        """Make a new unknown, of a class of numbers if given."""
        self._count += 1
        unknown = t.TypeVariable(f"?{self._count}")
        if of != "any":
            self._classes[unknown.name] = of
        return unknown

    def resolve(self, type: t.Type) -> t.Type:
        """Return what a type is known to be, at its head."""
        bound = self._bound
        while isinstance(type, t.TypeVariable):
            known = bound.get(type.name)
            if known is None:
                return type
            type = known
        return type

    def zonk(self, type: t.Type) -> t.Type:
        """Replace all unknowns inside a type by what they became."""
        return t.with_parts(self.resolve(type), self.zonk)

    def class_of(self, type: t.Type) -> Class:
        """Return the class of an unknown."""
        return self._classes.get(type.name, "any") if isinstance(type, t.TypeVariable) else "any"

    def restrict(self, type: t.Type, to: Class) -> bool:
        """Require a type to be of a class of numbers; return whether it can be."""
        type = self.resolve(type)
        if type is ERROR:
            return True
        if isinstance(type, t.TypeVariable) and type.name[0] == "?":
            met = _meet(self.class_of(type), to)
            if met is not None and met != "any":
                self._classes[type.name] = met
            return met is not None
        return _belongs(type, to)

    def default(self, some: Iterable[t.Type]) -> bool:
        """Give unknown numbers among the types their default type, bigint or double; return whether there were any."""
        found = False
        for type in some:
            unknown = self.resolve(type)
            of = self.class_of(unknown)
            if isinstance(unknown, t.TypeVariable) and of != "any":
                self._bound[unknown.name] = t.DOUBLE if of == "real" else t.BIGINT
                found = True
        return found

    def assumed(self, type: t.Type) -> t.Type:
        """Return the type, or the default type of an unknown number. Binds nothing."""
        unknown = self.resolve(type)
        of = self.class_of(unknown)
        return unknown if of == "any" else t.DOUBLE if of == "real" else t.BIGINT

    def default_all(self) -> None:
        """Give all unknown numbers their default type."""
        for name, of in self._classes.items():
            if name not in self._bound:
                self._bound[name] = t.DOUBLE if of == "real" else t.BIGINT
        self._classes.clear()

    def unify(self, a: t.Type, b: t.Type) -> bool:
        """Make two types equal, or return False (some unknowns inside may then be bound)."""
        a, b = self.resolve(a), self.resolve(b)
        if a is b:
            return True
        if a is ERROR or b is ERROR:
            self.give_up(b if a is ERROR else a)
            return True
        if isinstance(a, t.TypeVariable) and a.name[0] == "?":
            return self._bind(a, b)
        if isinstance(b, t.TypeVariable) and b.name[0] == "?":
            return self._bind(b, a)
        if not t.same_form(a, b):
            return False
        self._step()
        # All of them, even if the first differ: what the rest tells keeps later messages precise.
        same = [self.unify(one, other) for one, other in zip(t.parts(a), t.parts(b), strict=True)]
        return all(same)

    def _bind(self, unknown: t.TypeVariable, type: t.Type) -> bool:
        name = unknown.name
        if isinstance(type, t.TypeVariable) and type.name == name:
            return True
        if not self.restrict(type, self._classes.get(name, "any")) or self._occurs(name, type):
            return False
        self._bound[name] = type
        return True

    def _occurs(self, name: str, type: t.Type) -> bool:
        self._step()
        known = self.resolve(type)
        if isinstance(known, t.TypeVariable):
            return known.name == name
        return any(self._occurs(name, part) for part in t.parts(known))

    def fits(self, declared: t.Type, given: t.Type) -> bool:
        """Tell whether a declared type, its variables free to be anything, may equal a given one. Binds nothing."""
        given = self.resolve(given)
        if given is ERROR or declared is ERROR:
            return True
        if isinstance(declared, t.TypeVariable):
            return True
        if isinstance(given, t.TypeVariable):
            of = self.class_of(given)
            return given.name[0] == "?" and _belongs(declared, "integer" if of == "literal" else of)
        return t.same_form(declared, given) and all(map(self.fits, t.parts(declared), t.parts(given)))

    def give_up(self, type: t.Type) -> None:
        """Let the unknowns of a type fit everything, after one diagnostic about them."""
        self._step()
        known = self.resolve(type)
        if isinstance(known, t.TypeVariable) and is_unknown(known) and known is not ERROR:
            self._bound[known.name] = ERROR
        for part in t.parts(known):
            self.give_up(part)

    def show(self, type: t.Type) -> str:
        """Write a type for a diagnostic: an unknown as `_`, or as its class of numbers."""
        return t.show(self._shown(type))

    def _shown(self, type: t.Type) -> t.Type:
        known = self.resolve(type)
        return t.Named(_CLASS_WORDS[self.class_of(known)]) if is_unknown(known) else t.with_parts(known, self._shown)


_WIDER: Final[dict[Class, tuple[Class, ...]]] = {
    "any": (), "number": ("any",), "literal": ("any", "number"), "integer": ("any", "number", "literal"),
    "real": ("any", "number", "literal"),
}  # fmt: skip
"""The classes that hold all types of a class and more; `literal` holds those of `number`, but prefers integers."""


def _meet(a: Class, b: Class) -> Class | None:
    if a == b or b in _WIDER[a]:
        return a
    return b if a in _WIDER[b] else None


def _belongs(type: t.Type, to: Class) -> bool:
    if to in ("number", "literal"):
        return t.is_number(type)
    return to == "any" or (t.is_number(type) and t.is_integer(type) == (to == "integer"))
