"""Tidelog: typed Datalog that stays true while facts and rules change.

What users need is here:

* `Database`: a program, its facts, and every consequence; `Limits` bound what it may take, and a
  `Fallback` what an update may before it gives way to an evaluation from scratch.
* `Transaction`: changes facts and rules together; its `Commit` has the exact `Changes`, a `Change` for each relation.
* `Answers`: what a goal gives (`Database.query`).
* `RelationView`, `Rule`, `IndexView`, `Plan`: looking at what a database has, and how it is computed; `Variant` and
  `FrozenMap` are values of structs and maps.
* `View`: a goal that is watched (`Database.watch`), with a `Feed` of its changes.
* `Subscription`: a callback for changes; an error that it raises becomes a `SubscriptionWarning`.
* `Externs`: Python functions for programs.
* `Pipeline`: a data pipeline, as a file describes it: sources in, versions, sinks out.
* `load_facts`, `save_facts`, `save_outputs`: folders of files, as `tidelog run` reads and writes
  them. `read_rdf`: triples; `show_term` and `parse_term`: terms as N-Triples write them; `ontology_program`: the rules
  of an ontology.
* `engines`: the engines that this installation has; `EngineName` and `StrategyName` are the types of their names.
* `tidelog.dbsp`: a library of its own, streams of Z-sets and circuits over them.
* `CacheWarning`: compiled kernels could not be kept, or read; they are compiled, and nothing else is wrong.
* `TidelogError`: what is raised. A `UserError` is a `ProgramError`, `DataError`, `EvaluationError`, `LimitError` or
  `MissingExtraError`, of pipelines also an `ExpectationError`, a `BusyError` or a `SinkError`; a `VerificationError` is
  a defect of Tidelog.

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

TYPE_CHECKING = False  # what `typing` would say, without importing it
if TYPE_CHECKING:
    from typing import Any

    from tidelog.base.errors import (
        BusyError,
        CacheWarning,
        DataError,
        EvaluationError,
        ExpectationError,
        LimitError,
        MissingExtraError,
        ProgramError,
        SinkError,
        TidelogError,
        UserError,
    )
    from tidelog.base.extern import Externs
    from tidelog.base.text.terms import parse_term, show_term
    from tidelog.base.values import FrozenMap, Variant
    from tidelog.run.contract.engine import Fallback, Limits
    from tidelog.session.changes import Change, Changes, Commit
    from tidelog.session.database import Database
    from tidelog.session.engines import EngineName, StrategyName
    from tidelog.session.engines import available as engines
    from tidelog.session.exchange import load_facts, ontology_program, read_rdf, save_facts, save_outputs
    from tidelog.session.live import Feed, View
    from tidelog.session.pipeline.run import Pipeline
    from tidelog.session.program.rules import Rule
    from tidelog.session.program.static import Plan
    from tidelog.session.queries.answers import Answers
    from tidelog.session.queries.index import IndexView
    from tidelog.session.relation import RelationView
    from tidelog.session.state import VerificationError
    from tidelog.session.subscriptions import Subscription, SubscriptionWarning
    from tidelog.session.transaction import Transaction

__all__ = [
    "Answers",
    "BusyError",
    "CacheWarning",
    "Change",
    "Changes",
    "Commit",
    "DataError",
    "Database",
    "EngineName",
    "EvaluationError",
    "ExpectationError",
    "Externs",
    "Fallback",
    "Feed",
    "FrozenMap",
    "IndexView",
    "LimitError",
    "Limits",
    "MissingExtraError",
    "Pipeline",
    "Plan",
    "ProgramError",
    "RelationView",
    "Rule",
    "SinkError",
    "StrategyName",
    "Subscription",
    "SubscriptionWarning",
    "TidelogError",
    "Transaction",
    "UserError",
    "Variant",
    "VerificationError",
    "View",
    "__version__",
    "engines",
    "load_facts",
    "ontology_program",
    "parse_term",
    "read_rdf",
    "save_facts",
    "save_outputs",
    "show_term",
]

_HOMES = {
    "base.errors": "BusyError CacheWarning DataError EvaluationError ExpectationError LimitError MissingExtraError"
    " ProgramError SinkError TidelogError UserError",
    "base.extern": "Externs",
    "base.text.terms": "parse_term show_term",
    "base.values": "FrozenMap Variant",
    "run.contract.engine": "Fallback Limits",
    "session.changes": "Change Changes Commit",
    "session.database": "Database",
    "session.engines": "EngineName StrategyName",
    "session.exchange": "load_facts ontology_program read_rdf save_facts save_outputs",
    "session.queries.answers": "Answers",
    "session.queries.index": "IndexView",
    "session.pipeline.run": "Pipeline",
    "session.program.static": "Plan",
    "session.relation": "RelationView",
    "session.program.rules": "Rule",
    "session.live": "Feed View",
    "session.state": "VerificationError",
    "session.subscriptions": "Subscription SubscriptionWarning",
    "session.transaction": "Transaction",
}
"""The module of each name."""

__version__: str


def __getattr__(name: str) -> Any:
    home = next((module for module, names in _HOMES.items() if name in names.split()), None)
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415  (slow to load)

        value: Any = version("tidelog")
    elif name == "engines":
        value = import_module("tidelog.session.engines").available
    elif home is not None:
        value = getattr(import_module(f"tidelog.{home}"), name)
    else:
        raise AttributeError(f"module 'tidelog' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
