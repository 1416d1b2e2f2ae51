"""The Python side of the standard library: every function that its modules declare as `extern`, by qualified name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tidelog.base.extern import Externs
from tidelog.logic.std import allocation, clock, containers, graphs, groups, messages, reals, scalars, tables, terms
from tidelog.logic.std.texts import documents, notations, patterns, urls

Table = Mapping[str, Callable[..., Any]]

EXTERNS = Externs()


def _offer(module: str, functions: Table, *, typed: bool = False) -> None:
    for name, python in functions.items():
        EXTERNS.register(f"{module}::{name}", typed=typed, trusted=True)(python)


_offer("std", scalars.TYPED, typed=True)
_offer("std", scalars.FUNCTIONS)
_offer("std", containers.FUNCTIONS)
_offer("std", groups.TYPED, typed=True)
_offer("std", groups.FUNCTIONS)
_offer("vec", containers.VEC_FUNCTIONS)
_offer("set", containers.SET_FUNCTIONS)
_offer("group", groups.GROUP_TYPED, typed=True)
_offer("allocate", allocation.FUNCTIONS)
_offer("ovsdb", tables.FUNCTIONS)
_offer("graph", graphs.FUNCTIONS)
_offer("fp", reals.FUNCTIONS)
_offer("regex", patterns.FUNCTIONS)
_offer("time", clock.FUNCTIONS)
_offer("json", documents.TYPED, typed=True)
_offer("json", documents.FUNCTIONS)
_offer("base64", notations.BASE64_FUNCTIONS)
_offer("rdf", terms.FUNCTIONS)
_offer("net::ipv6", notations.IPV6_FUNCTIONS)
_offer("uuid", notations.UUID_FUNCTIONS)
_offer("url", urls.FUNCTIONS)
_offer("print", messages.PRINT_FUNCTIONS)
_offer("log", messages.LOG_FUNCTIONS)
