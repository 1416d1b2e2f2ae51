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
from functools import cached_property
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
from tidelog.plan.passes import plan_program

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
        plan = plan_program(self.program, report)
        if plan is None:
            raise ProgramError(report.errors)
        return plan

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
        given = {(source.name, rule.span.start): _identity(rule) for rule in _parse(source)}
        in_force = {(origin.text, origin.name) for origin in self.origins.values()}
        taken_away = {(origin.text, origin.name): place for place, origin in self.removed.items()}
        back = {taken_away[identity] for identity in given.values() if identity in taken_away}
        removed = {place: origin for place, origin in self.removed.items() if place not in back}
        known = frozenset(p for p, identity in given.items() if identity in in_force or identity in taken_away)
        if len(known) < len(given):
            texts = self.texts + 1
            more = replace(self, additions=(*self.additions, source), dropped=self.dropped | known, texts=texts)
            return replace(more, removed=removed).analysed()
        return replace(self, removed=removed).analysed() if back else self

    def remove(self, rule: str) -> RuleBase:
        """Return the base without the rules of a name or of a text."""
        gone = {place for place, origin in self.origins.items() if origin.name == rule.strip()}
        if not gone:
            texts = {text for text, _ in map(_identity, _parse(Source("<rule>", rule), quiet=True))}
            gone = {place for place, origin in self.origins.items() if origin.text in texts}
        if not gone:
            known = [word for origin in self.origins.values() for word in (origin.name, origin.text) if word]
            hint = did_you_mean(rule.strip(), known)
            raise UserError(f"no rule in force has the name or text `{rule.strip()}`" + (f"; {hint}" if hint else ""))
        return self._without(gone)

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
        return replace(self, program=program, additions=additions, removed=removed, dropped=dropped)


def _place(origin: Origin) -> Place:
    return origin.span.source.name, origin.span.start


def _rule(origin: Origin, *, active: bool) -> Rule:
    return Rule(origin.text, origin.name, str(origin.span), active)


def _parse(source: Source, *, quiet: bool = False) -> tuple[RuleDef | ImperativeRule, ...]:
    report = Report()
    rules = parse_rules(source, report)
    if report.errors and not quiet:
        raise ProgramError(report.errors)
    return () if report.errors else tuple(rules)


def _identity(rule: RuleDef | ImperativeRule) -> Identity:
    """Return the canonical text and the name of a rule, as `logic` puts them in its origin."""
    named = (attribute.value for attribute in rule.attributes if attribute.name == "name")
    value = next(named, None)
    name = "".join(map(str, value.parts)) if isinstance(value, StringLiteral) else None
    return format_rule(replace(rule, attributes=())), name
