"""The engines by name, each imported when it is first asked for.

`reference` defines the language and is slow; `columnar` runs in process; `tuples` does so one tuple at a time, to
compare ways to evaluate; `spark` runs on a cluster and needs an extra. An engine that this installation has not got is
left out of `available`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from importlib import import_module
from importlib.util import find_spec
from types import NoneType
from typing import Any, Literal, TypedDict, get_args

from tidelog.base.arguments import expect
from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import MissingExtraError, UserError
from tidelog.base.record import record
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.plan.nodes import Plan
from tidelog.run.contract.engine import NO_LIMITS, Engine, Fallback, Limits

Dialect = Literal["tidelog", "ddlog"]
EngineName = Literal["columnar", "tuples", "reference", "spark"]
StrategyName = Literal["auto", "ranked", "dred", "dred-c", "elastic", "modular", "dbsp", "recompute"]


@record
class Entry:
    """Where an engine's class lives, how it can follow changes, its options, and the optional package it needs.

    `own` has the strategies that are engines of their own, each with where its class lives; their options are those
    that no other strategy has.
    """

    module: str
    attribute: str
    strategies: tuple[StrategyName, ...] = ("auto", "recompute")
    options: tuple[str, ...] = ()
    own: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    package: str | None = None
    extra: str = ""

    def installed(self) -> bool:
        """Tell whether what the engine needs is there."""
        return self.package is None or find_spec(self.package) is not None


class Options(TypedDict, total=False):
    """What some engines let one choose; None leaves it to the engine. All take `tuning`, which is meant for tests."""

    evaluator: Literal["algebra", "substitution"] | None
    index: Literal["hash", "sorted", "spine"] | None
    indexed: bool | None
    parallel: int | None
    rediscovery: Literal["whole", "divided"] | None
    tuning: Tuning


DEFAULT_ENGINE: EngineName = "columnar"
ENGINES: dict[str, Entry] = {
    "columnar": Entry(
        "tidelog.run.columnar.engine",
        "ColumnarEngine",
        ("auto", "ranked", "dred", "dred-c", "elastic", "modular", "dbsp", "recompute"),
        ("fallback", "indexed", "rediscovery"),
        {"dbsp": ("tidelog.run.dbsp.engine", "DbspEngine")},
    ),
    "tuples": Entry(
        "tidelog.run.tuples.engine",
        "TuplesEngine",
        ("auto", "ranked", "dred", "dred-c", "elastic", "modular", "recompute"),
        ("fallback", "evaluator", "index", "parallel", "rediscovery"),
    ),
    "reference": Entry("tidelog.run.reference.engine", "ReferenceEngine"),
    "spark": Entry(
        "tidelog.run.spark.engine", "SparkEngine", ("auto", "ranked", "recompute"), package="pyspark", extra="spark"
    ),
}

CHOICES = {
    "evaluator": ("algebra", "substitution"),
    "index": ("hash", "sorted", "spine"),
    "rediscovery": ("whole", "divided"),
}
"""What an option can be, if it is one of several names. To give one of these is to ask for the engine that has it."""
STRATEGY: dict[str, StrategyName] = {"rediscovery": "elastic", "indexed": "dbsp"}
"""The only strategy that has an option."""


def available() -> tuple[EngineName, ...]:
    """Return the names of the engines that can be used here.

    >>> "reference" in available()
    True
    """
    return tuple(name for name in get_args(EngineName) if ENGINES[name].installed())


def make_engine(
    name: EngineName | None,
    plan: Plan,
    strategy: StrategyName = "auto",
    spark: Any = None,
    limits: Limits = NO_LIMITS,
    tuning: Tuning = DEFAULT,
    **options: Any,
) -> Engine:
    """Return a new engine for a plan; without a name the default one, or the one that has the options given.

    `strategy` says how derived relations follow a change; `auto` leaves that to the engine. With `recompute` nothing is
    kept for later changes, which suits a single evaluation. `spark` is the session that the engine `spark` runs on.
    `limits` bound the first evaluation. `tuning` has the thresholds by which the engine chooses ways to compute the
    same; it is meant for tests. `options` are those of the engine; one that is None is left to it. An engine for
    `EMPTY_PLAN` evaluates nothing: its first update brings the program and the facts together.
    """
    expect(name, (str, NoneType), "engine", "the name of an engine")
    expect(strategy, str, "strategy", "the name of a strategy")
    expect(options.get("fallback"), (Fallback, NoneType), "fallback", "tidelog.Fallback")
    given = {option: value for option, value in options.items() if value is not None}
    chosen = _default(given) if name is None else name
    entry = ENGINES.get(chosen)
    if entry is None:
        raise UserError(_unknown("engine", chosen, [*ENGINES]))
    if strategy not in entry.strategies:
        raise UserError(_unknown("strategy", strategy, entry.strategies))
    own = entry.own.get(strategy)
    what = f"engine `{chosen}`" if own is None else f"strategy `{strategy}`"
    options_there = entry.options if own is None else [o for o in entry.options if STRATEGY.get(o) == strategy]
    _check_options(what, options_there, given, strategy)
    if entry.package is not None and not entry.installed():
        raise MissingExtraError(entry.package, entry.extra)
    module, attribute = own or (entry.module, entry.attribute)
    engine: Callable[..., Engine] = getattr(import_module(module), attribute)
    if chosen == "spark":
        return engine(plan, strategy=strategy, spark=spark, limits=limits, tuning=tuning)
    if own is not None:
        return engine(plan, limits=limits, tuning=tuning, **given)
    return engine(plan, strategy=strategy, limits=limits, tuning=tuning, **given)


def _default(given: Collection[str]) -> str:
    asked = CHOICES.keys() & given
    return next(name for name, entry in ENGINES.items() if asked.issubset(entry.options)) if asked else DEFAULT_ENGINE


def _check_options(what: str, options: Collection[str], given: Mapping[str, Any], strategy: str) -> None:
    for option, value in given.items():
        if option not in options:
            others = " or ".join(f"`{name}`" for name, entry in ENGINES.items() if option in entry.options)
            raise UserError(f"the {what} has no option `{option}`; leave it out, or choose another (engine {others})")
        if STRATEGY.get(option, strategy) != strategy:
            raise UserError(
                f"the strategy `{strategy}` has no option `{option}`; leave it out, or choose `{STRATEGY[option]}`"
            )
        if option in CHOICES:
            expect(value, str, option, f"one of {', '.join(CHOICES[option])}")
        if option in CHOICES and value not in CHOICES[option]:
            raise UserError(_unknown(option, value, CHOICES[option]))
        if option == "indexed":
            expect(value, bool, option, "True or False")
        if option == "parallel" and (type(value) is not int or value < 1):
            raise UserError(f"parallel is a number of threads, at least 1, not {value!r}")


def _unknown(kind: str, name: str, known: Sequence[str]) -> str:
    hint = did_you_mean(name, known)
    return f"there is no {kind} `{name}`; there are {', '.join(known)}" + (f"; {hint}" if hint else "")
