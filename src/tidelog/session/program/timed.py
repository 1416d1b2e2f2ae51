"""Which relations of a program change with each commit, whatever it brings; see `facts.passing`."""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.base.record import record
from tidelog.plan.nodes import Relation


@record
class Timed:
    """Streams, those of them that take facts, relations that have rows of the past, and multisets."""

    streams: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    past: tuple[Relation, ...] = ()
    multisets: tuple[str, ...] = ()


def timed(relations: Mapping[str, Relation]) -> Timed:
    """Return the relations of a program that change with each commit."""
    streams = tuple(r.name for r in relations.values() if r.kind == "stream" and r.past is None and not r.auxiliary)
    given = tuple(name for name in streams if relations[name].role == "input")
    multisets = tuple(r.name for r in relations.values() if r.kind == "multiset" and r.past is None)
    return Timed(streams, given, tuple(r for r in relations.values() if r.past is not None), multisets)
