"""Tidelog: typed Datalog that stays true while facts and rules change.

What users need is here:

* `Database`: a program, its facts, and every consequence; `Limits` bound what it may take, and a
  `Fallback` what an update may before it gives way to an evaluation from scratch.
* `Transaction`: changes facts and rules together; its `Commit` has the exact `Changes`, a `Change` for each relation.
* `RelationView`, `Rule`: looking at what a database has; `Variant` and `FrozenMap` are values of structs and maps.
* `Subscription`: being told of changes; an error of a subscriber is told as a `SubscriptionWarning`.
* `Externs`: Python functions for programs.
* `load_facts`, `save_outputs`: folders of files, as `tidelog run` reads and writes them.
* `engines`: the engines that this installation has.
* `tidelog.dbsp`: a library of its own, streams of Z-sets and circuits over them.
* `CacheWarning`: compiled kernels could not be kept, or read; they are compiled, and nothing else is wrong.
* `TidelogError`: what is raised. A `UserError` is a `ProgramError`, `DataError`, `EvaluationError`, `LimitError` or
  `MissingExtraError`; a `VerificationError` is a defect of Tidelog.

>>> import tidelog
>>> db = tidelog.Database("input relation Edge(a: u8, b: u8)  output relation Loop(a: u8)  Loop(x) :- Edge(x, x).")
>>> with db.transaction() as tx:
...     tx.insert("Edge", [(1, 1), (1, 2)])
>>> db.relation("Loop").rows()
[(1,)]

The folders are the pipeline, and alphabetical order is the order of data flow and of imports:

``base``     words every layer shares: spans, diagnostics, errors, types, values, graphs
``lang``     what the user wrote: grammar, syntax tree, parser, builder, formatter
``logic``    what it means: names resolved, types checked, sugar removed, origin kept
``plan``     how to compute it: strata, join plans, delta variants, index choice
``run``      computing it: maintenance algorithms and the engines they run on
``dbsp``     the face of ``run/dbsp``, for those who build circuits
``session``  a living database: transactions, changes, sources and sinks
``shell``    faces: the command line and the shell; ``__main__`` makes ``python -m tidelog`` the same command

The names of this module are loaded when they are first used, so that importing it costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidelog.base.errors import (
        CacheWarning,
        DataError,
        EvaluationError,
        LimitError,
        MissingExtraError,
        ProgramError,
        TidelogError,
        UserError,
    )
    from tidelog.base.extern import Externs
    from tidelog.base.values import FrozenMap, Variant
    from tidelog.run.contract.engine import Fallback, Limits
    from tidelog.session.changes import Change, Changes, Commit
    from tidelog.session.database import Database
    from tidelog.session.engines import available as engines
    from tidelog.session.exchange import load_facts, save_outputs
    from tidelog.session.relation import RelationView
    from tidelog.session.rules import Rule
    from tidelog.session.store import VerificationError
    from tidelog.session.subscriptions import Subscription, SubscriptionWarning
    from tidelog.session.transaction import Transaction

__all__ = [
    "CacheWarning",
    "Change",
    "Changes",
    "Commit",
    "DataError",
    "Database",
    "EvaluationError",
    "Externs",
    "Fallback",
    "FrozenMap",
    "LimitError",
    "Limits",
    "MissingExtraError",
    "ProgramError",
    "RelationView",
    "Rule",
    "Subscription",
    "SubscriptionWarning",
    "TidelogError",
    "Transaction",
    "UserError",
    "Variant",
    "VerificationError",
    "__version__",
    "engines",
    "load_facts",
    "save_outputs",
]

_HOMES = {
    "CacheWarning": "base.errors",
    "Change": "session.changes",
    "Changes": "session.changes",
    "Commit": "session.changes",
    "DataError": "base.errors",
    "Database": "session.database",
    "EvaluationError": "base.errors",
    "Externs": "base.extern",
    "FrozenMap": "base.values",
    "LimitError": "base.errors",
    "Limits": "run.contract.engine",
    "MissingExtraError": "base.errors",
    "ProgramError": "base.errors",
    "RelationView": "session.relation",
    "Rule": "session.rules",
    "Subscription": "session.subscriptions",
    "SubscriptionWarning": "session.subscriptions",
    "Fallback": "run.contract.engine",
    "TidelogError": "base.errors",
    "Transaction": "session.transaction",
    "UserError": "base.errors",
    "Variant": "base.values",
    "VerificationError": "session.store",
    "load_facts": "session.exchange",
    "save_outputs": "session.exchange",
}

__version__: str


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415  (slow to load)

        value: Any = version("tidelog")
    elif name == "engines":
        value = import_module("tidelog.session.engines").available
    elif name in _HOMES:
        value = getattr(import_module(f"tidelog.{_HOMES[name]}"), name)
    else:
        raise AttributeError(f"module 'tidelog' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
