"""Module `ovsdb`: identifiers of rows in tables of an OVSDB, and groups of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tidelog.base.values import FrozenMap, Group, Value, Variant
from tidelog.logic.std.texts.notations import uuid_to_string


def name(number: int) -> str:
    """Write an identifier as a name: a letter first, and no hyphens."""
    return "u" + uuid_to_string(number).replace("-", "_")


def extracted(identifiers: Iterable[Variant]) -> Iterator[int]:
    """Yield identifiers, and 0 for each text."""
    return (one.fields[0] if one.position == 0 else 0 for one in identifiers)


def kept(group: Group, place: Callable[[Value], Variant] = lambda value: value) -> list[Any]:
    """Return the distinct values of a group in which no empty text is in some place."""
    return [value for value, _ in group.members if (one := place(value)).position == 0 or one.fields[0]]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "uuid2str": uuid_to_string,
    "uuid2name": name,
    "set_map_uuid2str": lambda ids: frozenset(map(uuid_to_string, ids)),
    "set_map_uuid2name": lambda ids: frozenset(map(name, ids)),
    "set_extract_uuids": lambda ids: frozenset(extracted(ids)),
    "map_extract_val_uuids": lambda ids: FrozenMap(zip(ids, extracted(ids.values()), strict=True)),
    "group2vec_remove_sentinel": lambda g: tuple(kept(g)),
    "group2set_remove_sentinel": lambda g: frozenset(kept(g)),
    "group2map_remove_sentinel": lambda g: FrozenMap(kept(g, lambda pair: pair[1])),
}
