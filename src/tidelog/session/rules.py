"""The rules of a living database: the program's text, rules added to it, and rules taken away.

A `RuleBase` is immutable, so a transaction changes rules by making another one and a rollback forgets it. A rule is
known by where it stands, which all rules made from it by rewriting share (`Origin`); to the user, by its name or its
canonical text. Adding analyses the program again with every added text; removing only filters what was analysed.
Planning waits until somebody asks for the plan, so that rules which are stratified only together may be changed one by
one in a transaction.

Like facts, rules form a set: adding one that is in force, or back one that was removed, leaves it in force once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path

from tidelog.base.diagnostic import Diagnostic, Report, did_you_mean
from tidelog.base.errors import ProgramError, UserError
from tidelog.base.extern import Externs
from tidelog.base.span import Source
from tidelog.lang.format import format_rule
from tidelog.lang.parse import parse_rules
from tidelog.lang.syntax import ImperativeRule, RuleDef, StringLiteral
from tidelog.logic.passes import analyse
from tidelog.logic.program import Origin, Program
from tidelog.plan.nodes import Plan
from tidelog.plan.passes import replan

Place = tuple[str, int]
"""Where a rule stands: the name of its source, and the offset in it."""
Identity = tuple[str, str | None]
"""A rule's canonical text and its name."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a database: its canonical text, its name if any, where it was written, whether it is in force."""

    text: str
    name: str | None
    origin: str
    active: bool


@dataclass(frozen=True)
class RuleBase:
    """A program with its changes; `program` has the rules in force.

    `removed` are rules of the program that were taken away and may come back; `dropped` are rules of added texts that
    are not in force, and forgotten.
    """

    source: Source
    library: tuple[Path, ...]
    externs: Externs | None
    program: Program
    warnings: tuple[Diagnostic, ...] = ()
    additions: tuple[Source, ...] = ()
    removed: Mapping[Place, Origin] = field(default_factory=dict)
    dropped: frozenset[Place] = frozenset()
    texts: int = 0
    """How many texts were added in the database's life, so that each has its own name."""
    earlier: Plan | None = None
    """The plan of the rules before, of which planning keeps what still holds."""

    @classmethod
    def load(cls, source: Source, library: tuple[Path, ...] = (), externs: Externs | None = None) -> RuleBase:
        """Return the rules of a program text; raise `ProgramError` with all its mistakes."""
        empty = Program({}, {}, {}, (), {})
        return cls(source, library, externs, empty).analysed()

    def analysed(self) -> RuleBase:
        """Return the base with the rules that its texts now have; raise `ProgramError` if they have mistakes."""
        report = Report()
        program = analyse(
            self.source,
            report,
            additions=self.additions,
            removed=self.dropped.union(self.removed),
            library=self.library,
            externs=self.externs,
        )
        if program is None:
            raise ProgramError(report.errors)
        return replace(self, program=program, warnings=tuple(report.warnings))

    @cached_property
    def plan(self) -> Plan:
        """How to compute the rules in force."""
        report = Report()
        plan = replan(self.earlier, self.program, report)
        if plan is None:
            raise ProgramError(report.errors)
        return plan

    @property
    def latest_plan(self) -> Plan | None:
        """The plan if it was made, else the one before."""
        return self.__dict__.get("plan", self.earlier)

    @cached_property
    def origins(self) -> dict[Place, Origin]:
        """Every rule of the text that is in force, once, in order."""
        return {_place(rule.origin): rule.origin for rule in self.program.rules}

    def rules(self) -> list[Rule]:
        """Return the rules in force, and after them those removed from the program."""
        return [_rule(origin, active=True) for origin in self.origins.values()] + [
            _rule(origin, active=False) for origin in self.removed.values()
        ]

    def add(self, text: str) -> RuleBase:
        """Return the base with more rules."""
        source = Source(f"<rules {self.texts + 1}>", text)
        given = {(source.name, rule.span.start): (_canonical(rule), _name(rule)) for rule in _parse(source)}
        in_force = set(map(_identity, self.origins.values()))
        taken_away = {_identity(origin): place for place, origin in self.removed.items()}
        back = {taken_away[identity] for identity in given.values() if identity in taken_away}
        removed = {place: origin for place, origin in self.removed.items() if place not in back}
        known = frozenset(p for p, identity in given.items() if identity in in_force or identity in taken_away)
        if len(known) < len(given):
            texts = self.texts + 1
            more = replace(self, additions=(*self.additions, source), dropped=self.dropped | known, texts=texts)
            return replace(more, removed=removed, earlier=self.latest_plan).analysed()
        return replace(self, removed=removed, earlier=self.latest_plan).analysed() if back else self

    def remove(self, rule: str) -> RuleBase:
        """Return the base without the rules of a name, or without those of a text."""
        named = {place for place, origin in self.origins.items() if origin.name == rule.strip()}
        if named:
            return self._without(named)
        places: dict[str, set[Place]] = {}
        for place, origin in self.origins.items():
            places.setdefault(canonical(origin.text), set()).add(place)
        texts = list(map(_canonical, _parse(Source("<rule>", rule), quiet=True))) or [rule.strip()]
        for text in texts:
            if text not in places:
                names = [origin.name for origin in self.origins.values() if origin.name]
                hint = did_you_mean(text, [*names, *places])
                raise UserError(f"no rule in force has the name or text `{text}`" + (f"; {hint}" if hint else ""))
        return self._without({place for text in texts for place in places[text]})

    def _without(self, gone: set[Place]) -> RuleBase:
        added = {source.name for source in self.additions}
        removed = dict(self.removed) | {
            p: origin for p, origin in self.origins.items() if p in gone and p[0] not in added
        }
        left = {place[0] for place in self.origins if place not in gone}
        additions = tuple(source for source in self.additions if source.name in left)
        dropped = frozenset(p for p in self.dropped | {p for p in gone if p[0] in added} if p[0] in left)
        rules = tuple(rule for rule in self.program.rules if _place(rule.origin) not in gone)
        program = replace(self.program, rules=rules)
        changed = replace(self, program=program, additions=additions, removed=removed, dropped=dropped)
        return replace(changed, earlier=self.latest_plan)


def _place(origin: Origin) -> Place:
    return origin.span.source.name, origin.span.start


def _rule(origin: Origin, *, active: bool) -> Rule:
    return Rule(canonical(origin.text), origin.name, str(origin.span), active)


def _parse(source: Source, *, quiet: bool = False) -> tuple[RuleDef | ImperativeRule, ...]:
    report = Report()
    rules = parse_rules(source, report)
    if report.errors and not quiet:
        raise ProgramError(report.errors)
    return () if report.errors else tuple(rules)


@lru_cache(maxsize=1 << 14)
def canonical(text: str) -> str:
    """Return a rule's text in the canonical layout; texts of equal rules become equal."""
    rules = _parse(Source("<rule>", text), quiet=True)
    return "\n".join(map(_canonical, rules)) or text


def _canonical(rule: RuleDef | ImperativeRule) -> str:
    return format_rule(replace(rule, attributes=())).strip()


def _identity(origin: Origin) -> Identity:
    return canonical(origin.text), origin.name


def _name(rule: RuleDef | ImperativeRule) -> str | None:
    value = next((attribute.value for attribute in rule.attributes if attribute.name == "name"), None)
    return "".join(map(str, value.parts)) if isinstance(value, StringLiteral) else None
