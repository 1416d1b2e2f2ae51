"""Walks over trees of records: which fields of a node hold other nodes is read off the annotations of its class.

    EXPRESSIONS = Walk(get_args(Expr), "Expr")

takes `items: tuple[Expr, ...]` and `arms: tuple[tuple[Pattern, Expr], ...]` for parts, and `name: str` not. A new node
needs no change here or where trees are walked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from typing import Any, Generic, TypeVar

Node = TypeVar("Node")


class Walk(Generic[Node]):
    """How trees of the given classes are walked: `parts` are in fields whose annotations have one of the words.

    Records of the classes `through` are no parts, but may hold some.
    """

    def __init__(self, parts: Iterable[type], *words: str, through: Iterable[type] = ()) -> None:
        self._parts = frozenset(parts)
        self._through = frozenset(through)
        self._words = re.compile(rf"\b(?:{'|'.join(words)})\b")
        self._names: dict[type, tuple[str, ...]] = {}

    def _fields(self, kind: type[Any]) -> tuple[str, ...]:
        names = self._names.get(kind)
        if names is None:
            names = tuple(f.name for f in fields(kind) if self._words.search(str(f.type)))
            self._names[kind] = names
        return names

    def parts(self, node: Node) -> list[Node]:
        """Return the direct parts of a node, in the order of its fields."""
        found: list[Node] = []
        self._gather(node, found)
        return found

    def _gather(self, holder: Any, found: list[Node]) -> None:
        for name in self._fields(type(holder)):
            self._add(getattr(holder, name), found)

    def _add(self, value: Any, found: list[Node]) -> None:
        kind = type(value)
        if kind in self._parts:
            found.append(value)
        elif kind is tuple:
            for item in value:
                self._add(item, found)
        elif kind in self._through:
            self._gather(value, found)

    def everything(self, node: Node) -> Iterator[Node]:
        """The node and everything inside it, outer before inner, left before right."""
        stack = [node]
        while stack:
            current = stack.pop()
            yield current
            stack.extend(reversed(self.parts(current)))

    def with_parts(self, node: Node, change: Callable[[Any], Any]) -> Node:
        """Return a node with each of its direct parts changed, in the order of `parts`; the node itself if none is."""
        return self._rebuilt(node, change)  # type: ignore[no-any-return]

    def _rebuilt(self, holder: Any, change: Callable[[Any], Any]) -> Any:
        changed = {}
        for name in self._fields(type(holder)):
            value = getattr(holder, name)
            new = self._changed(value, change)
            if new is not value:
                changed[name] = new
        return replace(holder, **changed) if changed else holder

    def _changed(self, value: Any, change: Callable[[Any], Any]) -> Any:
        kind = type(value)
        if kind in self._parts:
            return change(value)
        if kind is tuple:
            items = tuple([self._changed(item, change) for item in value])
            return value if all(a is b for a, b in zip(items, value, strict=True)) else items
        return self._rebuilt(value, change) if kind in self._through else value
