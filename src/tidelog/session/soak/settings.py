"""With what a history is followed: an engine, its strategy and options, a table of thresholds, keys and indexes.

What the user does not ask for is drawn at random, anew for every history, from all engines that run in this process.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from math import inf
from random import Random
from typing import Any

from tidelog.base.record import record
from tidelog.base.tuning.table import DEFAULT, Tuning, all_thresholds
from tidelog.base.tuning.thresholds import Paths
from tidelog.run.contract.engine import NO_LIMITS, Fallback, Limits
from tidelog.session.database import Database
from tidelog.session.engines import CHOICES, ENGINES, STRATEGY, EngineName, StrategyName
from tidelog.session.soak.spec import TYPE_TEXT, Program

DRAWN: tuple[EngineName, ...] = ("columnar", "columnar", "tuples")
"""The engines that are drawn, the default one twice as often."""
MOST = Limits(tuples=20_000)
"""A graph for which a commit makes more tuples is followed no further."""
INDEX = "by_first"


@record
class Asked:
    """What the user asks for; an engine or strategy that is None is drawn.

    `large`: well-known programs over larger graphs; `rows`: programs over that many rows, compared with DuckDB;
    `seconds` that a history may take before the process ends.
    """

    engine: EngineName | None = None
    strategy: StrategyName | None = None
    large: bool = False
    rows: int | None = None
    seconds: float | None = None


@record
class Setting:
    """With what one history is followed.

    `twin` is the engine and the strategy that it is compared with; `keyed` the input with a primary key, `indexed` the
    relation with an index, `subscribed` the one that is subscribed to; `demanded` are the derived ones computed by
    demand; `tuning` is the seed of the table of thresholds, without which it is the default one.
    """

    engine: EngineName
    strategy: StrategyName = "auto"
    options: Mapping[str, Any] = field(default_factory=dict)
    fallback: Fallback | None = None
    twin: tuple[EngineName, StrategyName] = ("reference", "auto")
    limits: Limits = NO_LIMITS
    keyed: str | None = None
    indexed: str | None = None
    subscribed: str | None = None
    demanded: frozenset[str] = frozenset()
    tuning: int | None = None

    @staticmethod
    def drawn(random: Random, program: Program, asked: Asked) -> Setting:
        """Return a setting for a program, as asked for and else at random."""
        engine, strategy = _engine(random, asked)
        own = strategy in ENGINES[engine].own
        options = {} if own else _options(random, engine, strategy)
        keyed = [relation.name for relation in program.inputs if len(relation.kinds) > 1 and not relation.given]
        indexed = [relation.name for relation in program.relations if relation.kinds]
        subscribed = random.choice(program.relations).name
        demanded = frozenset() if asked.large else _demanded(program)
        fallbacks = (
            (None, None, Fallback(0.01), Fallback(0.01, "time"), Fallback(1.0), Fallback(inf))
            if "fallback" in ENGINES[engine].options
            else ()
        )
        return Setting(
            engine,
            strategy,
            options,
            random.choice(fallbacks) if fallbacks and not own else None,
            ("tuples", "recompute") if asked.large else ("reference", "auto"),
            MOST if asked.large else NO_LIMITS,
            random.choice([None, *keyed]) if not asked.large else None,
            random.choice([None, *indexed]),
            subscribed if random.random() < 0.2 and subscribed not in demanded else None,
            demanded,
            random.randrange(1 << 30) if random.random() < 0.9 else None,
        )

    def databases(self, program: Program, paths: Paths) -> tuple[Database, Database]:
        """Return the database in question, whose comparisons with thresholds are noted, and its twin."""
        text = self.declare(program)
        database = Database(
            self.demand(text, program),
            engine=self.engine,
            strategy=self.strategy,
            limits=self.limits,
            fallback=self.fallback,
            tuning=self.table(paths),
            **self.options,
        )
        engine, strategy = self.twin
        return database, Database(text, engine=engine, strategy=strategy)

    def table(self, paths: Paths) -> Tuning:
        """Return the table of thresholds."""
        return DEFAULT if self.tuning is None else Tuning.drawn(Random(self.tuning), paths)  # noqa: S311  (no secrets)

    def strategies(self) -> list[StrategyName]:
        """Return the strategies that the database can go over to with its options."""
        entry = ENGINES[self.engine]
        only = {STRATEGY[option] for option in self.options if option in STRATEGY}
        plain = not self.options and self.fallback is None
        return [one for one in entry.strategies if (not only or one in only) and (plain or one not in entry.own)]

    def declare(self, program: Program) -> str:
        """Return the text of a program with its primary key and its index: of the first column.

        >>> from tidelog.session.soak.spec import Declared
        >>> program = Program((Declared("A", ("bool", "bool"), 0),), (), {})
        >>> print(Setting("reference", keyed="A").declare(program).strip())
        input relation A(c0: bool, c1: bool) primary key (x) x.c0
        """
        lines = str(program).split("\n")
        for relation in program.relations:
            if relation.name == self.keyed:
                lines = [f"{line} primary key (x) x.c0" if line == str(relation) else line for line in lines]
            if relation.name == self.indexed:
                rest = ", _" * (len(relation.kinds) - 1)
                lines.append(f"index {INDEX}(x: {TYPE_TEXT[relation.kinds[0]]}) on {relation.name}(x{rest})")
        return "\n".join(lines)

    def demand(self, text: str, program: Program) -> str:
        """Return the text of a program in which the relations demanded are declared so."""
        lines = {str(relation) for relation in program.relations if relation.name in self.demanded}
        return "\n".join(f"#[demand]\n{line}" if line in lines else line for line in text.split("\n"))

    def __str__(self) -> str:
        told = [f"engine {self.engine}", f"strategy {self.strategy}"]
        told += [f"{name} {value}" for name, value in self.options.items()]
        told += [str(self.fallback)] if self.fallback is not None else []
        told += [f"by demand {', '.join(sorted(self.demanded))}"] if self.demanded else []
        return ", ".join(told) + self._thresholds()

    def _thresholds(self) -> str:
        if self.tuning is None:
            return ""
        table = self.table(Paths())
        changed = []
        for name, one in all_thresholds():
            part, _, threshold = name.partition(".")
            value = getattr(getattr(table, part), threshold)
            if value != one.default:
                changed.append(f"{name} = {value!r}")
        return f"\nthresholds: {', '.join(changed)}"


def _demanded(program: Program) -> frozenset[str]:
    """Choose what is computed by demand: mostly nothing. Its source is its own, so that seeds keep their settings."""
    random = Random(f"demand {program}")  # noqa: S311  (a test needs no secrets)
    share = random.choice((0.0, 0.0, 0.0, 0.5, 1.0))
    return frozenset(relation.name for relation in program.relations if relation.stratum and random.random() < share)


def _engine(random: Random, asked: Asked) -> tuple[EngineName, StrategyName]:
    """Choose an engine and a strategy."""
    if asked.engine is not None:
        engine = asked.engine
    else:
        having = [name for name in DRAWN if asked.strategy is None or asked.strategy in ENGINES[name].strategies]
        engine = random.choice(having or DRAWN)
    if asked.strategy is not None or engine not in ENGINES:
        return engine, asked.strategy or "auto"
    return engine, random.choice(("auto", *ENGINES[engine].strategies))


def _options(random: Random, engine: EngineName, strategy: StrategyName) -> dict[str, Any]:
    """Choose options of an engine that a strategy has."""
    options: dict[str, Any] = {}
    for option in ENGINES[engine].options if engine in ENGINES else ():
        if option in CHOICES and STRATEGY.get(option, strategy) == strategy and random.random() < 0.5:
            options[option] = random.choice(CHOICES[option])
        elif option == "parallel" and random.random() < 0.1:
            options[option] = 2
    return options
