"""The engines by name, each imported when it is first asked for.

`reference` defines the language and is slow; `columnar` runs in process; `spark` runs on a cluster and needs an extra.
An engine that this installation has not got is left out of `available`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import MissingExtraError, UserError
from tidelog.plan.nodes import Plan
from tidelog.run.contract import NO_LIMITS, Engine, Limits


@dataclass(frozen=True, slots=True)
class Entry:
    """Where an engine's class lives, how it can follow changes, its options, and the optional package it needs.

    `own` has the strategies that are engines of their own, each with where its class lives; they have no options.
    """

    module: str
    attribute: str
    strategies: tuple[str, ...] = ("auto", "recompute")
    options: tuple[str, ...] = ()
    own: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    package: str | None = None
    extra: str = ""

    def exists(self) -> bool:
        """Tell whether this version of Tidelog has the engine."""
        folder = self.module.rpartition(".")[0]
        return find_spec(folder) is not None and find_spec(self.module) is not None

    def installed(self) -> bool:
        """Tell whether what the engine needs is there."""
        return self.package is None or find_spec(self.package) is not None


DEFAULT = "columnar"
ENGINES = {
    "columnar": Entry(
        "tidelog.run.columnar.engine",
        "ColumnarEngine",
        ("auto", "ranked", "dred", "elastic", "dbsp", "recompute"),
        ("switch",),
        {"dbsp": ("tidelog.run.dbsp.engine", "DbspEngine")},
    ),
    "reference": Entry("tidelog.run.reference.engine", "ReferenceEngine"),
    "spark": Entry(
        "tidelog.run.spark.engine", "SparkEngine", ("auto", "ranked", "recompute"), package="pyspark", extra="spark"
    ),
}


def available() -> tuple[str, ...]:
    """Return the names of the engines that can be used here.

    >>> "reference" in available()
    True
    """
    return tuple(name for name, entry in ENGINES.items() if entry.exists() and entry.installed())


def make_engine(
    name: str | None,
    plan: Plan,
    strategy: str = "auto",
    spark: Any = None,
    limits: Limits = NO_LIMITS,
    **options: Any,
) -> Engine:
    """Return a new engine for a plan; without a name, the default one.

    `strategy` says how derived relations follow a change; `auto` leaves that to the engine. With `recompute` nothing is
    kept for later changes, which suits a single evaluation. `spark` is the session that the engine `spark` runs on.
    `limits` bound the first evaluation. `options` are those of the engine; one that is None is left to it.
    """
    chosen = DEFAULT if name is None else name
    entry = ENGINES.get(chosen)
    if entry is None or not entry.exists():
        raise UserError(_unknown("engine", chosen, [n for n, e in ENGINES.items() if e.exists()]))
    if strategy not in entry.strategies:
        raise UserError(_unknown("strategy", strategy, entry.strategies))
    given = {option: value for option, value in options.items() if value is not None}
    own = entry.own.get(strategy)
    for option in given:
        if option not in entry.options or own is not None:
            what = f"engine `{chosen}`" if own is None else f"strategy `{strategy}`"
            raise UserError(f"the {what} has no option `{option}`; leave it out, or choose another")
    if entry.package is not None and not entry.installed():
        raise MissingExtraError(entry.package, entry.extra)
    module, attribute = own or (entry.module, entry.attribute)
    engine: Callable[..., Engine] = getattr(import_module(module), attribute)
    if own is None and chosen == "columnar":
        return engine(plan, strategy=strategy, limits=limits, **given)
    if chosen == "spark":
        return engine(plan, strategy=strategy, spark=spark, limits=limits)
    return engine(plan, limits=limits)


def _unknown(kind: str, name: str, known: Sequence[str]) -> str:
    hint = did_you_mean(name, known)
    return f"there is no {kind} `{name}`; there are {', '.join(known)}" + (f"; {hint}" if hint else "")
